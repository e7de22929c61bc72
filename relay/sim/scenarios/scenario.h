// All that decides a run, as values: two stations with hosts, the link between the stations, the
// configuration of the gateways, and the flows. A seed decides the scenario, and the scenario
// decides the run.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/model/link_model.h"
#include "config/model/schema.h"
#include "pep/base/time.h"
#include "pep/base/units.h"
#include "relay/sim/hosts/application.h"
#include "relay/sim/hosts/host.h"
#include "relay/sim/network/machine.h"

namespace satrelay::sim {

enum class Side : std::uint8_t { kA = 0, kB = 1 };
constexpr Side opposite(Side side) { return side == Side::kA ? Side::kB : Side::kA; }

enum class Server : std::uint8_t {
  kListens,
  kRefuses,  // answers the SYN with RST
};

struct FlowSpec {
  Side client_side = Side::kA;
  std::size_t client_host = 0;  // index into the station's hosts
  std::size_t server_host = 0;  // index into the hosts of the other station
  IpVersion version = IpVersion::kV4;
  std::uint16_t client_port = 0;  // 0 means that the network chooses the port
  std::uint16_t server_port = 80;
  Instant start = Instant::from_nanoseconds(5'000'000'000);
  Server server = Server::kListens;
  Plan client_plan;
  Plan server_plan;
};

struct Vanishing {
  Side side = Side::kA;
  std::size_t host = 0;
  Instant when;
};

enum class Stop : std::uint8_t {
  kKilled,    // stops at once, as after a loss of power or kill -9
  kShutDown,  // stops in order: resets connections, closes sessions
};

// The gateway stops, and starts again with a later boot epoch.
struct Restart {
  Side side = Side::kA;
  Instant when;
  Duration down;
  Stop stop = Stop::kKilled;
  // The value of limits.memory after the restart; nullopt means that it stays the same.
  std::optional<ByteCount> memory = std::nullopt;
};

// A time in which the satellite link loses all frames.
struct Outage {
  Instant when;
  Duration length;
  config::LinkWays ways = config::LinkWays::kBoth;
};

// A host that runs short of memory. From `when` on, it offers at most this window on each
// connection.
struct Shrinking {
  Side side = Side::kA;
  std::size_t host = 0;
  Instant when;
  std::uint64_t receive_limit = 0;
};

// A third terminal with a hostile gateway. That gateway has the right keys and sends any frames
// (hostile_terminal.h). It is the second peer of one gateway, the victim; the other gateway does
// not have it as a peer.
struct HostilePeer {
  Side victim = Side::kA;
  std::uint64_t seed = 1;
  Instant from;
  // Duration of the attack. Afterwards, the peer follows the protocol in a new session.
  Duration length;
  std::uint32_t packets = 0;  // number of crafted packets, spread over `length`
  std::uint32_t tricks = 0;   // a bit for each PeerTrick
};

// A hostile host on a LAN that forges frames (forger.h). It knows the addresses and ports of all
// flows, but no sequence numbers.
struct Forging {
  Side side = Side::kA;
  std::uint64_t seed = 1;
  Instant from;
  Duration length;
  std::uint32_t frames = 0;  // number of forged frames, spread over `length`
  std::uint32_t tricks = 0;  // a bit for each LanTrick
};

// A time in which the thread of one of a gateway's workers does not run.
struct Absence {
  Side side = Side::kA;
  unsigned worker = 0;  // number of the worker; ignored if the gateway has fewer workers
  Instant when;
  Duration length;
};

struct Station {
  config::LinkDirection cable;  // the cable of each host, same in both directions
  std::vector<HostSpec> hosts;
  config::Limits limits;
  unsigned workers = 1;
  // Interval at which the gateway checks its timers. Zero means exactly when they are due.
  Duration tick = Duration::zero();
  MachineSpec machine;  // processor and rings of the gateway
};

struct Scenario {
  std::uint64_t seed = 1;
  std::array<Station, 2> stations;
  config::LinkDirection a_to_b;
  config::LinkDirection b_to_a;
  std::uint32_t overhead = config::kOverheadEthernet;
  // The largest sizes of IP packets, in bytes, up to 9000. Use set_mtu() to set them.
  std::uint16_t lan_mtu = 1500;
  std::uint16_t wan_mtu = 1500;
  config::RateControl control;  // rate control of both gateways
  BitRate ceiling;  // configured rate for Controller::kFind; zero means that no rate is configured
  std::vector<config::Rule> rules;
  std::vector<config::TrafficClass> classes;
  // Share of the link that both gateways guarantee to bridged frames.
  std::optional<double> bridged_share;
  // For gateway A; gateway B has the opposite value.
  config::FairHosts fair_hosts = config::FairHosts::kLocal;
  config::Stp stp;
  bool static_neighbours = true;
  std::vector<FlowSpec> flows;
  std::vector<Vanishing> vanishings;
  std::vector<Restart> restarts;
  std::vector<Outage> outages;
  std::vector<Shrinking> shrinkings;
  std::vector<Absence> absences;
  std::optional<HostilePeer> hostile_peer;
  std::vector<Forging> forgings;
  // True if the gateways keep journals of their flows, which survive kills.
  bool journal = false;
  bool encrypts = false;         // true if the gateways share a secret and encrypt
  bool gateways_present = true;  // if false, the link connects the two LANs directly

  const Station& station(Side side) const { return stations[static_cast<std::size_t>(side)]; }
  Station& station(Side side) { return stations[static_cast<std::size_t>(side)]; }
  std::string summary() const;
};

// Returns the usual scenario of tests: `hosts` hosts on each side with 1 Gbit/s cables, and a
// satellite link with the same properties in both directions.
struct LinkSpec {
  BitRate rate = BitRate::bits_per_second(50'000'000);
  Duration one_way_delay = Duration::milliseconds(275);
  double loss = 0;
};
Scenario make_lab(std::uint64_t seed, const LinkSpec& link, std::size_t hosts = 1);

// The MTUs of the LANs and of the satellite path. set_mtu() sets the MTUs of the gateways' ports,
// stp.mtu, and the MSS of the hosts that the scenario has at the time of the call.
struct Mtu {
  std::uint16_t lan = 1500;
  std::uint16_t wan = 1500;
};
void set_mtu(Scenario& scenario, const Mtu& mtu);

// Adds a flow. The scenario's seed determines the bytes of both directions.
FlowSpec& add_flow(Scenario& scenario, Side client_side, const Plan& client, const Plan& server,
                   Content content = Content::kRandom);

// Returns a host with the usual addresses: 198.51.100.x and 2001:db8:a::x at A, 203.0.113.x and
// 2001:db8:b::x at B. Its TCP uses CUBIC, as most hosts do.
HostSpec make_host(Side side, std::size_t index, std::uint64_t seed);

// Returns "cubic" or "newreno", the words of configurations and reports.
const char* name_of(control::Congestion congestion);

}  // namespace satrelay::sim
