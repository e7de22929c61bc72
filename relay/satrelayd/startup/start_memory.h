// What a gateway takes of memory when it starts, beside what the machine has.
#pragma once

#include <optional>
#include <string>

#include "config/checks/machine_memory.h"
#include "config/checks/validation.h"
#include "config/model/schema.h"

namespace satrelay::satrelayd {

struct StartMemory {
  ByteCount arena;   // for stored bytes
  ByteCount beside;  // packets, the journal, and what waits to be recorded
  ByteCount total() const { return arena + beside; }
};

// Of one worker, which are alike, and of all.
ByteCount arena_of_worker(const config::Gateway& config);
ByteCount arena_of(const config::Gateway& config);

// `packets`: what the pool of packets takes.
StartMemory start_memory(const config::Gateway& config, ByteCount packets);

// Refuses what this machine will never have.
std::optional<config::Contradiction> find_excess(const config::Gateway& config,
                                                 const StartMemory& needed,
                                                 const config::MachineMemory& machine);
// What the machine lacks at this moment, a sentence; "": nothing.
std::string lacking_now(const StartMemory& needed, const config::MachineMemory& machine);

}  // namespace satrelay::satrelayd
