// Judges whether this machine suits a gateway that is to be started on it.
#pragma once

#include "config/model/schema.h"
#include "relay/machine/finding.h"
#include "relay/machine/machine_facts.h"
#include "relay/machine/start_memory.h"

namespace satrelay::machine {

// Interfaces, cores, hugepages and memory. `needed` is the memory that the gateway takes.
Findings judge_before_start(const config::Gateway& config, const StartMemory& needed,
                            const MachineFacts& facts);

// Cores and hugepages, which matter at any time.
Findings judge_hardware(const config::Gateway& config, const MachineFacts& facts);

// Whether the machine has, and can spare now, the memory that the gateway takes at its start.
Findings judge_memory(const config::Gateway& config, const StartMemory& needed,
                      const config::MachineMemory& memory);

}  // namespace satrelay::machine
