// A rule as text, for messages.
#pragma once

#include <string>
#include <string_view>

#include "config/model/schema.h"

namespace satrelay::config {

// The value of a criterion, "9003,9100-9200". "": the rule does not have it.
std::string criterion_of(const Match& match, std::string_view key);
// All criteria of a rule, "port=9003,9100-9200 peer=north". "": none.
std::string text_of(const Match& match);
// "bridge port=9003,9100-9200 peer=north"
std::string summary_of(const Rule& rule);

}  // namespace satrelay::config
