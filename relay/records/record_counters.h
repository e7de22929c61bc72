// The counters of the record writer. If a worker loses a record because the writer does not keep
// up, the worker counts that record (relay/ops/stats/worker_counters.h).
#pragma once

#include <array>
#include <cstdint>

#include "pep/base/counter_fields.h"

namespace satrelay::records {

struct RecordCounters {
  std::uint64_t written = 0, written_bytes = 0, unwritten = 0, rotations = 0;
  std::uint64_t exported = 0, exported_messages = 0, exported_bytes = 0, unexported = 0;
  std::uint64_t connections = 0;

  static constexpr std::array<CounterField<RecordCounters>, 9> kFields{{
      {"written", &RecordCounters::written, "records written to the file, a line each"},
      {"written_bytes", &RecordCounters::written_bytes, "bytes of those lines",
       CounterUnit::kBytes},
      {"unwritten", &RecordCounters::unwritten, "records lost: the file could not be written"},
      {"rotations", &RecordCounters::rotations, "files that were full"},
      {"exported", &RecordCounters::exported,
       "records given to the kernel for the IPFIX collector"},
      {"exported_messages", &RecordCounters::exported_messages,
       "IPFIX messages with those records"},
      {"exported_bytes", &RecordCounters::exported_bytes, "bytes of those messages",
       CounterUnit::kBytes},
      {"unexported", &RecordCounters::unexported,
       "records lost: the IPFIX collector was away, or too slow"},
      {"connections", &RecordCounters::connections,
       "times that a connection to the collector was opened"},
  }};
};
static_assert(lists_every_counter<RecordCounters>());

}  // namespace satrelay::records
