// A TUN device: the IP packets of this process's network namespace, as the peer of its kernel.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pep/base/bytes.h"
#include "pep/base/time.h"

namespace satrelay::conformance {

// Leaves the network namespace of the machine for a new one that ends with this process. Throws
// std::system_error.
void enter_own_namespace();
// Sets for example "net.ipv4.tcp_sack" in this process's namespace. Throws std::runtime_error.
void set_sysctl(std::string name, const std::string& value);
Instant monotonic_now();

class Tun {
 public:
  // The device is up, with an address in a /24 and this MTU. Throws std::system_error.
  Tun(const std::string& address, int mtu);
  ~Tun();
  Tun(const Tun&) = delete;
  Tun& operator=(const Tun&) = delete;

  void send(ConstBytes packet);
  // The next packet of the kernel; nullopt if none came until `deadline`.
  std::optional<std::vector<std::byte>> receive(Instant deadline);

 private:
  int fd_;
};

}  // namespace satrelay::conformance
