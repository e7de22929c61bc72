// How a counter of the lists (pep/base/counter_fields.h) is called as a metric.
#pragma once

#include <string>
#include <string_view>

#include "pep/base/counter_fields.h"

namespace satrelay::metrics {

struct BaseUnit {
  std::string_view name;  // "": of what the counter's name says
  double divisor;         // from the counter's unit to this one
};
BaseUnit base_unit(CounterUnit unit);

// The name of a family, without prefix and suffix: `scope`, then what is counted, then the unit.
// "peer", "stream_bytes_in", kBytes: "peer_stream_in_bytes". The scope stands there once, and one
// of
// "" not at all.
std::string family_name(std::string_view scope, std::string_view counter, CounterUnit unit);

// Counters that count the same for different reasons become one family with the label `reason`.
struct ReasonGroup {
  std::string_view prefix;  // of the counters: "bridged_"
  const char* family;       // "bridged_frames"
  const char* help;
  std::string_view bare_reason = {};  // of the counter that is no more than the prefix
  std::string_view exception = {};    // a counter with the prefix that counts something else
};
// The reason that `counter` tells in the group; "": it is not of the group.
std::string_view reason_in(const ReasonGroup& group, std::string_view counter);

}  // namespace satrelay::metrics
