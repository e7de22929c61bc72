// A machine with four interfaces, for tests of `satrelayctl init`.
#pragma once

#include <string>
#include <utility>

#include "relay/satrelayctl/init/questions.h"

namespace satrelay::ctl::init {

inline Interface sample_interface(std::string name) {
  Interface interface;
  interface.name = std::move(name);
  interface.driver = "veth";
  interface.device = "-";
  interface.mac = "02:00:00:00:00:01";
  interface.state = "up";
  interface.speed = "10000";
  interface.master = "-";
  interface.mtu = 1500;
  return interface;
}

// eth0 carries the default route and an ssh session; eth1, eth2 and eth3 are free. There is a card
// without a driver of the kernel.
inline Machine sample_machine() {
  Machine machine;
  machine.host_name = "station.example";
  for (const char* name : {"eth0", "eth1", "eth2", "eth3"}) {
    machine.interfaces.push_back(sample_interface(name));
  }
  machine.interfaces[0].has_default_route = true;
  machine.interfaces[0].has_ssh_session = true;
  machine.interfaces[0].addresses = {"10.0.0.5"};
  machine.interfaces[3].mtu = 300;
  machine.cards = {{"0000:01:00.0", "vfio-pci"}};
  return machine;
}

inline Setting sample_setting(const std::string& folder) {
  return {.machine = sample_machine(), .existing = Existing::kKeep, .folder = folder};
}

}  // namespace satrelay::ctl::init
