#include "config/text/ip_words.h"

#include <charconv>

#include "config/model/schema.h"

namespace satrelay::config {

std::optional<std::uint16_t> parse_number(std::string_view digits, std::uint16_t most) {
  std::uint16_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool whole = error == std::errc() && end == digits.data() + digits.size();
  return whole && number <= most ? std::optional(number) : std::nullopt;
}

std::vector<std::uint8_t> parse_protocol(std::string_view text) {
  if (text == "tcp") return {kProtocolTcp};
  if (text == "udp") return {kProtocolUdp};
  if (text == "icmp") return {kProtocolIcmp, kProtocolIcmpV6};
  const auto number = parse_number(text, 255);
  if (!number) return {};
  return {static_cast<std::uint8_t>(*number)};
}

std::optional<std::uint8_t> parse_dscp(std::string_view text) {
  if (text == "EF") return 46;
  if (text == "VA") return 44;
  if (text == "LE") return 1;
  const auto digit = [&](std::size_t at, char least, char most) {
    return text[at] >= least && text[at] <= most;
  };
  if (text.size() == 3 && text.starts_with("CS") && digit(2, '0', '7')) {
    return static_cast<std::uint8_t>((text[2] - '0') * 8);
  }
  if (text.size() == 4 && text.starts_with("AF") && digit(2, '1', '4') && digit(3, '1', '3')) {
    return static_cast<std::uint8_t>((text[2] - '0') * 8 + (text[3] - '0') * 2);
  }
  const auto number = parse_number(text, kMostDscp);
  if (!number) return std::nullopt;
  return static_cast<std::uint8_t>(*number);
}

std::optional<std::uint16_t> parse_vlan(std::string_view text) {
  if (text == "untagged") return kUntagged;
  const auto id = parse_number(text, kMostVlanId);
  return id == kUntagged ? std::nullopt : id;
}

}  // namespace satrelay::config
