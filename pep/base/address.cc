#include "pep/base/address.h"

#include <algorithm>
#include <charconv>
#include <span>

namespace satrelay {

namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

std::optional<unsigned> parse_number(std::string_view text, int base, std::size_t max_digits,
                                     unsigned max_value) {
  if (text.empty() || text.size() > max_digits) return std::nullopt;
  unsigned value = 0;
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value, base);
  if (result.ec != std::errc() || result.ptr != end || value > max_value) return std::nullopt;
  return value;
}

// Removes the text up to and including `separator` from the front of `text`. Returns the text
// before the separator.
std::string_view take_field(std::string_view& text, char separator) {
  const std::size_t at = std::min(text.find(separator), text.size());
  const std::string_view field = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return field;
}

std::optional<std::array<std::uint8_t, 4>> parse_v4(std::string_view text) {
  if (std::count(text.begin(), text.end(), '.') != 3) return std::nullopt;
  std::array<std::uint8_t, 4> octets{};
  for (auto& octet : octets) {
    const std::string_view field = take_field(text, '.');
    // Rejects a leading zero, because some programs would read the number as octal.
    if (field.size() > 1 && field.front() == '0') return std::nullopt;
    const auto value = parse_number(field, 10, 3, 255);
    if (!value) return std::nullopt;
    octet = static_cast<std::uint8_t>(*value);
  }
  return octets;
}

// Parses groups of up to four hex digits; the last two groups may be a dotted quad. Returns the
// number of octets written to `out`; nullopt if the text is malformed or has too many groups for
// `out`. Empty text has no groups.
std::optional<std::size_t> parse_groups(std::string_view text, std::span<std::uint8_t> out) {
  std::size_t size = 0;
  if (text.empty()) return size;
  if (text.back() == ':') return std::nullopt;
  while (!text.empty()) {
    const std::string_view field = take_field(text, ':');
    if (text.empty() && field.find('.') != std::string_view::npos) {
      const auto quad = parse_v4(field);
      if (!quad || size + 4 > out.size()) return std::nullopt;
      std::copy(quad->begin(), quad->end(), out.begin() + static_cast<std::ptrdiff_t>(size));
      return size + 4;
    }
    const auto group = parse_number(field, 16, 4, 0xffff);
    if (!group || size + 2 > out.size()) return std::nullopt;
    out[size++] = static_cast<std::uint8_t>(*group >> 8);
    out[size++] = static_cast<std::uint8_t>(*group & 0xffU);
  }
  return size;
}

std::optional<std::array<std::uint8_t, 16>> parse_v6(std::string_view text) {
  std::array<std::uint8_t, 16> octets{};
  const std::size_t gap = text.find("::");
  if (gap == std::string_view::npos) {
    const auto size = parse_groups(text, octets);
    if (size != octets.size()) return std::nullopt;
    return octets;
  }
  const std::string_view head = text.substr(0, gap);
  if (head.find('.') != std::string_view::npos) return std::nullopt;  // dotted quad must come last
  const auto head_size = parse_groups(head, octets);
  std::array<std::uint8_t, 16> tail{};
  const auto tail_size = parse_groups(text.substr(gap + 2), tail);
  if (!head_size || !tail_size) return std::nullopt;
  if (*head_size + *tail_size > octets.size() - 2)
    return std::nullopt;  // "::" stands for at least one group
  std::copy_n(tail.begin(), *tail_size, octets.end() - static_cast<std::ptrdiff_t>(*tail_size));
  return octets;
}

void append_hex_group(std::string& text, unsigned group) {
  bool started = false;
  for (int shift = 12; shift >= 0; shift -= 4) {
    const unsigned digit = (group >> shift) & 0xfU;
    started = started || digit != 0 || shift == 0;
    if (started) text += kHexDigits[digit];
  }
}

// RFC 5952: lower case, no leading zeros, the first longest run of two or more zero groups as "::".
std::string v6_to_string(const std::array<std::uint8_t, 16>& octets) {
  std::array<unsigned, 8> groups{};
  for (std::size_t i = 0; i < groups.size(); ++i) {
    groups[i] = (static_cast<unsigned>(octets[2 * i]) << 8) | octets[2 * i + 1];
  }
  std::size_t gap = groups.size();
  std::size_t gap_size = 1;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    std::size_t run = 0;
    while (i + run < groups.size() && groups[i + run] == 0) ++run;
    if (run > gap_size) {
      gap = i;
      gap_size = run;
    }
  }
  std::string text;
  for (std::size_t i = 0; i < groups.size();) {
    if (i == gap) {
      text += "::";
      i += gap_size;
      continue;
    }
    if (!text.empty() && text.back() != ':') text += ':';
    append_hex_group(text, groups[i]);
    ++i;
  }
  return text;
}

}  // namespace

std::optional<MacAddress> MacAddress::parse(std::string_view text) {
  constexpr std::size_t kTextSize = 17;
  if (text.size() != kTextSize) return std::nullopt;
  MacAddress mac;
  for (std::size_t i = 0; i < mac.octets.size(); ++i) {
    if (i > 0 && text[3 * i - 1] != ':') return std::nullopt;
    const auto value = parse_number(text.substr(3 * i, 2), 16, 2, 0xff);
    if (!value) return std::nullopt;
    mac.octets[i] = static_cast<std::uint8_t>(*value);
  }
  return mac;
}

std::string MacAddress::to_string() const {
  std::string text;
  for (const std::uint8_t octet : octets) {
    if (!text.empty()) text += ':';
    text += kHexDigits[octet >> 4];
    text += kHexDigits[octet & 0xfU];
  }
  return text;
}

std::optional<IpAddress> IpAddress::parse(std::string_view text) {
  if (text.find(':') == std::string_view::npos) {
    const auto octets = parse_v4(text);
    if (!octets) return std::nullopt;
    return v4(*octets);
  }
  const auto octets = parse_v6(text);
  if (!octets) return std::nullopt;
  return v6(*octets);
}

std::string IpAddress::to_string() const {
  if (!is_v4()) return v6_to_string(octets_);
  std::string text;
  for (std::size_t i = 0; i < 4; ++i) {
    if (i > 0) text += '.';
    text += std::to_string(octets_[i]);
  }
  return text;
}

bool IpPrefix::contains(const IpAddress& candidate) const {
  if (candidate.version() != address.version()) return false;
  const std::size_t whole = length / 8U;
  const auto& a = address.octets();
  const auto& b = candidate.octets();
  for (std::size_t i = 0; i < whole; ++i) {
    if (a[i] != b[i]) return false;
  }
  const unsigned rest = length % 8U;
  return rest == 0 || ((a[whole] ^ b[whole]) & (0xff00U >> rest) & 0xffU) == 0;
}

std::optional<IpPrefix> IpPrefix::parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto address = IpAddress::parse(text.substr(0, slash));
  if (!address) return std::nullopt;
  const auto max_length = static_cast<unsigned>(address->size() * 8);
  unsigned length = max_length;
  if (slash != std::string_view::npos) {
    const auto value = parse_number(text.substr(slash + 1), 10, 3, max_length);
    if (!value) return std::nullopt;
    length = *value;
  }
  const auto& octets = address->octets();
  for (std::size_t bit = length; bit < max_length; ++bit) {
    if ((octets[bit / 8] & (0x80U >> (bit % 8))) != 0) return std::nullopt;
  }
  return IpPrefix{*address, static_cast<std::uint8_t>(length)};
}

std::string IpPrefix::to_string() const {
  return address.to_string() + '/' + std::to_string(length);
}

}  // namespace satrelay
