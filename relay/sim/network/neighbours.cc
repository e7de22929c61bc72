#include "relay/sim/network/neighbours.h"

#include <algorithm>

#include "pep/wire/arp.h"
#include "pep/wire/icmp.h"
#include "pep/wire/ip.h"

namespace satrelay::sim {
namespace {

// The largest number of frames that wait for one address. A further frame replaces the oldest.
constexpr std::size_t kMostWaiting = 64;
constexpr int kMostRequests = 60;

}  // namespace

wire::EthernetHeader Neighbours::header(const MacAddress& destination, wire::EtherType type) const {
  wire::EthernetHeader h;
  h.destination = destination;
  h.source = own_.mac;
  h.type = type;
  if (own_.vlan) {
    h.tags[0] = *own_.vlan;
    h.tag_count = 1;
  }
  return h;
}

void Neighbours::learn(const IpAddress& address, const MacAddress& mac) {
  known_[address] = mac;
  const auto pending = pending_.find(address);
  if (pending == pending_.end()) return;
  for (const FrameHandle frame : pending->second.frames) {
    std::copy(mac.octets.begin(), mac.octets.end(),
              reinterpret_cast<std::uint8_t*>(frames_->room(frame).data()));
    queue(frame);
  }
  pending_.erase(pending);
}

void Neighbours::send(FrameHandle frame, const IpAddress& destination, Instant now) {
  const auto known = known_.find(destination);
  if (known != known_.end()) {
    std::copy(known->second.octets.begin(), known->second.octets.end(),
              reinterpret_cast<std::uint8_t*>(frames_->room(frame).data()));
    queue(frame);
    return;
  }
  const bool first = pending_.find(destination) == pending_.end();
  Pending& pending = pending_[destination];
  pending.frames.push_back(frame);
  if (pending.frames.size() > kMostWaiting) {
    frames_->release(pending.frames.front());
    pending.frames.pop_front();
  }
  if (first) {
    request(destination);
    pending.requests = 1;
    pending.next_request = now + Duration::seconds(1);
  }
}

void Neighbours::request(const IpAddress& address) {
  const FrameHandle frame = frames_->acquire();
  const MutableBytes out = frames_->room(frame);
  if (address.is_v4()) {
    const auto ethernet = header(MacAddress::broadcast(), wire::EtherType::kArp);
    wire::write_ethernet(ethernet, out);
    wire::write_arp({wire::ArpOperation::kRequest, own_.mac, own_.v4, MacAddress(), address},
                    out.subspan(ethernet.size()));
    frames_->set_size(frame, ethernet.size() + wire::kArpSize);
  } else {
    // RFC 4861 section 7.2.2: ask the solicited-node multicast address.
    const auto& octets = address.octets();
    const MacAddress mac{{0x33, 0x33, 0xff, octets[13], octets[14], octets[15]}};
    const auto ethernet = header(mac, wire::EtherType::kIpv6);
    wire::write_ethernet(ethernet, out);
    wire::IpHeader ip;
    ip.source = own_.v6;
    ip.destination = IpAddress::v6(
        {0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, octets[13], octets[14], octets[15]});
    ip.protocol = wire::kProtocolIcmpV6;
    ip.hop_limit = 255;
    const MutableBytes body = out.subspan(ethernet.size() + wire::kIpv6HeaderSize);
    ip.payload_size =
        static_cast<std::uint16_t>(wire::write_neighbour(ip, {false, address, own_.mac}, body));
    wire::write_ip(ip, out.subspan(ethernet.size()));
    frames_->set_size(frame, ethernet.size() + wire::kIpv6HeaderSize + ip.payload_size);
  }
  queue(frame);
}

void Neighbours::answer_arp(const IpAddress& target, const MacAddress& to_mac,
                            const IpAddress& to) {
  const FrameHandle frame = frames_->acquire();
  const MutableBytes out = frames_->room(frame);
  const auto ethernet = header(to_mac, wire::EtherType::kArp);
  wire::write_ethernet(ethernet, out);
  wire::write_arp({wire::ArpOperation::kReply, own_.mac, target, to_mac, to},
                  out.subspan(ethernet.size()));
  frames_->set_size(frame, ethernet.size() + wire::kArpSize);
  queue(frame);
}

void Neighbours::answer_neighbour(const MacAddress& to_mac, const IpAddress& to) {
  const FrameHandle frame = frames_->acquire();
  const MutableBytes out = frames_->room(frame);
  const auto ethernet = header(to_mac, wire::EtherType::kIpv6);
  wire::write_ethernet(ethernet, out);
  wire::IpHeader ip;
  ip.source = own_.v6;
  ip.destination = to;
  ip.protocol = wire::kProtocolIcmpV6;
  ip.hop_limit = 255;
  const MutableBytes body = out.subspan(ethernet.size() + wire::kIpv6HeaderSize);
  ip.payload_size =
      static_cast<std::uint16_t>(wire::write_neighbour(ip, {true, own_.v6, own_.mac}, body));
  wire::write_ip(ip, out.subspan(ethernet.size()));
  frames_->set_size(frame, ethernet.size() + wire::kIpv6HeaderSize + ip.payload_size);
  queue(frame);
}

bool Neighbours::handle_frame(const wire::EthernetHeader& ethernet, ConstBytes payload, Instant) {
  if (ethernet.type == wire::EtherType::kArp) {
    const auto arp = wire::parse_arp(payload);
    if (!arp || arp->target != own_.v4) return true;
    learn(arp->sender, arp->sender_mac);
    if (arp->operation == wire::ArpOperation::kRequest) {
      answer_arp(own_.v4, arp->sender_mac, arp->sender);
    }
    return true;
  }
  if (ethernet.type != wire::EtherType::kIpv6) return false;
  const auto ip = wire::parse_ip(payload);
  if (!ip || ip->protocol != wire::kProtocolIcmpV6) return false;
  const auto icmp = wire::parse_icmp(*ip, payload.subspan(ip->header_size, ip->payload_size));
  if (!icmp) return true;
  const auto message = wire::parse_neighbour(*icmp);
  if (!message) return false;
  if (message->advertisement) {
    if (message->link_layer) learn(message->target, *message->link_layer);
  } else if (message->target == own_.v6) {
    if (message->link_layer) learn(ip->source, *message->link_layer);
    answer_neighbour(ethernet.source, ip->source);
  }
  return true;
}

void Neighbours::handle_timeout(Instant now) {
  for (auto it = pending_.begin(); it != pending_.end();) {
    Pending& pending = it->second;
    if (pending.next_request <= now) {
      if (pending.requests >= kMostRequests) {
        for (const FrameHandle frame : pending.frames) frames_->release(frame);
        it = pending_.erase(it);
        continue;
      }
      request(it->first);
      ++pending.requests;
      pending.next_request = now + Duration::seconds(1);
    }
    ++it;
  }
}

std::optional<FrameHandle> Neighbours::poll() {
  if (ready_.empty()) return std::nullopt;
  const FrameHandle frame = ready_.front();
  ready_.pop_front();
  return frame;
}

Instant Neighbours::next_timeout() const {
  Instant next = Instant::never();
  for (const auto& [address, pending] : pending_) next = earlier(next, pending.next_request);
  return next;
}

void Neighbours::clear() {
  for (auto& [address, pending] : pending_) {
    for (const FrameHandle frame : pending.frames) frames_->release(frame);
  }
  pending_.clear();
  for (const FrameHandle frame : ready_) frames_->release(frame);
  ready_.clear();
}

}  // namespace satrelay::sim
