// Collects all counters of satlink by name, for the control socket and for the stats socket.
#pragma once

#include <string>

#include "pep/base/time.h"
#include "relay/dpdk/device/port.h"
#include "relay/dpdk/loop/telemetry_command.h"
#include "relay/satlink/emulator.h"

namespace satrelay::satlink {

// Returns the sections a_to_b, b_to_a, port_a and port_b. A state has the value 0 or 1.
dpdk::TelemetryReply collect_counters(const Emulator& emulator, const dpdk::Port& a,
                                      const dpdk::Port& b);

// Returns the counters as one line of JSON: {"uptime_ms": ..., "a_to_b": {...}, ...}
std::string counters_json(const dpdk::TelemetryReply& counters, Instant now);

}  // namespace satrelay::satlink
