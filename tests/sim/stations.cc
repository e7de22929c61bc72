#include "tests/sim/stations.h"

#include <algorithm>

#include "pep/wire/arp.h"
#include "pep/wire/icmp.h"
#include "relay/sim/hosts/pattern.h"

namespace satrelay::sim {
namespace {

using gateway::PortId;

constexpr std::uint16_t kServerPort = 80;
constexpr std::uint16_t kLongestMtu = 9000;

config::LinkDirection lan_cable() {
  config::LinkDirection cable;
  cable.rate = BitRate::bits_per_second(1'000'000'000);
  cable.delay = Duration::microseconds(100);
  return cable;
}

constexpr std::uint64_t kStationRate = 20'000'000;

}  // namespace

HostSpec host_of(std::size_t station, std::uint8_t last, std::uint16_t mtu) {
  const auto s = static_cast<std::uint8_t>(station);
  HostSpec spec;
  spec.name = "host " + std::to_string(station) + "." + std::to_string(last);
  spec.addresses.mac = {{0x02, 0, 0x5e, 0, s, last}};
  spec.addresses.v4 = IpAddress::v4({10, s, 0, last});
  spec.addresses.v6 =
      IpAddress::v6({0x20, 0x01, 0x0d, 0xb8, 0, s, 0, 0, 0, 0, 0, 0, 0, 0, 0, last});
  spec.tcp.mss = static_cast<std::uint16_t>(mtu - 40);
  spec.tcp.window_scale = 7;
  spec.seed = station * 100 + last;
  return spec;
}

// --- the WAN -----------------------------------------------------------------------------------

void WanSwitch::receive(unsigned port, FrameHandle frame) {
  const auto ethernet = wire::parse_ethernet(frames_->bytes(frame));
  if (ethernet) {
    ports_[ethernet->source.octets] = port;
    const auto known = ports_.find(ethernet->destination.octets);
    for (unsigned out = 0; out < links_.size(); ++out) {
      if (out == port || (known != ports_.end() && known->second != out)) continue;
      frames_->add_reference(frame);
      send(out, frame);
    }
  }
  frames_->release(frame);
}

void WanRouter::receive(unsigned port, FrameHandle frame) {
  const ConstBytes bytes = frames_->bytes(frame);
  const auto ethernet = wire::parse_ethernet(bytes);
  const ConstBytes payload = ethernet ? bytes.subspan(ethernet->size()) : ConstBytes();
  FrameHandle out = frames_->acquire();
  const MutableBytes room = frames_->room(out);
  std::size_t size = 0;
  unsigned to = port;
  if (ethernet && ethernet->type == wire::EtherType::kArp) {
    const auto arp = wire::parse_arp(payload);
    if (arp && arp->operation == wire::ArpOperation::kRequest && arp->target == own_[port]) {
      wire::EthernetHeader header;
      header.destination = arp->sender_mac;
      header.source = mac_of(port);
      header.type = wire::EtherType::kArp;
      wire::write_ethernet(header, room);
      wire::write_arp({.operation = wire::ArpOperation::kReply,
                       .sender_mac = mac_of(port),
                       .sender = own_[port],
                       .target_mac = arp->sender_mac,
                       .target = arp->sender},
                      room.subspan(header.size()));
      size = header.size() + wire::kArpSize;
    }
  } else if (ethernet && ethernet->destination == mac_of(port)) {
    const auto ip = wire::parse_ip(payload);
    const auto route = ip ? routes_.find(ip->destination) : routes_.end();
    if (route == routes_.end()) {
      ++unroutable_;
    } else {
      wire::EthernetHeader header = *ethernet;
      header.destination = route->second.mac;
      header.source = mac_of(route->second.port);
      std::copy(bytes.begin(), bytes.end(), room.begin());
      wire::write_ethernet(header, room);
      wire::IpHeader hop = *ip;
      --hop.hop_limit;
      wire::write_ip(hop, room.subspan(header.size()));
      size = bytes.size();
      to = route->second.port;
    }
  }
  frames_->release(frame);
  if (size == 0) {
    frames_->release(out);
    return;
  }
  frames_->set_size(out, size);
  send(to, out);
}

// --- the LAN -----------------------------------------------------------------------------------

void LanTap::receive(unsigned port, FrameHandle frame) {
  const ConstBytes bytes = frames_->bytes(frame);
  if (const auto tcp = parse_tcp_frame(bytes)) {
    const std::size_t size = bytes.size() - tcp->ethernet.size();
    if (size > mtu_) {
      ++refused_;
      const FrameHandle message = too_big(bytes);
      frames_->release(frame);
      gateway_->receive(static_cast<unsigned>(PortId::kLan), message);
      return;
    }
    longest_ = std::max(longest_, size);
  }
  lan_->receive(port, frame);
}

FrameHandle LanTap::too_big(ConstBytes refused) const {
  const auto ethernet = *wire::parse_ethernet(refused);
  const ConstBytes packet = refused.subspan(ethernet.size());
  const auto quoted = *wire::parse_ip(packet);
  const bool v4 = quoted.source.is_v4();
  wire::IpHeader ip;
  ip.source = v4 ? router_v4_ : router_v6_;
  ip.destination = quoted.source;
  ip.protocol = v4 ? wire::kProtocolIcmp : wire::kProtocolIcmpV6;
  wire::IcmpMessage message;
  message.type = v4 ? wire::kIcmpUnreachable : wire::kIcmpV6PacketTooBig;
  message.code = v4 ? wire::kIcmpFragmentationNeeded : std::uint8_t{0};
  message.rest = mtu_;
  message.body = packet.first(v4 ? 28 : 60);
  ip.payload_size = static_cast<std::uint16_t>(wire::kIcmpHeaderSize + message.body.size());
  wire::EthernetHeader header = ethernet;
  std::swap(header.source, header.destination);
  const FrameHandle out = frames_->acquire();
  const MutableBytes room = frames_->room(out);
  wire::write_ethernet(header, room);
  const std::size_t at = header.size() + wire::write_ip(ip, room.subspan(header.size()));
  frames_->set_size(out, at + wire::write_icmp(ip, message, room.subspan(at)));
  return out;
}

// --- the whole ---------------------------------------------------------------------------------

Stations::Stations(bool routed)
    : frames_(wire::kMaxEthernetHeaderSize + kLongestMtu), routed_(routed) {
  if (routed) {
    wan_ = std::make_unique<WanRouter>(frames_);
  } else {
    wan_ = std::make_unique<WanSwitch>(frames_);
  }
}

Stations::~Stations() = default;

void Stations::add(const StationSpec& spec) {
  const auto index = static_cast<unsigned>(stations_.size());
  const std::string name = std::to_string(index);
  auto station = std::make_unique<Station>();
  station->specs = spec.hosts;
  station->link = std::make_unique<SatelliteLink>(loop_, frames_, tracer_, spec.up, spec.down,
                                                  config::kOverheadEthernet, 100 + index);
  station->lan =
      std::make_unique<SimLan>(loop_, frames_, tracer_, "lan " + name, lan_cable(), 200 + index);
  const MacAddress mac{{0x02, 0, 0x5e, 0, 0xff, static_cast<std::uint8_t>(index)}};
  station->node = std::make_unique<GatewayNode>(loop_, frames_, tracer_, "gateway " + name,
                                                spec.gateway, mac, Duration::zero());
  for (const HostSpec& host : spec.hosts) {
    station->hosts.push_back(std::make_unique<SimHost>(loop_, frames_, tracer_, host));
    station->lan->attach(*station->hosts.back());
    station->hosts.back()->listen(
        [this](const SocketPair& pair) -> std::optional<SimHost::Reception> {
          const auto found = expected_.find({pair.remote, pair.remote_port});
          if (found == expected_.end()) return std::nullopt;
          return SimHost::Reception{found->second.first, found->second.second};
        });
  }
  station->tap = std::make_unique<LanTap>(frames_, *station->lan, *station->node);
  station->lan->connect_gateway(*station->node, static_cast<unsigned>(PortId::kLan));
  station->node->connect(PortId::kLan, *station->tap, SimLan::kGateway);
  station->node->connect(PortId::kWan, *station->link, SatelliteLink::kA);
  station->link->connect(SatelliteLink::kA, *station->node, static_cast<unsigned>(PortId::kWan));
  station->link->connect(SatelliteLink::kB, *wan_, index);
  wan_->attach(*station->link);
  if (routed_) {
    router().add_port(*spec.gateway.gateway.next_hop);
    router().add_route(spec.gateway.gateway.own, index, mac);
    for (const HostSpec& host : spec.hosts) {
      router().add_route(host.addresses.v4, index, host.addresses.mac);
      router().add_route(host.addresses.v6, index, host.addresses.mac);
    }
  }
  stations_.push_back(std::move(station));
}

void Stations::start() {
  for (std::size_t here = 0; here < stations_.size(); ++here) {
    for (const auto& host : stations_[here]->hosts) {
      for (std::size_t there = 0; there < stations_.size(); ++there) {
        for (const HostSpec& known : stations_[there]->specs) {
          const bool far = here != there && routed_;
          const MacAddress mac =
              far ? WanRouter::mac_of(static_cast<unsigned>(here)) : known.addresses.mac;
          host->neighbours().learn(known.addresses.v4, mac);
          host->neighbours().learn(known.addresses.v6, mac);
        }
      }
    }
    gateway(here).start(1'700'000'000'000'000'000U + here);
  }
}

Transfer& Stations::transfer(SimHost& client, SimHost& server, IpVersion version, std::uint64_t up,
                             std::uint64_t down) {
  Transfer& transfer = transfers_.emplace_back();
  const bool v4 = version == IpVersion::kV4;
  const OwnAddresses& from = client.spec().addresses;
  const OwnAddresses& to = server.spec().addresses;
  transfer.pair = {v4 ? from.v4 : from.v6, v4 ? to.v4 : to.v6, next_port_++, kServerPort};
  Plan asking;
  Plan answering;
  asking.send_bytes = up;
  answering.send_bytes = down;
  asking.content = answering.expected = Pattern(next_port_ * 7919U, Content::kRandom);
  answering.content = asking.expected = Pattern(next_port_ * 104'729U, Content::kRandom);
  expected_[{transfer.pair.local, transfer.pair.local_port}] = {answering, &transfer.server};
  client.connect(transfer.pair, asking, transfer.client);
  return transfer;
}

bool Stations::run_until_alive(Duration limit) {
  return loop_.run_until(loop_.now() + limit, [this] {
    return std::ranges::all_of(stations_, [](const auto& station) {
      const auto peers = station->node->peers();
      return std::ranges::all_of(
          peers, [](const auto& peer) { return peer.state == stp::PeerState::kAlive; });
    });
  });
}

bool Stations::run_until_over(Duration limit) {
  return loop_.run_until(loop_.now() + limit, [this] {
    return std::ranges::all_of(transfers_, [](const Transfer& transfer) {
      return transfer.client.ended && (!transfer.server.started || transfer.server.ended);
    });
  });
}

std::vector<std::string> Stations::diagnostics() const {
  std::vector<std::string> list;
  for (std::size_t i = 0; i < transfers_.size(); ++i) {
    const auto check = [&](const char* who, const Outcome& outcome) {
      const std::string where = "transfer " + std::to_string(i) + ", " + who;
      if (!outcome.started) list.push_back(where + ": never began");
      if (outcome.first_wrong_byte) list.push_back(where + ": a wrong byte");
      if (!outcome.saw_end || !outcome.sent_all) list.push_back(where + ": not complete");
    };
    check("client", transfers_[i].client);
    check("server", transfers_[i].server);
  }
  return list;
}

// --- parts of a station -------------------------------------------------------------------------

config::LinkDirection satellite(std::uint64_t rate) {
  config::LinkDirection direction;
  direction.rate = BitRate::bits_per_second(rate);
  direction.delay = Duration::milliseconds(137);  // The other station's link has the other half.
  return direction;
}

config::Peer peer_of(const std::string& name, const IpAddress& address, std::size_t station,
                     const std::string& link) {
  const std::string s = std::to_string(station);
  return {.name = name,
          .address = address,
          .prefixes = {*IpPrefix::parse("10." + s + ".0.0/16"),
                       *IpPrefix::parse("2001:db8:" + s + "::/48")},
          .links = {link}};
}

config::Link link_of(const std::string& name, std::uint64_t send, std::uint64_t receive) {
  config::Link link;
  link.name = name;
  link.send_rate = BitRate::bits_per_second(send);
  link.receive_rate = BitRate::bits_per_second(receive);
  return link;
}

IpAddress wan_address(std::size_t station) {
  return IpAddress::v4({192, 0, 2, static_cast<std::uint8_t>(station + 1)});
}

StationSpec station(std::size_t index, const std::vector<std::size_t>& others) {
  StationSpec spec;
  spec.gateway.lan.interface = "lan";
  spec.gateway.wan.interface = "wan";
  spec.gateway.gateway.own = wan_address(index);
  spec.gateway.gateway.address = *IpPrefix::parse("192.0.2.0/28");
  spec.gateway.links = {link_of("sat", kStationRate, kStationRate)};
  for (const std::size_t other : others) {
    spec.gateway.peers.push_back(
        peer_of("station" + std::to_string(other), wan_address(other), other, "sat"));
  }
  spec.up = spec.down = satellite(kStationRate);
  spec.hosts = {host_of(index, 10)};
  return spec;
}

}  // namespace satrelay::sim
