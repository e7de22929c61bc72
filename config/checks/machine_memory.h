// The memory of this machine, and the limits of the control groups that the process is in.
#pragma once

#include <filesystem>
#include <string>

#include "pep/base/units.h"

namespace satrelay::config {

struct MachineMemory {
  // The memory without hugepages: what the kernel manages, or the lowest limit of the process's
  // control groups if that is less (versions 1 and 2, up to the root of the mount).
  ByteCount total = ByteCount(0);
  std::string total_of;  // origin of `total`: "this machine has", "control group /a/b allows"
  // The part of `total` that is unused now. Caches that the kernel can reclaim count as unused.
  ByteCount available = ByteCount(0);
  // Hugepages of the default size: all that the kernel has set aside, and the unused part of them.
  ByteCount huge_total = ByteCount(0);
  ByteCount huge_available = ByteCount(0);
};

// Reads the files below `root`, which tests set. If the kernel does not report how much memory
// there is, the memory is assumed to be enough.
MachineMemory machine_memory(const std::filesystem::path& root = "/");

// Returns why `needed` is too much: "more than this machine has (23593MiB)". "" if the memory or
// the hugepages suffice.
std::string exceeds_total(ByteCount needed, const MachineMemory& machine);
// Like exceeds_total(), for unused memory: "more than is unused of what this machine has (300MiB of
// ...)".
std::string exceeds_available(ByteCount needed, const MachineMemory& machine);

}  // namespace satrelay::config
