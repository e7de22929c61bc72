// Reports our figures beside a paper's figures: as a table for people, and as JSON for programs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "relay/satlab/papers/paper_run.h"

namespace satrelay::satlab {

std::string paper_table(const Paper& paper, const PaperResult& result,
                        const std::string& controller = "");
// Returns {"paper": "...", "rows": [{"case", "unit", "published": {"SYSTEM": x}, "signs":
// {"SYSTEM": ">"}, "bound", "ours", "target", "met"}]}. A missing value is null. "signs" has the
// signs with which the paper qualifies its figures: ~ > < <=. If the paper contradicts itself,
// SYSTEM includes the place, as in "Reference, Table 3". If `controller` is not empty, it names the
// controller of RowResult::with_controller. The table then has a column for this controller, and
// each JSON row has a field "controllers": {"NAME": x}.
nlohmann::ordered_json paper_json(const Paper& paper, const PaperResult& result,
                                  const std::string& controller = "");
// Lists the cases with their targets, one line for each case.
std::string paper_list(const Paper& paper);

}  // namespace satrelay::satlab
