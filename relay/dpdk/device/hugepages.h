// The hugepages of the machine, which all programs on it share.
#pragma once

#include <cstddef>
#include <filesystem>

namespace satrelay::dpdk {

// Bytes of hugepages that a program can still take. The kernel counts a page as free if another
// program has reserved it and has not touched it yet; such pages are left out here. `folder` is the
// kernel's directory, except in tests.
std::size_t free_hugepage_bytes(const std::filesystem::path& folder = "/sys/kernel/mm/hugepages");

// Held while a program counts and takes hugepages. If two programs start together, the second one
// sees only the pages that the first one has left. A program that may not open the lock file goes
// on without the lock.
class HugepageLock {
 public:
  HugepageLock();
  HugepageLock(const HugepageLock&) = delete;
  HugepageLock& operator=(const HugepageLock&) = delete;
  ~HugepageLock();

 private:
  int file_;
};

}  // namespace satrelay::dpdk
