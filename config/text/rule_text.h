// A rule as text for messages: what changes of it is told by these words.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/model/schema.h"

namespace satrelay::config {

// All keys of a rule with their values, always the same ones in the same order; "none" and "any" of
// what is left out.
std::vector<std::pair<std::string_view, std::string>> values_of(const Rule& rule);
// "bridge port=9003,9100-9200 peer=north"
std::string summary_of(const Rule& rule);

}  // namespace satrelay::config
