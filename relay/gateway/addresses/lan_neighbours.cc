#include "relay/gateway/addresses/lan_neighbours.h"

#include <algorithm>

#include "config/peers.h"
#include "pep/wire/arp.h"
#include "pep/wire/icmp.h"
#include "relay/gateway/addresses/solicited_node.h"

namespace satrelay::gateway {
namespace {

constexpr Duration kInterval = Duration::seconds(1);

bool is_packet(const Frame& frame) {
  return frame.kind != FrameKind::kMalformed && frame.kind != FrameKind::kNotIp &&
         frame.kind != FrameKind::kArp;
}

}  // namespace

LanNeighbours::LanNeighbours(const config::Gateway& config, const Policy& policy, HashKey key)
    : policy_(policy), key_(key), any_(config::has_peers_behind_routers(config)) {
  for (const config::Peer& peer : config.peers) {
    routed_.push_back(config::is_behind_router(config, peer));
  }
  if (any_) entries_.resize(kEntries);
  questions_.reserve(kQuestions);
}

std::size_t LanNeighbours::place(const IpAddress& host) const {
  FlowKey flow;
  flow.local = host;
  return hash_flow(key_, flow) % kEntries;
}

std::optional<wire::EthernetHeader> LanNeighbours::find(const IpAddress& host, Instant now) const {
  if (!any_) return std::nullopt;
  const Entry& entry = entries_[place(host)];
  const bool known = is_valid(entry, now) && entry.source != Source::kWan && entry.host == host;
  return known ? std::optional(entry.towards) : std::nullopt;
}

bool LanNeighbours::is_far(const IpAddress& host) const {
  const auto peer = policy_.peer_for(host);
  return peer && routed_[*peer];
}

LanNeighbours::Heard LanNeighbours::put(const IpAddress& host,
                                        const wire::EthernetHeader& towards) {
  entries_[place(host)] = {.host = host, .towards = towards, .source = Source::kLan};
  std::erase_if(questions_, [&](const Question& question) { return question.host == host; });
  return {host, towards};
}

// An answer tells the host's MAC, but not which of the router's it uses: as before, or the one that
// the gateway uses itself.
std::optional<LanNeighbours::Heard> LanNeighbours::put_mac(const IpAddress& host,
                                                           const MacAddress& mac,
                                                           const wire::EthernetHeader& seen) {
  if (mac.is_multicast() || mac == MacAddress() || mac == router_) return std::nullopt;
  wire::EthernetHeader towards = seen;
  const Entry& known = entries_[place(host)];
  const bool same =
      known.source == Source::kLan && known.host == host && known.towards.tags == seen.tags;
  towards.source = same ? known.towards.source : router_;
  towards.destination = mac;
  return put(host, towards);
}

std::optional<LanNeighbours::Heard> LanNeighbours::learn_from_lan(const Frame& frame) {
  if (!any_) return std::nullopt;
  if (frame.kind == FrameKind::kArp) {
    const auto arp = wire::parse_arp(frame.payload);
    if (!arp || arp->sender == IpAddress::v4({})) return std::nullopt;
    return put_mac(arp->sender, arp->sender_mac, frame.ethernet);
  }
  if (!is_packet(frame)) return std::nullopt;
  if (frame.kind == FrameKind::kIcmp && !frame.ip.source.is_v4() && frame.ip.hop_limit == 255) {
    const auto message = wire::parse_icmp(frame.ip, frame.payload);
    const auto neighbour = message ? wire::parse_neighbour(*message) : std::nullopt;
    if (neighbour && neighbour->advertisement && neighbour->link_layer) {
      return put_mac(neighbour->target, *neighbour->link_layer, frame.ethernet);
    }
  }
  const wire::EthernetHeader& seen = frame.ethernet;
  if (seen.source.is_multicast() || seen.destination.is_multicast() ||
      !is_far(frame.ip.destination)) {
    return std::nullopt;
  }
  return put(frame.ip.source, seen.reversed());
}

void LanNeighbours::note_from_wan(const Frame& frame, Instant now) {
  if (!any_ || !is_packet(frame) || frame.ethernet.destination.is_multicast()) return;
  Entry& entry = entries_[place(frame.ip.destination)];
  if (is_valid(entry, now) || !is_far(frame.ip.source) || is_far(frame.ip.destination)) return;
  entry = {.host = frame.ip.destination,
           .towards = frame.ethernet,
           .source = Source::kWan,
           .until = now + kNoted};
}

// --- questions ---------------------------------------------------------------------------------

void LanNeighbours::ask(const IpAddress& host, Instant now) {
  if (std::ranges::find(questions_, host, &Question::host) != questions_.end()) return;
  if (questions_.size() == kQuestions) questions_.erase(questions_.begin());
  questions_.push_back({.host = host, .next = now + kInterval, .left = kTries - 1, .due = true});
}

void LanNeighbours::handle_timeout(Instant now) {
  std::erase_if(questions_, [&](Question& question) {
    if (question.next > now) return false;
    if (question.left == 0) return true;
    --question.left;
    question.due = true;
    question.falls_back = question.left == 0;
    question.next = now + kInterval;
    return false;
  });
}

std::optional<LanNeighbours::Heard> LanNeighbours::take_unanswered(Instant now) {
  const auto question = std::ranges::find(questions_, true, &Question::falls_back);
  if (question == questions_.end()) return std::nullopt;
  question->falls_back = false;
  Entry& entry = entries_[place(question->host)];
  if (!is_valid(entry, now) || entry.host != question->host) return std::nullopt;
  if (entry.source == Source::kWan) {
    entry.source = Source::kUnanswered;
    entry.until = now + kNoted;
  }
  return Heard{entry.host, entry.towards};
}

Instant LanNeighbours::next_timeout() const {
  Instant next = Instant::never();
  for (const Question& question : questions_) {
    next = earlier(next, question.falls_back ? Instant() : question.next);
  }
  return next;
}

std::size_t LanNeighbours::poll_frame(MutableBytes out) {
  const auto question = std::ranges::find(questions_, true, &Question::due);
  if (question == questions_.end()) return 0;
  question->due = false;
  wire::EthernetHeader ethernet;
  ethernet.source = router_;
  if (question->host.is_v4()) {
    ethernet.destination = MacAddress::broadcast();
    ethernet.type = wire::EtherType::kArp;
    wire::write_ethernet(ethernet, out);
    wire::write_arp({.operation = wire::ArpOperation::kRequest,
                     .sender_mac = router_,
                     .sender = IpAddress::v4({}),
                     .target_mac = {},
                     .target = question->host},
                    out.subspan(ethernet.size()));
    return ethernet.size() + wire::kArpSize;
  }
  wire::IpHeader ip;
  ip.source = IpAddress::v6({});
  ip.destination = solicited_node(question->host);
  ip.protocol = wire::kProtocolIcmpV6;
  ip.hop_limit = 255;
  ethernet.destination = multicast_mac(ip.destination);
  ethernet.type = wire::EtherType::kIpv6;
  wire::write_ethernet(ethernet, out);
  const std::size_t ip_at = ethernet.size();
  const std::size_t body = wire::write_neighbour(
      ip, {.advertisement = false, .target = question->host, .link_layer = {}},
      out.subspan(ip_at + wire::kIpv6HeaderSize));
  ip.payload_size = static_cast<std::uint16_t>(body);
  wire::write_ip(ip, out.subspan(ip_at));
  return ip_at + wire::kIpv6HeaderSize + body;
}

}  // namespace satrelay::gateway
