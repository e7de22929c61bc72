// Numbers with units, as people write them: 50Mbit, 550ms, 64MiB, 1%. Each unit has one spelling,
// so that a reader need not guess whether "50Mb" meant bits or bytes.
#pragma once

#include <optional>
#include <string_view>

#include "pep/base/time.h"
#include "pep/base/units.h"

namespace satrelay::config {

// The units are bit, kbit, Mbit and Gbit (powers of 1000, per second). Returns nullopt for any
// other text, for a fraction of a bit, and beyond 2^62 bit/s.
std::optional<BitRate> parse_rate(std::string_view text);
// The units are ns, us, ms, s, min and h. Returns nullopt for any other text, for a fraction of a
// nanosecond, and beyond 2^62 ns.
std::optional<Duration> parse_duration(std::string_view text);
// The units are B, kB, MB and GB (powers of 1000), and KiB, MiB and GiB (powers of 1024). Returns
// nullopt for any other text, for a fraction of a byte, and beyond 2^62 bytes.
std::optional<ByteCount> parse_size(std::string_view text);
// Parses a share of a whole: "0.01" or "1%". Accepts any non-negative number; the caller checks the
// range.
std::optional<double> parse_share(std::string_view text);

// Hints for messages: how a value must be written.
inline constexpr std::string_view kRateHint =
    "write a number with bit, kbit, Mbit or Gbit, like 50Mbit";
inline constexpr std::string_view kDurationHint =
    "write a number with ns, us, ms, s, min or h, like 550ms";
inline constexpr std::string_view kSizeHint =
    "write a number with B, kB, MB, GB, KiB, MiB or GiB, like 64MiB";
inline constexpr std::string_view kShareHint =
    "write a number from 0 to 1 or a percentage, like 1%";

}  // namespace satrelay::config
