// The kernel interface that a device uses. The constructor prepares it for a port, and view()
// reports its state while the gateway runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pep/base/address.h"
#include "relay/dpdk/socket/interface_watch.h"
#include "relay/kernel/kernel_interface.h"

namespace satrelay::dpdk {

class OpenedInterface {
 public:
  // Throws std::runtime_error if the interface cannot be a port.
  OpenedInterface(const std::string& name, std::uint16_t mtu);

  unsigned index() const { return index_; }
  MacAddress mac() const { return mac_; }  // the MAC address of the interface when it was opened
  // For each setting that could not be made, a sentence that says how the operator can make it.
  const std::vector<std::string>& notices() const { return prepared_.notices; }
  // The settings that the constructor has changed, one sentence each.
  const std::vector<std::string>& changes() const { return prepared_.changes; }
  // The state of the interface. `is_ours`: whether the device is still bound to the interface.
  // `objections`: reasons why the device cannot bind to another interface with the configured name.
  InterfaceView view(bool is_ours, const std::vector<std::string>& objections) const;
  // The index of the interface that has the configured name now. Throws std::runtime_error if there
  // is none.
  unsigned successor() const;
  void replace(unsigned index) { index_ = index; }

 private:
  std::string name_;
  std::uint16_t mtu_;
  unsigned index_ = 0;
  MacAddress mac_;
  kernel::KernelInterface::Preparation prepared_;
};

}  // namespace satrelay::dpdk
