// The addresses of the gateways and of the hostile terminal (hostile_terminal.h), and the prefixes
// behind them.
#pragma once

#include <array>
#include <cstddef>

#include "config/model/schema.h"
#include "pep/base/address.h"
#include "relay/sim/scenarios/scenario.h"

namespace satrelay::sim {

inline constexpr const char* kGatewayAddress[] = {"192.0.2.1", "192.0.2.2"};
inline constexpr const char* kPrefixV4[] = {"198.51.100.0/24", "203.0.113.0/24"};
inline constexpr const char* kPrefixV6[] = {"2001:db8:a::/48", "2001:db8:b::/48"};
inline constexpr MacAddress kGatewayMac[] = {{{0x02, 0x00, 0x5e, 0x00, 0xff, 0x0a}},
                                             {{0x02, 0x00, 0x5e, 0x00, 0xff, 0x0b}}};

inline constexpr const char* kHostileName = "hostile";
inline constexpr const char* kHostileAddress = "192.0.2.3";
inline constexpr const char* kHostilePrefixV4 = "100.64.3.0/24";
inline constexpr const char* kHostilePrefixV6 = "2001:db8:c::/48";
inline constexpr MacAddress kHostileMac = {{0x02, 0x00, 0x5e, 0x00, 0xff, 0x0c}};
inline constexpr std::size_t kHostileHosts = 4;

// A host behind the hostile terminal.
struct HostileHost {
  IpAddress v4;
  IpAddress v6;
  MacAddress mac;
};
HostileHost hostile_host(std::size_t index);
// Adds the hostile terminal as the gateway's second peer, with keys if the scenario encrypts.
void add_hostile_peer(const Scenario& scenario, config::Gateway& config);

}  // namespace satrelay::sim
