// The memory of this machine, and the limits of the control groups that the process is in.
#pragma once

#include <filesystem>
#include <string>

#include "pep/base/units.h"

namespace satrelay::config {

struct MachineMemory {
  // The memory, without hugepages, that the process may use: the memory that the kernel manages, or
  // the lowest limit of the process's control groups if that is less (versions 1 and 2, up to the
  // root of the mount).
  ByteCount total = ByteCount(0);
  // Says where `total` comes from: "this machine has", "control group /a/b allows".
  std::string total_of;
  // The part of `total` that is unused now. Caches that the kernel can reclaim count as unused.
  ByteCount available = ByteCount(0);
  // Bytes in all hugepages of the default size (`huge_total`), and in the unused hugepages
  // (`huge_available`).
  ByteCount huge_total = ByteCount(0);
  ByteCount huge_available = ByteCount(0);
};

// Reads the files of the kernel below `root`. Only tests pass another folder than "/". If the
// kernel does not report how much memory there is, the memory is assumed to be enough.
MachineMemory machine_memory(const std::filesystem::path& root = "/");

// Returns why `needed` is too much, such as "more than this machine has (23593MiB)". Returns an
// empty text if the memory or the hugepages suffice.
std::string exceeds_total(ByteCount needed, const MachineMemory& machine);
// Like exceeds_total(), for unused memory: "more than is unused of what this machine has (300MiB of
// ...)".
std::string exceeds_available(ByteCount needed, const MachineMemory& machine);

}  // namespace satrelay::config
