#include "relay/satrelayctl/scale.h"

#include <array>
#include <cstddef>
#include <cstdio>
#include <span>

namespace satrelay::ctl {
namespace {

std::string three_digits(double value) {
  std::array<char, 32> text{};
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

std::string scaled(std::uint64_t value, double base, std::span<const char* const> units) {
  auto rest = static_cast<double>(value);
  std::size_t unit = 0;
  // 999.7 would be printed as 1000 of the smaller unit.
  while (rest >= base - 0.5 && unit + 1 < units.size()) {
    rest /= base;
    ++unit;
  }
  std::string text = unit == 0 ? std::to_string(value) : three_digits(rest);
  text += ' ';
  return text + units[unit];
}

// "2 h 03 min"
std::string pair(std::uint64_t large, const char* large_unit, std::uint64_t small,
                 const char* small_unit) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%llu %s %02llu %s",
                static_cast<unsigned long long>(large), large_unit,
                static_cast<unsigned long long>(small), small_unit);
  return text.data();
}

}  // namespace

std::string human_bytes(std::uint64_t bytes) {
  static constexpr std::array<const char*, 6> kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  return scaled(bytes, 1024, kUnits);
}

std::string human_rate(std::uint64_t bits_per_second) {
  static constexpr std::array<const char*, 5> kUnits{"bit/s", "kbit/s", "Mbit/s", "Gbit/s",
                                                     "Tbit/s"};
  return scaled(bits_per_second, 1000, kUnits);
}

std::string human_duration(std::uint64_t microseconds) {
  const std::uint64_t seconds = microseconds / 1'000'000;
  if (seconds >= 86'400) return pair(seconds / 86'400, "d", seconds % 86'400 / 3'600, "h");
  if (seconds >= 3'600) return pair(seconds / 3'600, "h", seconds % 3'600 / 60, "min");
  if (seconds >= 60) return pair(seconds / 60, "min", seconds % 60, "s");
  static constexpr std::array<const char*, 3> kUnits{"us", "ms", "s"};
  return scaled(microseconds, 1000, kUnits);
}

std::string human_count(std::uint64_t count) {
  const std::string digits = std::to_string(count);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i != 0 && (digits.size() - i) % 3 == 0) text += ' ';
    text += digits[i];
  }
  return text;
}

std::string human_share(std::uint64_t parts_per_million) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f%%",
                static_cast<double>(parts_per_million) / 10'000);
  return text.data();
}

}  // namespace satrelay::ctl
