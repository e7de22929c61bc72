#include "relay/machine/machine_facts.h"

namespace satrelay::machine {
namespace {

std::optional<InterfaceFacts> interface_of(const config::Port& port) {
  if (port.interface.empty()) return std::nullopt;
  return read_interface(port.interface);
}

}  // namespace

MachineFacts read_machine_facts(const config::Gateway& config) {
  return {.lan = interface_of(config.lan),
          .wan = interface_of(config.wan),
          .cores = read_cpu_topology(),
          .memory = config::machine_memory()};
}

}  // namespace satrelay::machine
