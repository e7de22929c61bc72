#include "config/text/interface_address.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>

namespace satrelay::config {

std::optional<InterfaceAddress> parse_interface_address(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto own = IpAddress::parse(text.substr(0, slash));
  if (!own) return std::nullopt;
  const std::string_view digits = text.substr(slash + 1);
  unsigned length = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), length);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  if (length > own->size() * 8) return std::nullopt;

  std::array<std::uint8_t, 16> octets = own->octets();
  for (std::size_t bit = length; bit < own->size() * 8; ++bit) {
    octets[bit / 8] = static_cast<std::uint8_t>(octets[bit / 8] & ~(0x80U >> (bit % 8)));
  }
  const IpAddress network = own->is_v4()
                                ? IpAddress::v4({octets[0], octets[1], octets[2], octets[3]})
                                : IpAddress::v6(octets);
  return InterfaceAddress{*own, IpPrefix{network, static_cast<std::uint8_t>(length)}};
}

}  // namespace satrelay::config
