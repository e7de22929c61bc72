// Derives the name of a metric from an entry of the counter lists (pep/base/counter_fields.h).
#pragma once

#include <string>
#include <string_view>

#include "pep/base/counter_fields.h"

namespace satrelay::metrics {

struct BaseUnit {
  std::string_view name;  // name of the base unit; "" for numbers without a unit
  // Divide a value in the counter's unit by this number to get the value in the base unit.
  double divisor;
};
BaseUnit base_unit(CounterUnit unit);

// The name of a family, without prefix and suffix: first `scope`, then the counted thing, then the
// unit. For example, "peer", "stream_bytes_in" and kBytes give "peer_stream_in_bytes". If the
// counter's name already begins with the scope, the scope is not repeated.
std::string family_name(std::string_view scope, std::string_view counter, CounterUnit unit);

// Counters that count the same thing for different reasons. They become one family with the label
// `reason`.
struct ReasonGroup {
  std::string_view prefix;  // common prefix of the counters' names, such as "bridged_"
  const char* family;       // name of the family, such as "bridged_frames"
  const char* help;
  std::string_view bare_reason = {};  // reason if the counter is named exactly `prefix`
  // Name of a counter that has the prefix, but counts something else.
  std::string_view exception = {};
};
// Returns the reason of `counter`, or "" if the counter is not in the group.
std::string_view reason_in(const ReasonGroup& group, std::string_view counter);

}  // namespace satrelay::metrics
