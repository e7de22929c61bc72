// All that satlink counts, as one line of JSON.
#pragma once

#include <string>

#include "pep/base/time.h"
#include "relay/dpdk/port.h"
#include "relay/satlink/emulator.h"

namespace satrelay::satlink {

std::string counters_json(const Emulator& emulator, const dpdk::Port& a, const dpdk::Port& b,
                          Instant now);

}  // namespace satrelay::satlink
