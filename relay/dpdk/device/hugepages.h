// The hugepages of the machine, which all programs on it share.
#pragma once

#include <cstddef>
#include <filesystem>

namespace satrelay::dpdk {

// Returns how many bytes of hugepages a program can allocate now. The kernel counts a reserved page
// as free until a program touches it, so reserved pages are subtracted. `folder` is the kernel's
// directory, except in tests.
std::size_t free_hugepage_bytes(const std::filesystem::path& folder = "/sys/kernel/mm/hugepages");

// A lock that a program holds while it counts and allocates hugepages. Otherwise two programs that
// start together could count the same pages. A program that cannot open the lock file continues
// without the lock.
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
