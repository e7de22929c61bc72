// Derives the name of a metric from a counter of the lists (pep/base/counter_fields.h).
#pragma once

#include <string>
#include <string_view>

#include "pep/base/counter_fields.h"

namespace satrelay::metrics {

struct BaseUnit {
  std::string_view name;  // "": the counter's name says what it counts
  double divisor;         // from the counter's unit to this one
};
BaseUnit base_unit(CounterUnit unit);

// The name of a family, without prefix and suffix: `scope`, then what is counted, then the unit.
// "peer", "stream_bytes_in", kBytes: "peer_stream_in_bytes". The name has the scope once, or not at
// all if the scope is "".
std::string family_name(std::string_view scope, std::string_view counter, CounterUnit unit);

// Counters that count the same thing for different reasons become one family with the label
// `reason`.
struct ReasonGroup {
  std::string_view prefix;  // of the counters' names: "bridged_"
  const char* family;       // "bridged_frames"
  const char* help;
  std::string_view bare_reason = {};  // of the counter named like the prefix alone
  std::string_view exception = {};    // a counter with the prefix that counts something else
};
// The reason of `counter` in the group. "": the counter is not in the group.
std::string_view reason_in(const ReasonGroup& group, std::string_view counter);

}  // namespace satrelay::metrics
