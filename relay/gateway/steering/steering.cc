#include "relay/gateway/steering/steering.h"

#include <algorithm>
#include <utility>

#include "config/model/peers.h"
#include "pep/base/check.h"
#include "pep/wire/icmp.h"
#include "relay/gateway/frames/fragments/reassembly.h"
#include "relay/gateway/steering/flow_hash.h"

namespace satrelay::gateway {
namespace {

bool has_ports(std::uint8_t protocol) {
  return protocol == wire::kProtocolTcp || protocol == wire::kProtocolUdp;
}

bool shows_ports(const Frame& frame) {
  return has_ports(frame.ip.protocol) && !hides_transport(frame) &&
         !frame.extensions.segments_left && frame.payload.size() >= 4;
}

}  // namespace

Steering::Steering(const config::Gateway& config, HashKey secret,
                   std::shared_ptr<const AwaitedAnswers> awaited)
    : workers_(config.worker.count),
      own_(config.gateway.own),
      stp_port_(config.stp.port),
      secret_(secret),
      most_frame_size_(wire::kMaxEthernetHeaderSize + config.lan.mtu),
      awaited_(std::move(awaited)) {
  SATRELAY_CHECK(workers_ > 0 && (workers_ & (workers_ - 1)) == 0);
  if (workers_ == 1) return;
  datagrams_.resize(kHosts * kDatagramsOfHost);
  kept_.resize(kMostKept);
  waiting_.reserve(kMostKept);
  released_.reserve(kMostKept);
}

Route Steering::route(PortId port, ConstBytes frame, Instant now) {
  if (workers_ == 1) return {};
  return route(port, look_at(frame), frame, now);
}

Route Steering::route(PortId port, const Frame& frame, ConstBytes bytes, Instant now) {
  if (workers_ == 1) return {};
  // Free the memory of the frames that the previous call has released.
  for (const std::size_t at : released_) kept_[at].key = 0;
  released_.clear();
  released_taken_ = 0;
  switch (frame.kind) {
    case FrameKind::kMalformed:
    case FrameKind::kNotIp:
      return {};
    case FrameKind::kArp:
      return {.all = may_be_overheard(port, frame, now)};
    case FrameKind::kFragment:
      return route_fragment(port, frame, bytes, now);
    default:
      break;
  }
  if (is_icmp(frame)) return route_icmp(port, frame, now);
  if (!shows_ports(frame)) return {.worker = by_addresses(frame)};
  if (port == PortId::kWan && frame.ip.protocol == wire::kProtocolUdp &&
      frame.ip.destination == own_) {
    return {.worker = by_lane(load_u16(frame.payload.data() + 2)).value_or(0)};
  }
  return {.worker = by_ports(frame)};
}

unsigned Steering::by_addresses(const Frame& frame) const {
  return worker_of(flow_hash(frame.ip.source, frame.ip.destination, 0, 0));
}

unsigned Steering::by_ports(const Frame& frame) const {
  return worker_of(flow_hash(frame.ip.source, frame.ip.destination, load_u16(frame.payload.data()),
                             load_u16(frame.payload.data() + 2)));
}

std::optional<unsigned> Steering::by_lane(std::uint16_t port) const {
  const unsigned lane = unsigned{port} - stp_port_;
  if (port < stp_port_ || lane >= config::kMostWorkers) return std::nullopt;
  return lane & (workers_ - 1);
}

// Returns whether all workers must get the frame. Above kOverheardPerSecond, only the first worker
// gets a frame from the LAN: the other workers can learn the host's address from a later frame.
// Frames from the WAN are not limited, since all workers need the MACs of next hops.
bool Steering::may_be_overheard(PortId port, const Frame& frame, Instant now) {
  if (port == PortId::kWan) return true;
  constexpr Duration kEach = Duration::seconds(1) / kOverheardPerSecond;
  Instant& until = overheard_until_[frame.ethernet.destination.is_multicast() ? 0 : 1];
  const Instant next = later(until, now) + kEach;
  if (next > now + kEach * kOverheardAtOnce) {
    if (is_awaited(frame, now)) return true;
    ++counters_.not_overheard;
    return false;
  }
  until = next;
  return true;
}

// If a worker waits for an answer, the answer must reach all workers even in a flood. Otherwise the
// owner of the address would seem to be silent.
bool Steering::is_awaited(const Frame& frame, Instant now) {
  const auto told = awaited_ ? announced_owner(frame) : std::nullopt;
  const auto answer = told ? awaited_->find(*told, now) : std::nullopt;
  if (!answer) return false;
  Instant& next = next_answer_[*answer % kAnswers];
  if (now < next) return false;
  next = now + kBetweenAnswers;
  return true;
}

Route Steering::route_icmp(PortId port, const Frame& frame, Instant now) {
  // All workers learn hosts' addresses from such frames.
  if (wire::is_neighbour_discovery(frame.ip, frame.payload)) {
    return {.all = may_be_overheard(port, frame, now)};
  }
  const bool own = port == PortId::kWan && frame.ip.destination == own_;
  const Route other{.worker = own ? 0 : by_addresses(frame)};
  const auto message = wire::parse_icmp(frame.ip, frame.payload);
  if (!message || !wire::is_icmp_error(frame.ip, *message)) return other;
  const auto quoted = wire::parse_quoted_flow(frame.ip, *message);
  if (!quoted) return other;
  if (own && quoted->protocol == wire::kProtocolUdp && quoted->source == own_) {
    return {.worker = by_lane(quoted->destination_port).value_or(0)};
  }
  if (own) return other;
  return {.worker = worker_of(flow_hash(quoted->source, quoted->destination, quoted->source_port,
                                        quoted->destination_port))};
}

// --- fragments ---------------------------------------------------------------------------------

std::uint64_t Steering::key_of(const Frame& fragment) const {
  FlowKey key;
  key.local = fragment.ip.source;
  key.remote = fragment.ip.destination;
  key.vlans = vlans_of(fragment.ethernet);
  const auto& extension = fragment.extensions.fragment;
  const std::uint32_t id = extension ? extension->identification : fragment.ip.identification;
  return sip_hash(secret_, key, id) | 1;
}

// Each source address has entries of its own, so a host that sends very many fragments replaces
// only its own entries.
Steering::Datagram& Steering::place_of(const Frame& fragment, std::uint64_t key) {
  const std::size_t host = hash_host(secret_, fragment.ip.source) % kHosts;
  return datagrams_[host * kDatagramsOfHost + key / 2 % kDatagramsOfHost];
}

Route Steering::route_fragment(PortId port, const Frame& frame, ConstBytes bytes, Instant now) {
  const bool own = port == PortId::kWan && frame.ip.destination == own_;
  if (own) return {};  // STP packets are never sent in fragments
  if (!waiting_.empty()) expire(now);
  const std::uint64_t key = key_of(frame);
  Datagram& datagram = place_of(frame, key);
  const bool is_known = datagram.key == key && now < datagram.until;
  if (frame.ip.is_first_fragment()) {
    // If a different first fragment arrives later, keep the worker of the earlier one: such a
    // datagram is not reassembled.
    if (!is_known) {
      datagram = {.key = key,
                  .until = now + Reassembly::kTimeout,
                  .worker = shows_ports(frame) ? by_ports(frame) : by_addresses(frame)};
    }
    release(key, datagram.worker);
    return {.worker = datagram.worker};
  }
  if (is_known) return {.worker = datagram.worker};
  if (port == PortId::kWan || !Reassembly::may_be_tcp(frame)) {
    return {.worker = by_addresses(frame)};
  }
  return keep(key, frame, bytes, now);
}

Route Steering::keep(std::uint64_t key, const Frame& fragment, ConstBytes bytes, Instant now) {
  constexpr Route kKept{.kept = true};
  const auto of_host = std::ranges::count(waiting_, fragment.ip.source,
                                          [&](std::size_t at) { return kept_[at].source; });
  const auto place = std::ranges::find(kept_, std::uint64_t{0}, &Kept::key);
  if (place == kept_.end() || of_host >= static_cast<std::ptrdiff_t>(kMostKeptOfHost) ||
      bytes.size() > most_frame_size_) {
    ++counters_.dropped_no_room;
    return kKept;
  }
  place->key = key;
  place->source = fragment.ip.source;
  place->until = now + kPatience;
  place->bytes.reserve(most_frame_size_);
  place->bytes.assign(bytes.begin(), bytes.end());
  waiting_.push_back(static_cast<std::size_t>(place - kept_.begin()));
  ++counters_.kept;
  return kKept;
}

void Steering::release(std::uint64_t key, unsigned worker) {
  if (waiting_.empty()) return;
  const auto is_of_it = [&](std::size_t at) { return kept_[at].key == key; };
  std::ranges::copy_if(waiting_, std::back_inserter(released_), is_of_it);
  std::erase_if(waiting_, is_of_it);
  released_to_ = worker;
}

std::optional<Steering::Released> Steering::take_released() {
  if (released_taken_ == released_.size()) return std::nullopt;
  return Released{.worker = released_to_, .frame = kept_[released_[released_taken_++]].bytes};
}

void Steering::expire(Instant now) {
  counters_.dropped_late += std::erase_if(waiting_, [&](std::size_t at) {
    if (now < kept_[at].until) return false;
    kept_[at].key = 0;
    return true;
  });
}

}  // namespace satrelay::gateway
