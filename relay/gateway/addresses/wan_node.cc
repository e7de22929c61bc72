#include "relay/gateway/addresses/wan_node.h"

#include <algorithm>
#include <cstring>

#include "config/model/peers.h"
#include "pep/wire/arp.h"
#include "pep/wire/checksum.h"
#include "pep/wire/icmp.h"
#include "pep/wire/udp.h"
#include "relay/gateway/addresses/lan/solicited_node.h"

namespace satrelay::gateway {
namespace {

constexpr Duration kRequestInterval = Duration::seconds(1);
constexpr Duration kRefreshInterval = Duration::seconds(30);
constexpr std::uint8_t kAskAllAfter = 5;  // unanswered requests to the known MAC
// Size of a solicitation or an advertisement with the option for a MAC (RFC 4861 sections 4.3 and
// 4.4).
constexpr std::size_t kNeighbourPacketSize = wire::kIpv6HeaderSize + 32;

}  // namespace

WanNode::WanNode(const config::Gateway& config, Share share, const MacAddress& mac,
                 OwnFrames& budget, Counters& counters, Instant now)
    : speaks_(share.worker == 0),
      own_(config.gateway.own),
      mac_(mac),
      vlan_(config.gateway.vlan),
      stp_header_size_(wire::kEthernetHeaderSize + (vlan_ ? 4U : 0U) +
                       (own_.is_v4() ? wire::kIpv4HeaderSize : wire::kIpv6HeaderSize) +
                       wire::kUdpHeaderSize),
      budget_(budget),
      counters_(counters) {
  const Instant first_request = speaks_ ? now : now + kRequestInterval;
  for (const config::Peer& peer : config.peers) {
    const bool local = !config::is_behind_router(config, peer);
    const IpAddress hop = local ? peer.address : config.gateway.next_hop.value_or(peer.address);
    const auto known = std::ranges::find(neighbours_, hop, &Neighbour::address);
    neighbour_of_peer_.push_back(static_cast<std::size_t>(known - neighbours_.begin()));
    if (known == neighbours_.end()) neighbours_.push_back({hop, {}, first_request, 0});
    peers_.push_back(peer.address);
  }
}

wire::EthernetHeader WanNode::header_to(const MacAddress& destination, wire::EtherType type) const {
  wire::EthernetHeader header;
  header.destination = destination;
  header.source = mac_;
  header.type = type;
  if (vlan_) {
    header.tag_count = 1;
    header.tags[0] = {static_cast<std::uint16_t>(wire::EtherType::kVlan), *vlan_};
  }
  return header;
}

bool WanNode::on_own_vlan(const Frame& frame) const {
  if (!vlan_) return frame.ethernet.tag_count == 0;
  return frame.ethernet.tag_count == 1 && frame.ethernet.tags[0].vlan_id() == *vlan_;
}

bool WanNode::is_in_own_network(const wire::EthernetHeader& ethernet) const {
  std::optional<std::uint16_t> vlan;
  for (std::size_t i = 0; i < ethernet.tag_count; ++i) {
    const std::uint16_t id = ethernet.tags[i].vlan_id();
    if (id == 0) continue;
    if (vlan) return false;
    vlan = id;
  }
  return vlan == vlan_;
}

bool WanNode::is_for_own_address(const Frame& frame) const {
  return frame.ip.destination == own_ && on_own_vlan(frame);
}

bool WanNode::is_known(const IpAddress& address) const {
  return std::ranges::find(neighbours_, address, &Neighbour::address) != neighbours_.end() ||
         std::ranges::find(peers_, address) != peers_.end();
}

// If there is no room, the frame is not sent. That does no harm: neighbours repeat their requests,
// and this node repeats its own. Half of the queue is reserved for known addresses.
WanNode::PendingFrame* WanNode::new_frame(OwnFrame kind, bool known, std::size_t size,
                                          Instant now) {
  PendingFrame& frame = pending_[(pending_first_ + pending_count_) % kMaxPending];
  if (pending_count_ >= (known ? kMaxPending : kMaxPending / 2) || size > frame.bytes.size()) {
    return nullptr;
  }
  if (!budget_.take(kind, known, size, now)) return nullptr;
  ++pending_count_;
  frame.size = size;
  return &frame;
}

WanNode::PendingFrame* WanNode::new_answer(OwnFrame kind, const IpAddress& to, std::size_t size,
                                           Instant now) {
  if (!speaks_) return nullptr;
  PendingFrame* const frame = new_frame(kind, is_known(to), size, now);
  const bool is_echo = kind == OwnFrame::kEcho;
  if (frame == nullptr) {
    counters_.add(is_echo ? Counter::kPingsOverBudget : Counter::kNeighboursOverBudget);
  } else if (is_echo) {
    counters_.add(Counter::kPingAnswered);
  } else {
    counters_.add(to.is_v4() ? Counter::kArpAnswered : Counter::kNeighbourAnswered);
  }
  return frame;
}

std::size_t WanNode::poll_frame(MutableBytes out) {
  while (pending_count_ > 0) {
    const PendingFrame& frame = pending_[pending_first_];
    pending_first_ = (pending_first_ + 1) % kMaxPending;
    --pending_count_;
    if (frame.size > out.size()) continue;
    std::copy_n(frame.bytes.begin(), frame.size, out.begin());
    return frame.size;
  }
  return 0;
}

void WanNode::note_conflict() {
  if (speaks_) counters_.add(Counter::kAddressConflicts);
}

void WanNode::learn(const IpAddress& address, const MacAddress& mac, Instant now) {
  if (mac.is_multicast() || mac == MacAddress() || mac == mac_) return;
  const auto neighbour = std::ranges::find(neighbours_, address, &Neighbour::address);
  if (neighbour == neighbours_.end()) return;
  neighbour->mac = mac;
  neighbour->unanswered = 0;
  neighbour->next_request = now + kRefreshInterval;
}

bool WanNode::handle_arp(const Frame& frame, Instant now) {
  if (!own_.is_v4() || !on_own_vlan(frame)) return false;
  const auto arp = wire::parse_arp(frame.payload);
  if (!arp) return false;
  // Detects conflicts as in RFC 5227 section 2.4, but does not defend the address: the operator
  // must decide which machine keeps it.
  const bool conflict = arp->sender == own_ && arp->sender_mac != mac_;
  if (conflict) note_conflict();
  if (arp->target != own_) return conflict;  // a false claim is not forwarded
  learn(arp->sender, arp->sender_mac, now);
  if (arp->operation == wire::ArpOperation::kReply) return true;
  const auto ethernet = header_to(arp->sender_mac, wire::EtherType::kArp);
  PendingFrame* out =
      new_answer(OwnFrame::kNeighbour, arp->sender, ethernet.size() + wire::kArpSize, now);
  if (out == nullptr) return true;
  wire::write_ethernet(ethernet, out->bytes);
  wire::write_arp({.operation = wire::ArpOperation::kReply,
                   .sender_mac = mac_,
                   .sender = own_,
                   .target_mac = arp->sender_mac,
                   .target = arp->sender},
                  MutableBytes(out->bytes).subspan(ethernet.size()));
  return true;
}

bool WanNode::speaks_as_own(const Frame& frame) const {
  return wire::is_neighbour_discovery(frame.ip, frame.payload) &&
         (frame.ip.source == own_ || wire::advertised_neighbour(frame.ip, frame.payload) == own_);
}

bool WanNode::handle_icmp(const Frame& frame, Instant now) {
  if (!on_own_vlan(frame)) return false;
  // Another machine asks for its neighbours in the gateway's name, or claims the gateway's address.
  const bool conflict = frame.ethernet.source != mac_ && speaks_as_own(frame);
  if (conflict) note_conflict();
  const bool own = frame.ip.destination == own_;
  if (!own && (own_.is_v4() || frame.ip.destination != solicited_node(own_))) return conflict;
  const auto message = wire::parse_icmp(frame.ip, frame.payload);
  if (!message) return own || conflict;
  if (!own_.is_v4() && (message->type == wire::kIcmpV6NeighbourSolicitation ||
                        message->type == wire::kIcmpV6NeighbourAdvertisement)) {
    return handle_neighbour(frame, *message, now) || own || conflict;
  }
  const std::uint8_t request = own_.is_v4() ? wire::kIcmpEchoRequest : wire::kIcmpV6EchoRequest;
  if (!own || message->type != request || message->code != 0) return own;
  const auto ethernet = header_to(frame.ethernet.source, frame.ethernet.type);
  const std::size_t ip_size = own_.is_v4() ? wire::kIpv4HeaderSize : wire::kIpv6HeaderSize;
  const std::size_t size = ethernet.size() + ip_size + wire::kIcmpHeaderSize + message->body.size();
  PendingFrame* out = new_answer(OwnFrame::kEcho, frame.ip.source, size, now);
  if (out == nullptr) return true;
  wire::IpHeader ip;
  ip.source = own_;
  ip.destination = frame.ip.source;
  ip.protocol = frame.ip.protocol;
  ip.traffic_class = frame.ip.traffic_class;
  ip.payload_size = static_cast<std::uint16_t>(wire::kIcmpHeaderSize + message->body.size());
  wire::IcmpMessage reply = *message;
  reply.type = own_.is_v4() ? wire::kIcmpEchoReply : wire::kIcmpV6EchoReply;
  MutableBytes room(out->bytes);
  wire::write_ethernet(ethernet, room);
  wire::write_ip(ip, room.subspan(ethernet.size()));
  wire::write_icmp(ip, reply, room.subspan(ethernet.size() + ip_size));
  return true;
}

bool WanNode::handle_neighbour(const Frame& frame, const wire::IcmpMessage& message, Instant now) {
  if (frame.ip.hop_limit != 255) return false;  // RFC 4861 section 7.1: it came from another link
  const auto neighbour = wire::parse_neighbour(message);
  if (!neighbour) return false;
  if (neighbour->advertisement) {
    if (neighbour->link_layer) learn(neighbour->target, *neighbour->link_layer, now);
    return frame.ip.destination == own_;
  }
  if (neighbour->target != own_) return false;
  if (neighbour->link_layer) learn(frame.ip.source, *neighbour->link_layer, now);
  const auto ethernet = header_to(frame.ethernet.source, wire::EtherType::kIpv6);
  PendingFrame* out = new_answer(OwnFrame::kNeighbour, frame.ip.source,
                                 ethernet.size() + kNeighbourPacketSize, now);
  if (out == nullptr) return true;
  wire::IpHeader ip;
  ip.source = own_;
  ip.destination = frame.ip.source;
  ip.protocol = wire::kProtocolIcmpV6;
  ip.hop_limit = 255;
  MutableBytes room(out->bytes);
  wire::write_ethernet(ethernet, room);
  const std::size_t ip_at = ethernet.size();
  const std::size_t body =
      wire::write_neighbour(ip, {.advertisement = true, .target = own_, .link_layer = mac_},
                            room.subspan(ip_at + wire::kIpv6HeaderSize));
  ip.payload_size = static_cast<std::uint16_t>(body);
  wire::write_ip(ip, room.subspan(ip_at));
  return true;
}

bool WanNode::request(const Neighbour& neighbour, Instant now) {
  // If the known MAC does not answer, ask all stations, since the device may have been replaced.
  const bool ask_known = neighbour.mac && neighbour.unanswered < kAskAllAfter;
  const std::size_t tags = vlan_ ? 4 : 0;
  PendingFrame* out =
      new_frame(OwnFrame::kNeighbourRequest, true,
                wire::kEthernetHeaderSize + tags +
                    (neighbour.address.is_v4() ? wire::kArpSize : kNeighbourPacketSize),
                now);
  if (out == nullptr) return false;
  MutableBytes room(out->bytes);
  if (neighbour.address.is_v4()) {
    const auto ethernet =
        header_to(ask_known ? *neighbour.mac : MacAddress::broadcast(), wire::EtherType::kArp);
    wire::write_ethernet(ethernet, room);
    wire::write_arp({.operation = wire::ArpOperation::kRequest,
                     .sender_mac = mac_,
                     .sender = own_,
                     .target_mac = {},
                     .target = neighbour.address},
                    room.subspan(ethernet.size()));
    return true;
  }
  wire::IpHeader ip;
  ip.source = own_;
  ip.destination = ask_known ? neighbour.address : solicited_node(neighbour.address);
  ip.protocol = wire::kProtocolIcmpV6;
  ip.hop_limit = 255;
  const auto ethernet =
      header_to(ask_known ? *neighbour.mac : multicast_mac(ip.destination), wire::EtherType::kIpv6);
  wire::write_ethernet(ethernet, room);
  const std::size_t ip_at = ethernet.size();
  const std::size_t body = wire::write_neighbour(
      ip, {.advertisement = false, .target = neighbour.address, .link_layer = mac_},
      room.subspan(ip_at + wire::kIpv6HeaderSize));
  ip.payload_size = static_cast<std::uint16_t>(body);
  wire::write_ip(ip, room.subspan(ip_at));
  return true;
}

void WanNode::handle_timeout(Instant now) {
  std::optional<std::size_t> refused;  // the first neighbour to which no request could be sent
  std::size_t at = first_asked_;
  for (std::size_t i = 0; i < neighbours_.size(); ++i, ++at) {
    if (at == neighbours_.size()) at = 0;
    Neighbour& neighbour = neighbours_[at];
    if (neighbour.next_request > now) continue;
    // If a neighbour stops answering, its MAC is used until another MAC is learned. A neighbour
    // behind a satellite link is silent during an outage, and must be reached at once afterwards.
    const bool asks = speaks_ || !neighbour.mac;
    if (asks && !request(neighbour, now) && !refused) refused = at;
    if (neighbour.unanswered < kAskAllAfter) ++neighbour.unanswered;
    neighbour.next_request = now + kRequestInterval;
  }
  if (refused) first_asked_ = *refused;
}

Instant WanNode::next_timeout() const {
  Instant next = Instant::never();
  for (const Neighbour& neighbour : neighbours_) next = earlier(next, neighbour.next_request);
  return next;
}

std::optional<MacAddress> WanNode::next_hop(FarGatewayId peer) const {
  return neighbours_[neighbour_of_peer_[peer]].mac;
}

void WanNode::write_stp_headers(const LaneAddress& address, std::size_t datagram,
                                control::Priority priority, MutableBytes frame, LinkWay way) const {
  const MacAddress hop = next_hop(address.peer).value_or(MacAddress());
  const bool same = last_.written && last_.address == address && last_.datagram == datagram &&
                    last_.next_hop == hop && last_.priority == priority && last_.way == way;
  if (!same) {
    last_ = {.address = address,
             .datagram = datagram,
             .next_hop = hop,
             .priority = priority,
             .way = way,
             .written = true};
    write_headers(last_, last_.bytes);
  }
  repeat_stp_headers(frame);
}

void WanNode::repeat_stp_headers(MutableBytes frame) const {
  std::memcpy(frame.data(), last_.bytes.data(), stp_header_size_);
  // With IPv4 the UDP checksum is left out (RFC 768): each STP packet has a CRC32C or an
  // authentication tag, and the sum would need a second pass over the payload. IPv6 requires the
  // checksum (RFC 8200 section 8.1).
  if (own_.is_v4()) return;
  const bool sent = last_.way == LinkWay::kSend;
  const MutableBytes udp =
      frame.subspan(stp_header_size_ - wire::kUdpHeaderSize, wire::kUdpHeaderSize + last_.datagram);
  const std::uint16_t sum =
      wire::transport_checksum(sent ? own_ : peers_[last_.address.peer],
                               sent ? peers_[last_.address.peer] : own_, wire::kProtocolUdp, udp);
  store_u16(udp.data() + wire::kUdpChecksumOffset, sum == 0 ? std::uint16_t{0xffff} : sum);
}

void WanNode::write_headers(const Headers& of, MutableBytes out) const {
  const auto type = own_.is_v4() ? wire::EtherType::kIpv4 : wire::EtherType::kIpv6;
  auto ethernet = header_to(of.next_hop, type);
  if (of.way == LinkWay::kReceive) ethernet = ethernet.reversed();
  wire::write_ethernet(ethernet, out);
  const auto udp_size = static_cast<std::uint16_t>(wire::kUdpHeaderSize + of.datagram);
  wire::IpHeader ip;
  ip.source = own_;
  ip.destination = peers_[of.address.peer];
  if (of.way == LinkWay::kReceive) std::swap(ip.source, ip.destination);
  ip.protocol = wire::kProtocolUdp;
  ip.traffic_class = static_cast<std::uint8_t>(control::dscp_of(of.priority) << 2);
  ip.payload_size = udp_size;
  const std::size_t udp_at = ethernet.size() + wire::write_ip(ip, out.subspan(ethernet.size()));
  wire::write_udp({of.address.ports.source, of.address.ports.destination, udp_size, 0},
                  out.subspan(udp_at));
}

}  // namespace satrelay::gateway
