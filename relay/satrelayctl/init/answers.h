// The answers to the questions of `satrelayctl init`: all that the files of two gateways are made
// of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/model/schema.h"
#include "config/text/interface_address.h"
#include "pep/base/address.h"
#include "pep/base/units.h"

namespace satrelay::ctl::init {

// A hub serves terminals, and names the hosts behind each of them. A terminal has one hub, and any
// host may be behind it.
enum class Role : std::uint8_t { kHub, kTerminal };
constexpr const char* to_string(Role role) { return role == Role::kHub ? "hub" : "terminal"; }
constexpr Role other(Role role) { return role == Role::kHub ? Role::kTerminal : Role::kHub; }

// The gateway on this machine, and the gateway of the other site.
enum class Side : std::uint8_t { kHere, kThere };

enum class SecretSource : std::uint8_t { kMake, kFile, kNone };

// The rates that satperf has found on the path.
struct MeasuredLink {
  BitRate send;
  BitRate receive;
  bool varies = false;
};

// The answers about one of the two sites.
struct Station {
  std::string name;
  config::Port lan;
  config::Port wan;
  std::optional<config::InterfaceAddress> address;
  std::optional<IpAddress> next_hop;  // the router towards the other gateway
};

struct Answers {
  std::string folder = "/etc/satrelay";
  Role role = Role::kTerminal;
  Station here;
  Station there;
  bool takes_used_ports = false;           // a port may carry the default route or an ssh session
  std::vector<IpPrefix> terminal_hosts;    // empty: any host may be behind the terminal
  std::string overhead_name = "ethernet";  // a word of the menu in overheads.h, or a number
  std::uint32_t overhead = config::kOverheadEthernet;
  bool finds_capacity = true;
  std::optional<BitRate> send_rate;     // with `finds_capacity`: a ceiling, or none
  std::optional<BitRate> receive_rate;  // with `finds_capacity`: for memory only, or none
  std::optional<MeasuredLink> measured;
  config::HandshakeMode handshake = config::HandshakeMode::kLocal;
  SecretSource secret = SecretSource::kMake;
  std::string secret_file;  // with SecretSource::kFile

  // Whether one router or several are between the two gateways.
  bool is_routed() const {
    return here.address && there.address && !here.address->subnet.contains(there.address->own);
  }
  std::string configuration_file() const { return folder + "/gateway.yaml"; }
  // The file that the operator takes to the other site.
  std::string peer_configuration_file() const {
    return folder + "/to-" + there.name + "/gateway.yaml";
  }
  std::string psk_file() const {
    return secret == SecretSource::kFile ? secret_file : folder + "/psk";
  }
};

}  // namespace satrelay::ctl::init
