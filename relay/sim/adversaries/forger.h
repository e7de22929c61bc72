// A hostile host on a LAN. It knows the addresses and ports of all flows, but it receives only
// multicast frames and frames to its own MAC address. It may send any frame. Its cable leads to the
// gateway only, so its frames reach no other host.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_set>
#include <vector>

#include "pep/base/address.h"
#include "pep/base/random.h"
#include "relay/sim/adversaries/frame_crafter.h"
#include "relay/sim/adversaries/tricks.h"
#include "relay/sim/hosts/host.h"
#include "relay/sim/hosts/raw_client.h"
#include "relay/sim/network/event_loop.h"
#include "relay/sim/scenarios/scenario.h"

namespace satrelay::sim {

class Forger {
 public:
  struct Knowledge {
    std::vector<KnownFlow> flows;
    // Returns whether both hosts of the flow with this index consider it established. A SYN that is
    // forged earlier could open a connection.
    std::function<bool(std::size_t)> is_established;
    std::vector<KnownConnection> gateways;  // the WAN address and MAC of each gateway
    // The IPv4 address and then the IPv6 address of each host on the other LAN.
    std::vector<KnownConnection> far;
    // More addresses of the forger, from which RawClient opens connections. The TCP stack of the
    // SimHost does not have these addresses, so it sends nothing for these connections.
    OwnAddresses raw;
  };
  // The lowest port number that the forger invents. Honest hosts use only lower ports.
  static constexpr std::uint16_t kFirstPort = 61'000;

  // `host` attaches the forger to the LAN. `host` and `loop` must outlive the forger.
  Forger(EventLoop& loop, SimHost& host, const Forging& spec, Knowledge known);

  // True if the forger sent a SYN for this connection in the name of another host of its LAN.
  // `at_server` has the addresses and ports as the server sees them.
  bool has_asked_for(const SocketPair& at_server) const { return asked_for_.contains(at_server); }

 private:
  struct Segment {
    KnownFlow flow;
    bool from_client = true;
  };
  void schedule(Instant when);
  void forge();
  Segment any_segment();
  bool knows(LanTrick trick) const { return (spec_.tricks & bit(trick)) != 0; }

  void tcp(const Segment& segment, std::uint8_t flags, std::size_t payload);
  void resets();
  void syns();
  void icmp();
  void arp();
  void neighbours();
  void stp();
  void fragments();
  void options();
  void flood();
  void garbage();
  void send_ip(wire::EthernetHeader ethernet, wire::IpHeader ip, ConstBytes payload);
  void send_tcp(const Segment& segment, const wire::TcpHeader& header_to_send, std::size_t payload);
  wire::EthernetHeader header(const Segment& segment);
  void random_bytes(MutableBytes out);

  EventLoop* loop_;
  SimHost* host_;
  Forging spec_;
  Knowledge known_;
  Random random_;
  std::uint32_t made_ = 0;
  std::uint16_t next_port_ = kFirstPort;
  std::optional<RawClient> raw_;
  std::unordered_set<SocketPair, SocketPairHash> asked_for_;
};

}  // namespace satrelay::sim
