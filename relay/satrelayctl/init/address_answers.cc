#include "relay/satrelayctl/init/address_answers.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "config/checks/validation.h"
#include "config/text/interface_address.h"
#include "relay/satrelayctl/init/configuration.h"

namespace satrelay::ctl::init {
namespace {

using config::Value;

constexpr std::string_view kNoRouter = "none";
constexpr std::string_view kAnyHost = "any";

// Checks the addresses as `satrelayd --check` does, as far as they are known.
void refuse_contradiction(const Value& value, const Answers& answers) {
  for (const Side side : {Side::kHere, Side::kThere}) {
    if (side == Side::kThere && !answers.there.address) continue;
    const auto found = config::find_contradictions(configuration_so_far(answers, side));
    if (!found.empty()) value.fail(found.front().message);
  }
}

config::InterfaceAddress read_interface_address(const Value& value) {
  constexpr std::string_view kHint =
      "write an address with the length of its subnet, like 192.0.2.1/30";
  const auto address = config::parse_interface_address(value.text(kHint));
  if (!address) value.refuse("is not an address with a length", kHint);
  return *address;
}

// Returns the name of the interface that has an address in the subnet, or "".
std::string interface_in(const Machine& machine, const IpPrefix& subnet) {
  for (const Interface& each : machine.interfaces) {
    for (const std::string& text : each.addresses) {
      const auto address = IpAddress::parse(text);
      if (address && subnet.contains(*address)) return each.name;
    }
  }
  return "";
}

std::optional<IpAddress> read_router(const Value& value) {
  if (value.text("write the address of a router, or none") == kNoRouter) return std::nullopt;
  return value.address();
}

// A gateway with a peer behind a router must have a next hop.
void refuse_missing_hop(const Value& value, const Answers& answers,
                        const std::optional<IpAddress>& hop) {
  if (answers.is_routed() && !hop) {
    value.fail(
        "is needed: the two gateways are in different subnets; write the address of the "
        "router between them");
  }
  refuse_contradiction(value, answers);
}

}  // namespace

// Two gateways need a subnet of two hosts. 192.0.2.0/24 is for documentation (RFC 5737), so hosts
// seldom have such an address. If this machine has one, the next subnet is proposed.
std::string usual_address(const Answers& answers, const Setting& setting) {
  for (std::uint8_t first = 0; first < 252; first = static_cast<std::uint8_t>(first + 4)) {
    const IpPrefix subnet{IpAddress::v4({192, 0, 2, first}), 30};
    if (!interface_in(setting.machine, subnet).empty()) continue;
    return "192.0.2." + std::to_string(first + (answers.role == Role::kHub ? 1 : 2)) + "/30";
  }
  return "";
}

// If an interface has the gateway's address too, the kernel answers packets of the other gateway.
void read_own_address(const Value& value, Answers& answers, const Setting& setting) {
  const config::InterfaceAddress address = read_interface_address(value);
  const auto bits = static_cast<std::uint8_t>(address.own.size() * 8);
  const std::string interface = interface_in(setting.machine, {address.own, bits});
  if (!interface.empty()) {
    value.refuse("is an address of " + interface + " on this machine",
                 "write an address that only the gateway has");
  }
  answers.here.address = address;
  refuse_contradiction(value, answers);
}

// Returns the other host of a subnet with two hosts, or else the next address of the subnet.
std::string usual_peer_address(const Answers& answers, const Setting&) {
  const IpAddress& own = answers.here.address->own;
  for (const int step : {1, -1}) {
    auto octets = own.octets();
    octets[own.size() - 1] = static_cast<std::uint8_t>(octets[own.size() - 1] + step);
    Answers tried = answers;
    tried.there.address = {own.is_v4() ? IpAddress::v4({octets[0], octets[1], octets[2], octets[3]})
                                       : IpAddress::v6(octets),
                           answers.here.address->subnet};
    if (tried.is_routed()) continue;
    if (!config::find_contradictions(configuration_so_far(tried, Side::kHere)).empty()) continue;
    return tried.there.address->own.to_string();
  }
  return "";
}

void read_peer_address(const Value& value, Answers& answers, const Setting&) {
  const std::string text = value.text("write the address of the other gateway, like 192.0.2.2");
  const config::InterfaceAddress& own = *answers.here.address;
  if (text.find('/') != std::string::npos) {
    answers.there.address = read_interface_address(value);
    if (!answers.is_routed() && answers.there.address->subnet != own.subnet) {
      value.refuse("is in the subnet of this gateway, and has another length",
                   "write the address without a length");
    }
  } else {
    answers.there.address = {value.address(), own.subnet};
    if (answers.is_routed()) {
      value.refuse(
          "is not in the subnet of this gateway, " + own.subnet.to_string(),
          "write an address in it, or the length of its own subnet as well, like " + text + "/30");
    }
  }
  refuse_contradiction(value, answers);
}

bool needs_routers(const Answers& answers, const Setting&) { return answers.is_routed(); }

std::string usual_router(const Answers& answers, const Setting&) {
  return answers.is_routed() ? "" : std::string(kNoRouter);
}

void read_next_hop(const Value& value, Answers& answers, const Setting&) {
  answers.here.next_hop = read_router(value);
  refuse_missing_hop(value, answers, answers.here.next_hop);
}

void read_peer_next_hop(const Value& value, Answers& answers, const Setting&) {
  answers.there.next_hop = read_router(value);
  refuse_missing_hop(value, answers, answers.there.next_hop);
}

std::string usual_terminal_hosts(const Answers&, const Setting&) { return std::string(kAnyHost); }

void read_terminal_hosts(const Value& value, Answers& answers, const Setting&) {
  answers.terminal_hosts.clear();
  const std::vector<Value> items = value.items_or_single();
  const bool is_any = items.size() == 1 && items[0].text("write a prefix, or any") == kAnyHost;
  if (is_any) return;
  for (const Value& item : items) answers.terminal_hosts.push_back(item.prefix());
  if (items.empty()) value.fail("is empty; write prefixes, or any");
  refuse_contradiction(value, answers);
}

}  // namespace satrelay::ctl::init
