#include "relay/text/numbers.h"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <span>
#include <string_view>

namespace satrelay::text {
namespace {

// Chooses the largest unit for which the rounded value is at least one: 999.7 becomes 1.00 of the
// next unit.
std::string scaled(double value, double base, std::span<const std::string_view> units) {
  std::size_t unit = 0;
  while (value >= base - 0.5 && unit + 1 < units.size()) {
    value /= base;
    ++unit;
  }
  const int decimals = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}", value, decimals, units[unit]);
}

}  // namespace

std::string binary_bytes(std::uint64_t bytes) {
  static constexpr std::string_view kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  return scaled(static_cast<double>(bytes), 1024, kUnits);
}

std::string decimal_bytes(std::uint64_t bytes) {
  static constexpr std::string_view kUnits[] = {"B", "kB", "MB", "GB"};
  return scaled(static_cast<double>(bytes), 1000, kUnits);
}

std::string bit_rate(double bits_per_second) {
  static constexpr std::string_view kUnits[] = {"bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"};
  return scaled(bits_per_second, 1000, kUnits);
}

std::string duration(std::uint64_t microseconds) {
  const std::uint64_t seconds = microseconds / 1'000'000;
  if (seconds >= 86'400)
    return fmt::format("{} d {:02} h", seconds / 86'400, seconds % 86'400 / 3'600);
  if (seconds >= 3'600) return fmt::format("{} h {:02} min", seconds / 3'600, seconds % 3'600 / 60);
  if (seconds >= 60) return fmt::format("{} min {:02} s", seconds / 60, seconds % 60);
  static constexpr std::string_view kUnits[] = {"us", "ms", "s"};
  return scaled(static_cast<double>(microseconds), 1000, kUnits);
}

std::string count(std::uint64_t number) {
  std::string text = plain(number);
  for (std::size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, 1, ' ');
  return text;
}

std::string plain(std::uint64_t number) { return fmt::format("{}", number); }

std::string share(std::uint64_t parts_per_million) {
  return percent(static_cast<double>(parts_per_million) / 1e6, 2);
}

std::string percent(double share, int decimals) {
  return fmt::format("{:.{}f}%", share * 100, decimals);
}

std::string fixed(double value, int decimals) { return fmt::format("{:.{}f}", value, decimals); }

std::string significant(double value) { return fmt::format("{:.6g}", value); }

}  // namespace satrelay::text
