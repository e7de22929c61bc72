#include "relay/dpdk/device/hugepages.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace satrelay::dpdk {
namespace {

std::size_t number_in(const std::filesystem::path& path) {
  std::size_t number = 0;
  std::ifstream(path) >> number;
  return number;
}

}  // namespace

std::size_t free_hugepage_bytes(const std::filesystem::path& folder) {
  std::size_t total = 0;
  std::error_code error;
  const std::string prefix = "hugepages-";
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(prefix)) continue;
    const std::size_t free = number_in(entry.path() / "free_hugepages");
    const std::size_t promised = number_in(entry.path() / "resv_hugepages");
    if (free <= promised) continue;
    total += (free - promised) * 1024U * std::strtoull(name.c_str() + prefix.size(), nullptr, 10);
  }
  return total;
}

HugepageLock::HugepageLock()
    : file_(::open("/run/satrelay-start.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
  if (file_ >= 0) ::flock(file_, LOCK_EX);
}

HugepageLock::~HugepageLock() {
  if (file_ >= 0) ::close(file_);
}

}  // namespace satrelay::dpdk
