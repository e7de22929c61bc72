// A record of a flow as one line of JSON.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <string>

#include "relay/gateway/flows/flow_record.h"

namespace satrelay::records {

// Data that the output needs, but that a record does not contain.
struct RecordContext {
  std::span<const std::string> peers;  // names of the peers, in the order of the configuration
  std::uint64_t epoch = 0;             // UTC time in nanoseconds at which the workers' clock was 0

  // Returns the UTC time of `when`, in microseconds.
  std::uint64_t utc_us(Instant when) const {
    return (epoch + static_cast<std::uint64_t>((when - Instant()).to_nanoseconds())) / 1000;
  }
};

// Returns the cause of a flow's end as a word: the counter's name without the prefix "flows_".
std::string_view end_of(const gateway::FlowRecord& record);

// Appends the line with its newline. The names in the line need no JSON escapes, since
// config::check_name() refuses names that would need them.
void append_line(fmt::memory_buffer& out, const gateway::FlowRecord& record,
                 const RecordContext& context);

}  // namespace satrelay::records
