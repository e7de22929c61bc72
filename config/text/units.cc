#include "config/text/units.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <span>

#include "pep/base/int128.h"

namespace satrelay::config {
namespace {

struct NamedUnit {
  std::string_view name;
  std::uint64_t factor;
};

constexpr std::uint64_t kLargest = std::uint64_t{1} << 62;

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Splits "1.5Gbit" into its number and its unit, and multiplies them as integers, because a binary
// fraction cannot hold 0.1 exactly.
std::optional<std::uint64_t> parse_with_unit(std::string_view text,
                                             std::span<const NamedUnit> units) {
  std::size_t at = 0;
  std::uint64_t digits = 0;       // all digits, the point left out
  std::uint64_t denominator = 1;  // 10 to the number of decimals
  bool seen_digit = false;
  bool seen_point = false;
  for (; at < text.size() && (is_digit(text[at]) || text[at] == '.'); ++at) {
    if (text[at] == '.') {
      if (seen_point || !seen_digit) return std::nullopt;
      seen_point = true;
      continue;
    }
    if (digits > kLargest / 10 - 1) return std::nullopt;
    seen_digit = true;
    digits = digits * 10 + static_cast<std::uint64_t>(text[at] - '0');
    if (seen_point) denominator *= 10;
  }
  if (!seen_digit || text[at - 1] == '.') return std::nullopt;
  while (at < text.size() && text[at] == ' ') ++at;
  const std::string_view name = text.substr(at);
  for (const NamedUnit& unit : units) {
    if (unit.name != name) continue;
    const auto product = static_cast<Uint128>(digits) * unit.factor;
    if (product % denominator != 0) return std::nullopt;
    const Uint128 value = product / denominator;
    if (value > kLargest) return std::nullopt;
    return static_cast<std::uint64_t>(value);
  }
  return std::nullopt;
}

constexpr std::array<NamedUnit, 4> kRateUnits{
    {{"bit", 1}, {"kbit", 1'000}, {"Mbit", 1'000'000}, {"Gbit", 1'000'000'000}}};
constexpr std::array<NamedUnit, 6> kTimeUnits{{{"ns", 1},
                                               {"us", 1'000},
                                               {"ms", 1'000'000},
                                               {"s", 1'000'000'000},
                                               {"min", 60'000'000'000},
                                               {"h", 3'600'000'000'000}}};
constexpr std::array<NamedUnit, 7> kSizeUnits{{{"B", 1},
                                               {"kB", 1'000},
                                               {"MB", 1'000'000},
                                               {"GB", 1'000'000'000},
                                               {"KiB", 1ULL << 10},
                                               {"MiB", 1ULL << 20},
                                               {"GiB", 1ULL << 30}}};

}  // namespace

std::optional<BitRate> parse_rate(std::string_view text) {
  const auto value = parse_with_unit(text, kRateUnits);
  if (!value) return std::nullopt;
  return BitRate::bits_per_second(*value);
}

std::optional<Duration> parse_duration(std::string_view text) {
  const auto value = parse_with_unit(text, kTimeUnits);
  if (!value) return std::nullopt;
  return Duration::nanoseconds(static_cast<std::int64_t>(*value));
}

std::optional<ByteCount> parse_size(std::string_view text) {
  const auto value = parse_with_unit(text, kSizeUnits);
  if (!value) return std::nullopt;
  return ByteCount(*value);
}

std::optional<double> parse_share(std::string_view text) {
  const bool percent = text.ends_with('%');
  if (percent) text.remove_suffix(1);
  // from_chars also reads "inf", "nan" and "-1"; a share begins with a digit.
  if (text.empty() || !is_digit(text.front())) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return percent ? value / 100 : value;
}

}  // namespace satrelay::config
