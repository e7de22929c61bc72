#include "relay/satrelayctl/init/port_answers.h"

#include <algorithm>
#include <cstdint>

#include "config/readers/read_common.h"
#include "pep/wire/ethernet.h"
#include "relay/satrelayctl/init/ports/port_advice.h"

namespace satrelay::ctl::init {
namespace {

using config::Value;

constexpr std::uint32_t kLeastMtu = 576;
constexpr std::uint32_t kMostMtu = 9000;

bool is_pci(const std::string& text) { return text.find(':') != std::string::npos; }

// A port of the other site, which this machine cannot check.
config::Port read_far_port(const Value& value) {
  config::Port port;
  if (is_pci(value.text("write the name of an interface, like eth1, or a PCI address"))) {
    port.driver = config::Driver::kPci;
    port.pci = config::read_pci(value);
  } else {
    port.interface = config::read_interface(value);
    if (port.interface == "lo") {
      value.refuse("is the loopback, which no cable reaches", "write another interface");
    }
  }
  return port;
}

std::string names_of_interfaces(const Machine& machine) {
  std::string names;
  for (const Interface& each : machine.interfaces) {
    names += (names.empty() ? "" : ", ") + each.name;
  }
  return names.empty() ? "this machine has none" : "there are: " + names;
}

// A gateway that runs, or has run, has raised the MTU of its interfaces to make room for VLAN tags.
std::uint16_t usable_mtu(std::uint32_t mtu) {
  constexpr std::uint32_t kTags = 4 * wire::kMaxVlanTags;
  const std::uint16_t usual = config::Port().mtu;
  if (mtu > usual && mtu <= usual + kTags) return usual;
  return static_cast<std::uint16_t>(std::min(mtu, kMostMtu));
}

config::Port read_near_port(const Value& value, const Answers& answers, const Setting& setting) {
  config::Port port = read_far_port(value);
  if (port.driver == config::Driver::kPci) {
    if (!setting.machine.has_card(port.pci)) {
      value.refuse("is not a network card that a gateway can drive",
                   "bind it with satrelay-bind-ports, or write the name of an interface");
    }
    return port;
  }
  const Interface* const found = setting.machine.find(port.interface);
  if (found == nullptr) {
    value.refuse("is not an interface of this machine", names_of_interfaces(setting.machine));
  }
  if (found->is_used() && !answers.takes_used_ports) {
    value.refuse("carries " + found->use() + " of this machine, which a gateway would cut off",
                 "write another interface, or take_used_ports: yes in a file of answers");
  }
  if (found->mtu < kLeastMtu) {
    value.refuse("has an MTU of " + std::to_string(found->mtu),
                 "a gateway needs " + std::to_string(kLeastMtu) + " or more");
  }
  port.mtu = usable_mtu(found->mtu);
  return port;
}

void refuse_same(const Value& value, const config::Port& lan, const config::Port& wan) {
  if (device_of(lan) != device_of(wan)) return;
  value.refuse("is the LAN port already", "write the port towards the modem");
}

// Returns the name of the first interface that could be a port, but not `taken`.
std::string free_interface(const Machine& machine, const std::string& taken) {
  for (const Interface& each : machine.interfaces) {
    if (!each.is_used() && each.name != taken) return each.name;
  }
  for (const Card& card : machine.cards) {
    if (card.address != taken) return card.address;
  }
  return "";
}

}  // namespace

std::string device_of(const config::Port& port) {
  return port.driver == config::Driver::kPci ? port.pci : port.interface;
}

std::string usual_lan(const Answers&, const Setting& setting) {
  const PortAdvice advice = advise_ports(setting.machine);
  return advice.lan.empty() ? free_interface(setting.machine, advice.wan) : advice.lan;
}

std::string usual_wan(const Answers& answers, const Setting& setting) {
  const std::string lan = device_of(answers.here.lan);
  const PortAdvice advice = advise_ports(setting.machine);
  return advice.wan.empty() || advice.wan == lan ? free_interface(setting.machine, lan)
                                                 : advice.wan;
}

void read_lan(const Value& value, Answers& answers, const Setting& setting) {
  answers.here.lan = read_near_port(value, answers, setting);
}

void read_wan(const Value& value, Answers& answers, const Setting& setting) {
  answers.here.wan = read_near_port(value, answers, setting);
  refuse_same(value, answers.here.lan, answers.here.wan);
}

void read_peer_lan(const Value& value, Answers& answers, const Setting&) {
  answers.there.lan = read_far_port(value);
}

void read_peer_wan(const Value& value, Answers& answers, const Setting&) {
  answers.there.wan = read_far_port(value);
  refuse_same(value, answers.there.lan, answers.there.wan);
}

}  // namespace satrelay::ctl::init
