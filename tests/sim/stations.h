// Any number of stations on one WAN. Each is a LAN with hosts behind a gateway of its own
// configuration. The WAN is a switch that joins their satellite links, or a router between their
// subnets. relay/sim/network/network.h has two stations of one kind only.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "relay/sim/checks/trace.h"
#include "relay/sim/hosts/host.h"
#include "relay/sim/network/event_loop.h"
#include "relay/sim/network/frame_pool.h"
#include "relay/sim/network/lan.h"
#include "relay/sim/network/satellite.h"
#include "relay/sim/node/gateway_node.h"

namespace satrelay::sim {

// The network between the satellite links. Each link has one port.
class Wan : public FrameSink {
 public:
  explicit Wan(FramePool& frames) : frames_(&frames) {}
  void attach(SatelliteLink& link) { links_.push_back(&link); }

 protected:
  void send(unsigned port, FrameHandle frame) { links_[port]->receive(SatelliteLink::kB, frame); }
  FramePool* frames_;
  std::vector<SatelliteLink*> links_;
};

// A switch: it floods a frame unless its destination MAC was seen as a source.
class WanSwitch final : public Wan {
 public:
  using Wan::Wan;
  void receive(unsigned port, FrameHandle frame) override;

 private:
  std::map<std::array<std::uint8_t, 6>, unsigned> ports_;
};

// A router that knows each subnet's port and each host's MAC. It answers ARP for its own address on
// each port.
class WanRouter final : public Wan {
 public:
  using Wan::Wan;
  static MacAddress mac_of(unsigned port) {
    return {{0x02, 0, 0x5e, 0, 0xfe, static_cast<std::uint8_t>(port)}};
  }
  void add_port(const IpAddress& own) { own_.push_back(own); }
  void add_route(const IpAddress& host, unsigned port, const MacAddress& mac) {
    routes_[host] = {port, mac};
  }
  void receive(unsigned port, FrameHandle frame) override;
  std::uint64_t unroutable() const { return unroutable_; }

 private:
  struct Route {
    unsigned port;
    MacAddress mac;
  };
  std::vector<IpAddress> own_;
  std::map<IpAddress, Route> routes_;
  std::uint64_t unroutable_ = 0;
};

// Stands between a gateway's LAN port and its LAN, and measures TCP packets. It may drop packets
// that are too long for a hop behind it, and then answers with the ICMP message of the router
// there.
class LanTap final : public FrameSink {
 public:
  LanTap(FramePool& frames, FrameSink& lan, FrameSink& gateway)
      : frames_(&frames), lan_(&lan), gateway_(&gateway) {}
  void narrow_to(std::uint16_t mtu, const IpAddress& router_v4, const IpAddress& router_v6) {
    mtu_ = mtu;
    router_v4_ = router_v4;
    router_v6_ = router_v6;
  }
  void receive(unsigned port, FrameHandle frame) override;
  std::size_t longest() const { return longest_; }  // IP bytes of a TCP packet.
  std::uint64_t refused() const { return refused_; }
  void forget() { longest_ = 0; }

 private:
  FrameHandle too_big(ConstBytes refused) const;
  FramePool* frames_;
  FrameSink* lan_;
  FrameSink* gateway_;
  std::uint16_t mtu_ = 0xffff;
  IpAddress router_v4_;
  IpAddress router_v6_;
  std::size_t longest_ = 0;
  std::uint64_t refused_ = 0;
};

struct StationSpec {
  config::Gateway gateway;
  config::LinkDirection up;    // To the WAN.
  config::LinkDirection down;  // From the WAN.
  std::vector<HostSpec> hosts;
};

struct Transfer {
  SocketPair pair;  // Seen from the client.
  Outcome client;
  Outcome server;
};

class Stations {
 public:
  explicit Stations(bool routed = false);
  ~Stations();

  // Stations are numbered in this order, from 0.
  void add(const StationSpec& spec);
  void start();  // To be called after the last add().
  GatewayNode& gateway(std::size_t station) { return *stations_[station]->node; }
  SimHost& host(std::size_t station, std::size_t index = 0) {
    return *stations_[station]->hosts[index];
  }
  SimLan& lan(std::size_t station) { return *stations_[station]->lan; }
  LanTap& tap(std::size_t station) { return *stations_[station]->tap; }
  SatelliteLink& link(std::size_t station) { return *stations_[station]->link; }
  WanRouter& router() { return static_cast<WanRouter&>(*wan_); }
  EventLoop& loop() { return loop_; }
  FramePool& frames() { return frames_; }
  Instant now() const { return loop_.now(); }

  // Starts now: `up` bytes from the client, `down` bytes from the server.
  Transfer& transfer(SimHost& client, SimHost& server, IpVersion version, std::uint64_t up,
                     std::uint64_t down);
  bool run_until_alive(Duration limit);
  // Runs until all transfers are over; false if they are not after `limit`.
  bool run_until_over(Duration limit);
  // The faults of the transfers, one line each.
  std::vector<std::string> diagnostics() const;

 private:
  struct Station {
    std::unique_ptr<SatelliteLink> link;
    std::unique_ptr<SimLan> lan;
    std::vector<std::unique_ptr<SimHost>> hosts;
    std::unique_ptr<GatewayNode> node;
    std::unique_ptr<LanTap> tap;
    std::vector<HostSpec> specs;
  };
  EventLoop loop_;
  FramePool frames_;
  Tracer tracer_;
  std::unique_ptr<Wan> wan_;
  bool routed_;
  std::vector<std::unique_ptr<Station>> stations_;
  std::deque<Transfer> transfers_;
  std::map<std::pair<IpAddress, std::uint16_t>, std::pair<Plan, Outcome*>> expected_;
  std::uint16_t next_port_ = 20'000;
};

// A host with the last octet `last` in 10.`station`.0.0/24 and 2001:db8:`station`::/48.
HostSpec host_of(std::size_t station, std::uint8_t last, std::uint16_t mtu = 1500);

// Parts of a station: a carrier of this rate, with half the delay of a path of 550 ms; the gateway
// of `station` as a peer; its own address on the switched WAN.
config::LinkDirection satellite(std::uint64_t rate);
config::Peer peer_of(const std::string& name, const IpAddress& address, std::size_t station,
                     const std::string& link);
config::Link link_of(const std::string& name, std::uint64_t send, std::uint64_t receive);
IpAddress wan_address(std::size_t station);
// A station on the switched WAN, with `others` as its peers, 20 Mbit/s and one host.
StationSpec station(std::size_t index, const std::vector<std::size_t>& others);

}  // namespace satrelay::sim
