// A paper's figures beside ours: a table for people, JSON for programs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "relay/satlab/papers/paper_run.h"

namespace satrelay::satlab {

std::string paper_table(const Paper& paper, const PaperResult& result,
                        const std::string& controller = "");
// {"paper": "...", "rows": [{"case", "unit", "published": {"SYSTEM": x}, "signs": {"SYSTEM": ">"},
// "bound", "ours", "target", "met"}]}; null for what does not exist. "signs" has what the paper
// puts before a figure: ~ > < <=. SYSTEM has a place, as in "Reference, Table 3", where the paper
// contradicts itself.
// `controller`, if not empty, names that of RowResult::with_controller: a column of its own, and a
// field "controllers": {"NAME": x} in each row.
nlohmann::ordered_json paper_json(const Paper& paper, const PaperResult& result,
                                  const std::string& controller = "");
// The cases by name, a line each, with their targets.
std::string paper_list(const Paper& paper);

}  // namespace satrelay::satlab
