// The state of the records of flows, for the stats socket and for events.
#pragma once

#include <cstdint>
#include <string>

#include "relay/records/record_counters.h"

namespace satrelay::records {

struct RecordsReport {
  std::string file_state = "off";   // off, ok, failing
  std::string ipfix_state = "off";  // off, connecting, ok, away
  // The reason of a failure, kept until the output has worked for a while. "": no failure.
  std::string file_trouble = {};
  std::string collector_trouble = {};
  // Records in the workers' rings, and records that wait for a file that fails.
  std::uint64_t waiting = 0;
  RecordCounters counters;
};

}  // namespace satrelay::records
