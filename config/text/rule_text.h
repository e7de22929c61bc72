// A rule as text, for messages.
#pragma once

#include <string>
#include <string_view>

#include "config/model/schema.h"

namespace satrelay::config {

// The value of a criterion, such as "9003,9100-9200"; "" if the rule does not have the criterion.
std::string criterion_of(const Match& match, std::string_view key);
// All criteria of a rule, such as "port=9003,9100-9200 peer=north"; "" if there are none.
std::string text_of(const Match& match);
// The action and the criteria of a rule, such as "bridge port=9003,9100-9200 peer=north".
std::string summary_of(const Rule& rule);

}  // namespace satrelay::config
