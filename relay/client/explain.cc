#include "relay/client/explain.h"

#include <optional>
#include <stdexcept>
#include <string_view>

#include "config/model/words.h"
#include "config/text/ip_words.h"
#include "pep/base/address.h"

namespace satrelay::ctl {
namespace {

[[noreturn]] void refuse(const char* what, const std::string& text, std::string_view hint) {
  std::string message = what;
  message += " \"" + text + "\": ";
  message += hint;
  throw std::invalid_argument(message);
}

IpAddress parse_address(const char* what, const std::string& whole, std::string_view text) {
  const auto address = IpAddress::parse(text);
  if (!address) refuse(what, whole, "write an address, like 198.51.100.7 or 2001:db8::7");
  return *address;
}

struct Target {
  IpAddress address;
  std::uint16_t port = 0;
};

Target parse_destination(const std::string& text) {
  constexpr const char* kWhat = "destination";
  std::string_view address = text;
  std::optional<std::string_view> port;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    const bool closed = end != std::string::npos;
    const std::string_view rest = closed ? std::string_view(text).substr(end + 1) : "?";
    if (!rest.empty() && (!rest.starts_with(':') || !closed)) {
      refuse(kWhat, text, "write [2001:db8::7]:443");
    }
    address = std::string_view(text).substr(1, end - 1);
    if (!rest.empty()) port = rest.substr(1);
  } else if (const std::size_t colon = text.find(':');
             colon != std::string::npos && text.find(':', colon + 1) == std::string::npos) {
    address = std::string_view(text).substr(0, colon);
    port = std::string_view(text).substr(colon + 1);
  }
  Target target{parse_address(kWhat, text, address)};
  if (port) {
    const auto number = config::parse_number(*port, 65'535);
    if (!number || *number == 0) refuse(kWhat, text, "write a port from 1 to 65535 behind it");
    target.port = *number;
  }
  return target;
}

}  // namespace

std::string explain_parameters(const PacketQuestion& question) {
  const IpAddress source = parse_address("source", question.source, question.source);
  const Target target = parse_destination(question.destination);
  if (source.version() != target.address.version()) {
    refuse("destination", question.destination, "write one of the family of the source");
  }
  const auto protocols = config::parse_protocol(question.protocol);
  if (protocols.empty()) refuse("protocol", question.protocol, config::kProtocolHint);
  const auto vlan = config::parse_vlan(question.vlan);
  if (!vlan) refuse("vlan", question.vlan, config::kVlanHint);
  const auto dscp = config::parse_dscp(question.dscp);
  if (!dscp) refuse("dscp", question.dscp, config::kDscpHint);
  if (!config::from_word<config::Direction>(question.direction)) {
    refuse("direction", question.direction,
           "write one of: " + config::known_words<config::Direction>());
  }
  // The word icmp stands for two protocols: the first number is ICMP for IPv4, and the last is
  // ICMPv6.
  const std::uint8_t protocol = source.is_v4() ? protocols.front() : protocols.back();
  std::string text = source.to_string();
  for (const std::string& word :
       {target.address.to_string(), std::to_string(target.port), std::to_string(protocol),
        std::to_string(*vlan), std::to_string(*dscp), question.direction}) {
    text += ',';
    text += word;
  }
  return text;
}

}  // namespace satrelay::ctl
