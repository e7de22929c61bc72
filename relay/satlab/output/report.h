// A run as text: tables for people, JSON and CSV for programs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "relay/satlab/run.h"

namespace satrelay::satlab {

std::string report_table(const RunResult& result);
nlohmann::ordered_json report_json(const RunResult& result);

// The time series, a line a sample behind a line of names. Rates are means since the sample before,
// counts are sums since the run's zero.
std::string report_csv(const RunResult& result);

}  // namespace satrelay::satlab
