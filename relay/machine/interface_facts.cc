#include "relay/machine/interface_facts.h"

#include <exception>

#include "relay/kernel/kernel_interface.h"
#include "relay/kernel/rtnetlink.h"
#include "relay/kernel/wire_bridge.h"

namespace satrelay::machine {
namespace {

void read_master(const std::string& name, InterfaceFacts& facts) {
  kernel::Rtnetlink kernel;
  const auto link = kernel.find(name);
  if (!link) return;
  facts.is_in_wire_bridge = kernel::is_in_wire_bridge(kernel, *link);
  if (const auto master = kernel::foreign_master(kernel, *link)) {
    facts.foreign_master = (master->kind.empty() ? "device" : master->kind) + ' ' + master->name;
  }
}

}  // namespace

InterfaceFacts read_interface(const std::string& name) {
  InterfaceFacts facts;
  try {
    const kernel::KernelInterface interface(name);
    facts.exists = true;
    facts.is_enabled = interface.is_enabled();
    facts.is_running = interface.is_running();
    facts.is_half_duplex = interface.is_half_duplex();
    facts.has_address = !interface.addresses().empty();
    facts.mtu = interface.mtu();
    facts.megabits = interface.megabits();
    facts.merge_offloads = interface.active_merge_offloads();
    read_master(name, facts);
  } catch (const std::exception&) {
    // The interface does not exist, or has vanished meanwhile. `facts` says what is known.
  }
  return facts;
}

}  // namespace satrelay::machine
