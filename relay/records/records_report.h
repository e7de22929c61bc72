// The state of the record writer, for the stats socket and for events.
#pragma once

#include <cstdint>
#include <string>

#include "relay/records/record_counters.h"

namespace satrelay::records {

struct RecordsReport {
  std::string file_state = "off";   // state of the file: off, ok, failing
  std::string ipfix_state = "off";  // state of the collector: off, connecting, ok, away
  // The reason for the last failure. "" if there was none, or if the output has worked for some
  // time since.
  std::string file_trouble = {};
  std::string collector_trouble = {};
  // Number of records in the workers' rings, and of records that wait for a file that fails.
  std::uint64_t waiting = 0;
  RecordCounters counters;
};

}  // namespace satrelay::records
