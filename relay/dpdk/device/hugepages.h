// The hugepages of the machine, which all of its programs share.
#pragma once

#include <cstddef>
#include <filesystem>

namespace satrelay::dpdk {

// What a program may still have. A page that another program has mapped and not yet touched is free
// for the kernel, but promised. `folder` is the kernel's, another one in tests.
std::size_t free_hugepage_bytes(const std::filesystem::path& folder = "/sys/kernel/mm/hugepages");

// Held while hugepages are counted and taken: of two programs that start together, the second one
// sees what the first has left. Without the file (no permission) they take their chance.
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
