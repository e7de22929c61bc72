#include "config/text/format.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "config/model/names.h"

namespace satrelay::config {
namespace {

struct PrintedUnit {
  std::string_view name;
  std::uint64_t factor;
};

std::string with_unit(std::uint64_t value, std::span<const PrintedUnit> largest_first) {
  for (const PrintedUnit& unit : largest_first) {
    if (value % unit.factor == 0 && (value != 0 || unit.factor == 1)) {
      return std::to_string(value / unit.factor) + std::string(unit.name);
    }
  }
  return std::to_string(value);
}

}  // namespace

std::string to_text(BitRate rate) {
  static constexpr std::array<PrintedUnit, 4> kUnits{
      {{"Gbit", 1'000'000'000}, {"Mbit", 1'000'000}, {"kbit", 1'000}, {"bit", 1}}};
  return with_unit(rate.to_bits_per_second(), kUnits);
}

std::string to_text(Duration duration) {
  static constexpr std::array<PrintedUnit, 5> kUnits{{{"h", 3'600'000'000'000},
                                                      {"s", 1'000'000'000},
                                                      {"ms", 1'000'000},
                                                      {"us", 1'000},
                                                      {"ns", 1}}};
  if (duration == Duration::zero()) return "0s";
  return with_unit(static_cast<std::uint64_t>(duration.to_nanoseconds()), kUnits);
}

std::string to_text(ByteCount size) {
  static constexpr std::array<PrintedUnit, 7> kUnits{{{"GiB", 1ULL << 30},
                                                      {"GB", 1'000'000'000},
                                                      {"MiB", 1ULL << 20},
                                                      {"MB", 1'000'000},
                                                      {"KiB", 1ULL << 10},
                                                      {"kB", 1'000},
                                                      {"B", 1}}};
  return with_unit(size.value(), kUnits);
}

std::string printable(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  if (may_be_secret(text)) return "(hidden: it may be a secret)";
  std::string out;
  for (const char c : text.substr(0, kLongest)) {
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  }
  if (text.size() > kLongest) out += "...";
  return out;
}

std::string in_quotes(std::string_view text) {
  std::string out(1, '"');
  out += printable(text);
  out += '"';
  return out;
}

}  // namespace satrelay::config
