// Formats numbers for people, with three significant digits and a fitting unit.
#pragma once

#include <cstdint>
#include <string>

namespace satrelay::text {

std::string binary_bytes(std::uint64_t bytes);       // "1.50 MiB", for memory sizes
std::string decimal_bytes(std::uint64_t bytes);      // "1.50 MB", for transferred bytes
std::string bit_rate(double bits_per_second);        // "50.0 Mbit/s"
std::string duration(std::uint64_t microseconds);    // "550 ms", "2 h 03 min"
std::string count(std::uint64_t number);             // "1 234 567"
std::string plain(std::uint64_t number);             // "1234567"
std::string share(std::uint64_t parts_per_million);  // "1.00%"
std::string percent(double share, int decimals);     // 0.5 becomes "50.0%"
std::string fixed(double value, int decimals);       // "12.50"
std::string significant(double value);  // "0.0125": at most six digits, no trailing zeros

}  // namespace satrelay::text
