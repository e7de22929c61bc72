// Derives the name of a metric from a counter of the lists (pep/base/counter_fields.h).
#pragma once

#include <string>
#include <string_view>

#include "pep/base/counter_fields.h"

namespace satrelay::metrics {

struct BaseUnit {
  std::string_view name;  // "" for plain numbers
  double divisor;         // a value in the counter's unit, divided by this, is in the base unit
};
BaseUnit base_unit(CounterUnit unit);

// The name of a family, without prefix and suffix: `scope`, then what is counted, then the unit.
// For example, "peer", "stream_bytes_in" and kBytes give "peer_stream_in_bytes". If the counter's
// name already begins with the scope, the scope is not repeated.
std::string family_name(std::string_view scope, std::string_view counter, CounterUnit unit);

// Counters that count the same thing for different reasons become one family with the label
// `reason`.
struct ReasonGroup {
  std::string_view prefix;  // prefix of the counters' names: "bridged_"
  const char* family;       // "bridged_frames"
  const char* help;
  std::string_view bare_reason = {};  // reason of the counter with `prefix` as its whole name
  std::string_view exception = {};    // a counter with the prefix that counts something else
};
// Returns the reason of `counter`, or "" if the counter is not in the group.
std::string_view reason_in(const ReasonGroup& group, std::string_view counter);

}  // namespace satrelay::metrics
