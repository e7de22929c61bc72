// A record of a flow as one line of JSON.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <string>

#include "relay/gateway/flows/flow_record.h"

namespace satrelay::records {

// Data about records that the records themselves lack.
struct RecordContext {
  std::span<const std::string> peers;  // names of the peers, in the order of the configuration
  std::uint64_t epoch = 0;             // UTC at instant 0, nanoseconds

  // UTC, microseconds.
  std::uint64_t utc_us(Instant when) const {
    return (epoch + static_cast<std::uint64_t>((when - Instant()).to_nanoseconds())) / 1000;
  }
};

// The cause of a flow's end, in a word: the counter's name without the prefix "flows_".
std::string_view end_of(const gateway::FlowRecord& record);

// Appends the line with its newline. No name needs escapes: config::check_name() refuses such
// names.
void append_line(fmt::memory_buffer& out, const gateway::FlowRecord& record,
                 const RecordContext& context);

}  // namespace satrelay::records
