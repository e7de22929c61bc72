// A record of a flow as one line of JSON.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <string>

#include "relay/gateway/flows/flow_record.h"

namespace satrelay::records {

// What a record leaves to who knows it.
struct RecordContext {
  std::span<const std::string> peers;  // their names, by their place in the configuration
  std::uint64_t epoch = 0;             // UTC at instant 0, nanoseconds

  // UTC, microseconds.
  std::uint64_t utc_us(Instant when) const {
    return (epoch + static_cast<std::uint64_t>((when - Instant()).to_nanoseconds())) / 1000;
  }
};

// Why a flow has ended, in a word: the counter's name without what all have in common.
std::string_view end_of(const gateway::FlowRecord& record);

// With its newline. No name in it needs escapes: config::check_name() has seen to that.
void append_line(fmt::memory_buffer& out, const gateway::FlowRecord& record,
                 const RecordContext& context);

}  // namespace satrelay::records
