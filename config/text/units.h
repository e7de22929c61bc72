// Numbers with units, as people write them: 50Mbit, 550ms, 64MiB, 1%. Each unit has one spelling,
// so that a reader need not guess whether "50Mb" meant bits or bytes.
#pragma once

#include <optional>
#include <string_view>

#include "pep/base/time.h"
#include "pep/base/units.h"

namespace satrelay::config {

// bit, kbit, Mbit, Gbit (powers of 1000, a second). nullopt for any other text, for a fraction of a
// bit, and beyond 2^62 bit/s.
std::optional<BitRate> parse_rate(std::string_view text);
// ns, us, ms, s, min, h. nullopt for any other text, a fraction of a nanosecond, and beyond 2^62
// ns.
std::optional<Duration> parse_duration(std::string_view text);
// B, kB, MB, GB (powers of 1000), KiB, MiB, GiB (powers of 1024). nullopt for any other text, a
// fraction of a byte, and beyond 2^62 bytes.
std::optional<ByteCount> parse_size(std::string_view text);
// A share of a whole: "0.01" or "1%". Any non-negative number; the caller checks the range.
std::optional<double> parse_share(std::string_view text);

// The right way to write a value, for messages.
inline constexpr std::string_view kRateHint =
    "write a number with bit, kbit, Mbit or Gbit, like 50Mbit";
inline constexpr std::string_view kDurationHint =
    "write a number with ns, us, ms, s, min or h, like 550ms";
inline constexpr std::string_view kSizeHint =
    "write a number with B, kB, MB, GB, KiB, MiB or GiB, like 64MiB";
inline constexpr std::string_view kShareHint =
    "write a number from 0 to 1 or a percentage, like 1%";

}  // namespace satrelay::config
