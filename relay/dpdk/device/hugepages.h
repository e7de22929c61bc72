// The hugepages of the machine, which all programs on it share.
#pragma once

#include <cstddef>
#include <filesystem>

namespace satrelay::dpdk {

// Returns the bytes of hugepages that a program can still allocate. The kernel counts a reserved
// page as free until a program touches it, so reserved pages are subtracted here. `folder` is the
// kernel's directory, except in tests.
std::size_t free_hugepage_bytes(const std::filesystem::path& folder = "/sys/kernel/mm/hugepages");

// Held while a program counts and allocates hugepages, so that two programs that start together do
// not count the same pages. A program that cannot open the lock file continues without the lock.
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
