// Numbers for people: three significant digits and a unit that fits.
#pragma once

#include <cstdint>
#include <string>

namespace satrelay::text {

std::string binary_bytes(std::uint64_t bytes);       // "1.50 MiB": for memory and its content
std::string decimal_bytes(std::uint64_t bytes);      // "1.50 MB": for transfers
std::string bit_rate(double bits_per_second);        // "50.0 Mbit/s"
std::string duration(std::uint64_t microseconds);    // "550 ms", "2 h 03 min"
std::string count(std::uint64_t number);             // "1 234 567"
std::string plain(std::uint64_t number);             // "1234567"
std::string share(std::uint64_t parts_per_million);  // "1.00%"
std::string percent(double share, int decimals);     // 0.5 becomes "50.0%"
std::string fixed(double value, int decimals);       // "12.50"
std::string significant(double value);  // "0.0125": six digits at most, no trailing zeros

}  // namespace satrelay::text
