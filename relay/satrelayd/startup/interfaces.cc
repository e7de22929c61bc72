#include "relay/satrelayd/startup/interfaces.h"

#include <stdexcept>
#include <string>

#include "relay/kernel/rtnetlink.h"
#include "relay/kernel/wire_bridge.h"

namespace satrelay::satrelayd {
namespace {

[[noreturn]] void refuse(const config::Port& port, const kernel::LinkFacts& master) {
  const std::string kind = master.kind.empty() ? "device" : master.kind;
  throw std::runtime_error("interface " + port.interface + " belongs to the " + kind + " " +
                           master.name +
                           ", which forwards its frames, too; take it out: ip link set " +
                           port.interface + " nomaster; or start the gateway with --force");
}

void check_interface(kernel::Rtnetlink& kernel, const config::Port& port, bool has_supervisor) {
  const auto facts = kernel.find(port.interface);
  if (!facts) return;  // the port itself reports that
  if (const auto master = kernel::foreign_master(kernel, *facts)) refuse(port, *master);
  if (!has_supervisor && kernel::is_in_wire_bridge(kernel, *facts)) {
    throw std::runtime_error(
        "satrelay-supervise has joined " + port.interface +
        "; start the gateway by satrelay-supervise run, or take the ports back: "
        "satrelay-supervise part");
  }
}

}  // namespace

void object_to_masters(const config::Gateway& config, bool has_supervisor) {
  kernel::Rtnetlink kernel;
  for (const config::Port* port : {&config.lan, &config.wan}) {
    if (!port->interface.empty()) check_interface(kernel, *port, has_supervisor);
  }
}

}  // namespace satrelay::satrelayd
