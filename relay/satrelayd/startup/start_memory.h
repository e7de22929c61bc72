// The memory that a gateway takes at its start, compared with the machine's.
#pragma once

#include <optional>
#include <string>

#include "config/checks/machine_memory.h"
#include "config/checks/validation.h"
#include "config/model/schema.h"

namespace satrelay::satrelayd {

struct StartMemory {
  ByteCount arena;   // for stored bytes
  ByteCount beside;  // packets, the journal, and waiting records
  ByteCount total() const { return arena + beside; }
};

// The arena of one worker, which all workers have in the same size, and of all workers.
ByteCount arena_of_worker(const config::Gateway& config);
ByteCount arena_of(const config::Gateway& config);

// `packets`: memory of the packet pool.
StartMemory start_memory(const config::Gateway& config, ByteCount packets);

// Refuses a configuration that needs more memory than this machine has.
std::optional<config::Contradiction> find_excess(const config::Gateway& config,
                                                 const StartMemory& needed,
                                                 const config::MachineMemory& machine);
// A sentence about memory that the machine lacks at this moment. "": it lacks none.
std::string lacking_now(const StartMemory& needed, const config::MachineMemory& machine);

}  // namespace satrelay::satrelayd
