// A record of a flow as one line of JSON.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <string>

#include "relay/gateway/flows/flow_record.h"

namespace satrelay::records {

// Data that the output needs and the records do not have.
struct RecordContext {
  std::span<const std::string> peers;  // names of the peers, in the order of the configuration
  std::uint64_t epoch = 0;             // UTC time (ns) at which the workers' clock was 0

  // Returns the UTC time of `when`, in microseconds.
  std::uint64_t utc_us(Instant when) const {
    return (epoch + static_cast<std::uint64_t>((when - Instant()).to_nanoseconds())) / 1000;
  }
};

// The cause of a flow's end, in a word: the counter's name without the prefix "flows_".
std::string_view end_of(const gateway::FlowRecord& record);

// Appends the line with its newline. The names in it need no escapes, since config::check_name()
// refuses names that would.
void append_line(fmt::memory_buffer& out, const gateway::FlowRecord& record,
                 const RecordContext& context);

}  // namespace satrelay::records
