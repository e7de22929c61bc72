// MAC and IP addresses, prefixes and parsing of their usual text forms.
#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "pep/base/image/image.h"

namespace satrelay {

struct MacAddress {
  std::array<std::uint8_t, 6> octets{};

  constexpr bool is_multicast() const { return (octets[0] & 1U) != 0; }  // also true for broadcast
  static constexpr MacAddress broadcast() { return {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}}; }
  static std::optional<MacAddress> parse(std::string_view text);
  std::string to_string() const;
  void image(Image& image) { image(octets); }
  friend constexpr auto operator<=>(const MacAddress&, const MacAddress&) = default;
  friend constexpr bool operator==(const MacAddress& a, const MacAddress& b) {
    using Words = std::array<std::uint16_t, 3>;
    return std::bit_cast<Words>(a.octets) == std::bit_cast<Words>(b.octets);
  }
};

enum class IpVersion : std::uint8_t { kV4 = 4, kV6 = 6 };

// An IPv4 or IPv6 address in network order. An IPv4 address uses the first four octets.
class IpAddress {
 public:
  constexpr IpAddress() = default;
  static constexpr IpAddress v4(std::array<std::uint8_t, 4> octets) {
    IpAddress a;
    for (std::size_t i = 0; i < 4; ++i) a.octets_[i] = octets[i];
    a.version_ = IpVersion::kV4;
    return a;
  }
  static constexpr IpAddress v6(std::array<std::uint8_t, 16> octets) {
    IpAddress a;
    a.octets_ = octets;
    a.version_ = IpVersion::kV6;
    return a;
  }
  // Parses a dotted quad or RFC 4291 text. Returns nullopt if `text` is neither.
  static std::optional<IpAddress> parse(std::string_view text);
  std::string to_string() const;

  constexpr IpVersion version() const { return version_; }
  constexpr bool is_v4() const { return version_ == IpVersion::kV4; }
  constexpr std::size_t size() const { return is_v4() ? 4 : 16; }
  constexpr const std::array<std::uint8_t, 16>& octets() const { return octets_; }
  constexpr bool is_multicast() const {
    return is_v4() ? (octets_[0] & 0xf0U) == 0xe0U : octets_[0] == 0xffU;
  }
  friend constexpr auto operator<=>(const IpAddress&, const IpAddress&) = default;
  // This operator runs several times for each frame, so it compares two words without a function
  // call.
  friend constexpr bool operator==(const IpAddress& a, const IpAddress& b) {
    using Words = std::array<std::uint64_t, 2>;
    const auto of_a = std::bit_cast<Words>(a.octets_);
    const auto of_b = std::bit_cast<Words>(b.octets_);
    return ((of_a[0] ^ of_b[0]) | (of_a[1] ^ of_b[1])) == 0 && a.version_ == b.version_;
  }

  void image(Image& image) { image(octets_, version_); }

 private:
  std::array<std::uint8_t, 16> octets_{};
  IpVersion version_ = IpVersion::kV4;
};

struct IpPrefix {
  IpAddress address;        // all host bits are zero
  std::uint8_t length = 0;  // number of prefix bits

  bool contains(const IpAddress& candidate) const;
  // Parses "198.51.100.0/24" or "2001:db8::/32". A bare address is the prefix of one host. Returns
  // nullopt if the text is malformed or if host bits are set.
  static std::optional<IpPrefix> parse(std::string_view text);
  std::string to_string() const;
  friend constexpr auto operator<=>(const IpPrefix&, const IpPrefix&) = default;
};

}  // namespace satrelay
