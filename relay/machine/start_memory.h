// The memory that a gateway takes at its start, compared with the memory of the machine.
#pragma once

#include <optional>
#include <string>

#include "config/checks/machine_memory.h"
#include "config/checks/validation.h"
#include "config/model/schema.h"

namespace satrelay::machine {

struct StartMemory {
  ByteCount arena;   // memory for stored bytes
  ByteCount beside;  // memory for packets, the journal, and waiting records
  ByteCount total() const { return arena + beside; }
};

// Return the size of one worker's arena, which is the same for all workers, and the size of all
// arenas together.
ByteCount arena_of_worker(const config::Gateway& config);
ByteCount arena_of(const config::Gateway& config);

// The size of the journal of the flows, and of its copy on a disk.
ByteCount journal_size(const config::Gateway& config);

// `packets` is the memory of the packet pool.
StartMemory start_memory(const config::Gateway& config, ByteCount packets);

// Returns a contradiction if the configuration needs more memory than this machine has.
std::optional<config::Contradiction> find_excess(const config::Gateway& config,
                                                 const StartMemory& needed,
                                                 const config::MachineMemory& machine);
// Returns a message if this much memory is not available on the machine now, otherwise "".
std::string lacking_now(const StartMemory& needed, const config::MachineMemory& machine);

}  // namespace satrelay::machine
