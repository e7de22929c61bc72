// What this machine, and the control groups that the process is in, have of memory.
#pragma once

#include <filesystem>
#include <string>

#include "pep/base/units.h"

namespace satrelay::config {

struct MachineMemory {
  // Without hugepages: the least of what the kernel manages and of the limits of all control
  // groups of the process (versions 1 and 2, up to the root of what is mounted).
  ByteCount total = ByteCount(0);
  std::string total_of;  // whose that is: "this machine has", "control group /a/b allows"
  // Of that, what nobody uses now; caches that the kernel would give up count as unused.
  ByteCount available = ByteCount(0);
  // Set aside as hugepages of the usual size, and of these unused.
  ByteCount huge_total = ByteCount(0);
  ByteCount huge_available = ByteCount(0);
};

// Read below `root`, for tests. A machine that does not say what it has is taken to have enough.
MachineMemory machine_memory(const std::filesystem::path& root = "/");

// "more than this machine has (23593MiB)", of a program that needs so much; "": there is enough.
std::string exceeds_total(ByteCount needed, const MachineMemory& machine);
// The same of what is unused now: "more than is unused of what this machine has (300MiB of ...)".
std::string exceeds_available(ByteCount needed, const MachineMemory& machine);

}  // namespace satrelay::config
