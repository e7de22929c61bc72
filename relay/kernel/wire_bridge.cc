#include "relay/kernel/wire_bridge.h"

#include <libmnl/libmnl.h>
#include <linux/if_bridge.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

namespace satrelay::kernel {
namespace {

// Bit X lets the kernel forward frames for 01:80:C2:00:00:0X. The kernel refuses the bits of BPDU,
// pause and slow protocols for a bridge as a whole, and only the bit of pause for a port.
constexpr std::uint16_t kForwardedByBridge = 0xfff8;
constexpr std::uint16_t kForwardedByPort = 0xfffd;

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// The name has 15 characters at most, and is different for each pair of interfaces.
std::string bridge_name(const LinkFacts& lan, const LinkFacts& wan) {
  constexpr unsigned kSixDigits = 1'000'000;
  return "sr" + std::to_string(lan.index % kSixDigits) + "-" +
         std::to_string(wan.index % kSixDigits);
}

bool is_wire(const LinkFacts& master) {
  const std::string_view name = master.name;
  const std::size_t dash = name.find('-');
  return master.kind == "bridge" && name.starts_with("sr") && dash != std::string_view::npos &&
         is_number(name.substr(2, dash - 2)) && is_number(name.substr(dash + 1));
}

std::optional<LinkFacts> master_of(Rtnetlink& kernel, const LinkFacts& interface) {
  return interface.master != 0 ? kernel.find(interface.master) : std::nullopt;
}

std::optional<LinkFacts> wire_of(Rtnetlink& kernel, const LinkFacts& interface) {
  const auto master = master_of(kernel, interface);
  return master && is_wire(*master) ? master : std::nullopt;
}

void put_bridge(nlmsghdr& message, const std::string& name) {
  mnl_nlmsg_put_extra_header(&message, sizeof(ifinfomsg));
  mnl_attr_put_strz(&message, IFLA_IFNAME, name.c_str());
  nlattr* const info = mnl_attr_nest_start(&message, IFLA_LINKINFO);
  mnl_attr_put_strz(&message, IFLA_INFO_KIND, "bridge");
  nlattr* const data = mnl_attr_nest_start(&message, IFLA_INFO_DATA);
  mnl_attr_put_u32(&message, IFLA_BR_STP_STATE, 0);
  mnl_attr_put_u32(&message, IFLA_BR_FORWARD_DELAY, 0);
  mnl_attr_put_u8(&message, IFLA_BR_MCAST_SNOOPING, 0);
  mnl_attr_put_u16(&message, IFLA_BR_GROUP_FWD_MASK, kForwardedByBridge);
  mnl_attr_nest_end(&message, data);
  mnl_attr_nest_end(&message, info);
}

// Without an address of its own, the bridge sends nothing.
void put_no_address(nlmsghdr& message, unsigned bridge) {
  auto* head = static_cast<ifinfomsg*>(mnl_nlmsg_put_extra_header(&message, sizeof(ifinfomsg)));
  head->ifi_index = static_cast<int>(bridge);
  nlattr* const families = mnl_attr_nest_start(&message, IFLA_AF_SPEC);
  nlattr* const family = mnl_attr_nest_start(&message, AF_INET6);
  mnl_attr_put_u8(&message, IFLA_INET6_ADDR_GEN_MODE, IN6_ADDR_GEN_MODE_NONE);
  mnl_attr_nest_end(&message, family);
  mnl_attr_nest_end(&message, families);
}

void put_port_mask(nlmsghdr& message, unsigned port) {
  auto* head = static_cast<ifinfomsg*>(mnl_nlmsg_put_extra_header(&message, sizeof(ifinfomsg)));
  head->ifi_family = PF_BRIDGE;
  head->ifi_index = static_cast<int>(port);
  nlattr* const info = mnl_attr_nest_start(&message, IFLA_PROTINFO | NLA_F_NESTED);
  mnl_attr_put_u16(&message, IFLA_BRPORT_GROUP_FWD_MASK, kForwardedByPort);
  mnl_attr_nest_end(&message, info);
}

}  // namespace

WireBridge::WireBridge(std::string lan, std::string wan)
    : lan_(std::move(lan)), wan_(std::move(wan)) {}

LinkFacts WireBridge::require(const std::string& name) {
  auto facts = kernel_.find(name);
  if (!facts) throw std::runtime_error("there is no interface " + name + " (see: ip link)");
  return *std::move(facts);
}

bool WireBridge::is_joined() {
  const auto lan = kernel_.find(lan_);
  const auto wan = kernel_.find(wan_);
  if (!lan || !wan || lan->master != wan->master || !lan->is_up || !wan->is_up) return false;
  const auto wire = wire_of(kernel_, *lan);
  return wire && wire->is_up;
}

void WireBridge::build(const LinkFacts& lan, const LinkFacts& wan, const std::string& bridge) {
  const unsigned index = require(bridge).index;
  try {
    kernel_.change("bridge " + bridge + ", no address", RTM_NEWLINK, 0,
                   [&](nlmsghdr& message) { put_no_address(message, index); });
  } catch (const std::system_error& error) {
    // A kernel without IPv6 gives the bridge no address.
    if (error.code() != std::errc::address_family_not_supported) throw;
  }
  for (const LinkFacts* port : {&lan, &wan}) {
    kernel_.set_master(port->index, index);
    kernel_.change("group_fwd_mask of " + port->name, RTM_SETLINK, 0,
                   [&](nlmsghdr& message) { put_port_mask(message, port->index); });
    kernel_.set_up(port->index, true);
  }
  kernel_.set_up(index, true);
}

void WireBridge::join() {
  if (is_joined()) return;
  for (const std::string& name : {lan_, wan_}) {
    const auto master = foreign_master(kernel_, require(name));
    if (!master) continue;
    std::string text = "interface ";
    text.append(name).append(" belongs to ").append(master->name);
    text.append("; take it out: ip link set ").append(name).append(" nomaster");
    throw std::runtime_error(text);
  }
  // One of the interfaces may have vanished and come back since the bridge was made.
  part();
  const LinkFacts lan = require(lan_);
  const LinkFacts wan = require(wan_);
  const std::string bridge = bridge_name(lan, wan);
  kernel_.change("bridge " + bridge, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL,
                 [&](nlmsghdr& message) { put_bridge(message, bridge); });
  try {
    build(lan, wan, bridge);
  } catch (...) {
    if (const auto half = kernel_.find(bridge)) kernel_.remove(half->index);
    throw;
  }
}

bool WireBridge::part() {
  bool had_one = false;
  const auto lan = kernel_.find(lan_);
  const auto wan = kernel_.find(wan_);
  const auto remove = [&](const std::optional<LinkFacts>& bridge) {
    if (!bridge || !is_wire(*bridge)) return;
    kernel_.remove(bridge->index);
    had_one = true;
  };
  for (const auto* port : {&lan, &wan}) {
    // The first removal may have parted the second interface, too.
    if (const auto now = *port ? kernel_.find((*port)->index) : std::nullopt) {
      remove(wire_of(kernel_, *now));
    }
  }
  if (lan && wan) remove(kernel_.find(bridge_name(*lan, *wan)));
  return had_one;
}

std::optional<LinkFacts> foreign_master(Rtnetlink& kernel, const LinkFacts& interface) {
  auto master = master_of(kernel, interface);
  return master && !is_wire(*master) ? master : std::nullopt;
}

bool is_in_wire_bridge(Rtnetlink& kernel, const LinkFacts& interface) {
  return wire_of(kernel, interface).has_value();
}

}  // namespace satrelay::kernel
