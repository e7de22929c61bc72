// A hostile host on a LAN. It knows the addresses and ports of all flows, but it receives only
// frames for its own MAC and multicast frames. It may send any frame. It has its own cable, so its
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
    // Whether both hosts of a flow consider it established. A forged SYN before that could open a
    // connection.
    std::function<bool(std::size_t)> is_established;
    std::vector<KnownConnection> gateways;  // their own WAN addresses and MACs
    std::vector<KnownConnection> far;  // hosts of the other LAN: both addresses of each, IPv4 first
    OwnAddresses raw;                  // more addresses of the forger, unknown to its host's TCP
  };
  // Ports that the forger makes up begin here. No honest host uses them.
  static constexpr std::uint16_t kFirstPort = 61'000;

  // `host`: the forger's place on the LAN. `host` and `loop` must outlive the forger.
  Forger(EventLoop& loop, SimHost& host, const Forging& spec, Knowledge known);

  // Whether the forger sent a SYN for this connection in the name of a host of its LAN. The pair is
  // as the server sees it.
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
