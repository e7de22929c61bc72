// How the records of flows fare, for who asks.
#pragma once

#include <cstdint>
#include <string>

#include "relay/records/record_counters.h"

namespace satrelay::records {

struct RecordsReport {
  std::string file_state = "off";   // off, ok, failing
  std::string ipfix_state = "off";  // off, connecting, ok, away
  // Why there was a failure, until it has been well for a while; "": nothing is wrong.
  std::string file_trouble = {};
  std::string collector_trouble = {};
  std::uint64_t waiting = 0;  // in the rings of the workers, and for a file that fails
  RecordCounters counters;
};

}  // namespace satrelay::records
