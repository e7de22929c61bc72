// A run as text: tables for people, JSON and CSV for programs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "relay/satlab/run.h"

namespace satrelay::satlab {

std::string report_table(const RunResult& result);
nlohmann::ordered_json report_json(const RunResult& result);

// Returns the time series as CSV: a line of column names, then a line for each sample. Rates are
// means over the time since the previous sample. Losses of the link are counted from the run's
// zero, but the gateways' counters from the start of the gateways.
std::string report_csv(const RunResult& result);

}  // namespace satrelay::satlab
