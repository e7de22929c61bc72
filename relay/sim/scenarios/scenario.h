// Everything that decides a run, as values: two stations with hosts, the link between them, the
// gateways' configuration, and the flows. A seed decides the scenario, and the scenario decides the
// run.
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
  std::uint16_t client_port = 0;  // 0: the network chooses
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
  kKilled,    // loss of power, kill -9
  kShutDown,  // in order: resets connections, closes sessions
};

// The gateway stops, and starts again with a later boot epoch.
struct Restart {
  Side side = Side::kA;
  Instant when;
  Duration down;
  Stop stop = Stop::kKilled;
  // The value of limits.memory after the restart; nullopt: unchanged.
  std::optional<ByteCount> memory = std::nullopt;
};

// The satellite link loses all frames.
struct Outage {
  Instant when;
  Duration length;
  config::LinkWays ways = config::LinkWays::kBoth;
};

// A host runs short of memory. From `when` on it offers at most this window on every connection.
struct Shrinking {
  Side side = Side::kA;
  std::size_t host = 0;
  Instant when;
  std::uint64_t receive_limit = 0;
};

// A third terminal with a hostile gateway: it has the right keys and sends any frames
// (hostile_terminal.h). It is the second peer of one gateway, the victim. The other gateway has no
// such peer.
struct HostilePeer {
  Side victim = Side::kA;
  std::uint64_t seed = 1;
  Instant from;
  Duration length;            // after this time the peer starts a new session and behaves
  std::uint32_t packets = 0;  // crafted packets, spread over `length`
  std::uint32_t tricks = 0;   // a bit for each PeerTrick
};

// A hostile host on a LAN that forges frames (forger.h). It knows the addresses and ports of all
// flows, but no sequence numbers.
struct Forging {
  Side side = Side::kA;
  std::uint64_t seed = 1;
  Instant from;
  Duration length;
  std::uint32_t frames = 0;  // spread over `length`
  std::uint32_t tricks = 0;  // a bit for each LanTrick
};

// The thread of one of a gateway's workers does not run for a while.
struct Absence {
  Side side = Side::kA;
  unsigned worker = 0;  // no effect if the gateway has fewer workers
  Instant when;
  Duration length;
};

struct Station {
  config::LinkDirection cable;  // each host's cable, both directions
  std::vector<HostSpec> hosts;
  config::Limits limits;
  unsigned workers = 1;
  Duration tick = Duration::zero();  // interval at which the gateway checks its timers; zero: exact
  MachineSpec machine;               // processor and rings of the gateway
};

struct Scenario {
  std::uint64_t seed = 1;
  std::array<Station, 2> stations;
  config::LinkDirection a_to_b;
  config::LinkDirection b_to_a;
  std::uint32_t overhead = config::kOverheadEthernet;
  // The largest IP packets in bytes, up to 9000. set_mtu() sets them.
  std::uint16_t lan_mtu = 1500;
  std::uint16_t wan_mtu = 1500;
  config::RateControl control;  // of both gateways
  BitRate ceiling;  // configured rate, for Controller::kFind; zero: no rate is configured
  std::vector<config::Rule> rules;
  std::vector<config::TrafficClass> classes;
  std::optional<double> bridged_share;                       // of both gateways
  config::FairHosts fair_hosts = config::FairHosts::kLocal;  // at A; B has the opposite
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
  bool journal = false;          // the gateways keep journals of their flows, which survive kills
  bool encrypts = false;         // the gateways share a secret
  bool gateways_present = true;  // false: the link joins the LANs directly

  const Station& station(Side side) const { return stations[static_cast<std::size_t>(side)]; }
  Station& station(Side side) { return stations[static_cast<std::size_t>(side)]; }
  std::string summary() const;
};

// Returns the usual lab: `hosts` hosts on each side with 1 Gbit/s cables, and the same satellite
// link in both directions.
struct LinkSpec {
  BitRate rate = BitRate::bits_per_second(50'000'000);
  Duration one_way_delay = Duration::milliseconds(275);
  double loss = 0;
};
Scenario make_lab(std::uint64_t seed, const LinkSpec& link, std::size_t hosts = 1);

// MTUs of the LANs and of the satellite path. set_mtu() sets the MTUs of the gateways' ports,
// stp.mtu, and the MSS of the hosts that the scenario has already.
struct Mtu {
  std::uint16_t lan = 1500;
  std::uint16_t wan = 1500;
};
void set_mtu(Scenario& scenario, const Mtu& mtu);

// Adds a flow. The scenario's seed determines the bytes of both directions.
FlowSpec& add_flow(Scenario& scenario, Side client_side, const Plan& client, const Plan& server,
                   Content content = Content::kRandom);

// Returns a host with the customary addresses: 198.51.100.x and 2001:db8:a::x at A, 203.0.113.x and
// 2001:db8:b::x at B. The host's TCP uses CUBIC, as most hosts do.
HostSpec make_host(Side side, std::size_t index, std::uint64_t seed);

// "cubic" or "newreno", as configurations and reports write it.
const char* name_of(control::Congestion congestion);

}  // namespace satrelay::sim
