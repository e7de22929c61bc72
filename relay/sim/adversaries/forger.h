// A hostile host on a LAN. It knows the addresses and ports of all flows, but it receives only
// multicast frames and frames for its own MAC. It may send any frame. It has its own cable, so its
// frames reach the gateway and no other host.
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
    // Returns whether both hosts consider the flow with this index established. Before that, a
    // forged SYN could open a connection.
    std::function<bool(std::size_t)> is_established;
    std::vector<KnownConnection> gateways;  // the gateways' WAN addresses and MACs
    // For each host of the other LAN its IPv4 address, then its IPv6 address.
    std::vector<KnownConnection> far;
    OwnAddresses raw;  // further addresses of the forger, which its SimHost's TCP does not know
  };
  // The lowest of the ports that the forger invents. No honest host uses a port from here on.
  static constexpr std::uint16_t kFirstPort = 61'000;

  // `host`: the node that attaches the forger to the LAN. `host` and `loop` must outlive the
  // forger.
  Forger(EventLoop& loop, SimHost& host, const Forging& spec, Knowledge known);

  // Whether the forger sent a SYN for this connection in the name of a host of its LAN.
  // `at_server`: the addresses and ports as the server sees them.
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
