#include "relay/dpdk/socket/own_sockets.h"

#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string>

namespace satrelay::dpdk {

std::vector<int> own_sockets(int family) {
  std::error_code error;
  std::vector<int> sockets;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
    const std::string name = entry.path().filename();
    int descriptor = -1;
    std::from_chars(name.data(), name.data() + name.size(), descriptor);
    int domain = 0;
    socklen_t length = sizeof domain;
    if (::getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &length) == 0 &&
        domain == family) {
      sockets.push_back(descriptor);
    }
  }
  std::sort(sockets.begin(), sockets.end());
  return sockets;
}

}  // namespace satrelay::dpdk
