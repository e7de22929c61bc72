// The kernel interface under a device: prepared as a port, and looked at while the gateway runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pep/base/address.h"
#include "relay/dpdk/socket/interface_watch.h"

namespace satrelay::dpdk {

class OpenedInterface {
 public:
  // Throws std::runtime_error if the interface cannot be a port.
  OpenedInterface(const std::string& name, std::uint16_t mtu);

  unsigned index() const { return index_; }
  MacAddress mac() const { return mac_; }  // when it was opened
  // The cures that an operator can try, a sentence each.
  const std::vector<std::string>& notices() const { return notices_; }
  // The state of the interface. `is_ours`: the device still has it. `objections`: why the device
  // cannot use another interface that has its name.
  InterfaceView view(bool is_ours, const std::vector<std::string>& objections) const;
  // The interface that has the name now: its index.
  unsigned successor() const;
  void replace(unsigned index) { index_ = index; }

 private:
  std::string name_;
  std::uint16_t mtu_;
  unsigned index_ = 0;
  MacAddress mac_;
  std::vector<std::string> notices_;
};

}  // namespace satrelay::dpdk
