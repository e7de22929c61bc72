// Numbers as people read them: three significant digits and the unit that fits.
#pragma once

#include <cstdint>
#include <string>

namespace satrelay::ctl {

std::string human_bytes(std::uint64_t bytes);              // "1.50 MiB"
std::string human_rate(std::uint64_t bits_per_second);     // "50.0 Mbit/s"
std::string human_duration(std::uint64_t microseconds);    // "550 ms", "2 h 03 min"
std::string human_count(std::uint64_t count);              // "1 234 567"
std::string human_share(std::uint64_t parts_per_million);  // "1.00%"

}  // namespace satrelay::ctl
