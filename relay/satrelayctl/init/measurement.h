// Measures a path with satperf, and reads the rates that it has found.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <ostream>
#include <string>

#include "relay/satrelayctl/init/answers.h"

namespace satrelay::ctl::init {

// Returns the path of satperf: beside this program, or in the usual folders. Returns "" if it is
// not installed.
std::filesystem::path find_satperf();

// Runs `satperf client ADDRESS --find`, which needs a satperf server there. Writes to `out` the
// rates, or why there are none.
std::optional<MeasuredLink> measure_path(const std::string& address, std::uint32_t overhead,
                                         std::ostream& out);

// Reads the last line of `satperf client --find --json`. Returns nullopt if it has no rates.
std::optional<MeasuredLink> rates_in(const std::string& output);

}  // namespace satrelay::ctl::init
