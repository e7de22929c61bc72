#include "relay/gateway/uplink/held_frames.h"

#include <numeric>

#include "pep/base/check.h"

namespace satrelay::gateway {
namespace {

// What a host or a flow sends in its turn: a long frame.
constexpr std::int64_t kQuantum = 1514;
// How often the room that is left may wait of a flow, of its host, and of a host of whose new flow
// this is the first frame.
constexpr std::uint64_t kOfFlow = 1, kOfHost = 2, kOfHostForNewFlow = 4;
// And of slots, of a class.
constexpr std::uint64_t kOfClass = 2;
// A frame of usual length finds room with a host of which nothing waits yet, whoever else is there.
constexpr std::uint64_t kLeast = 1500;

// Nodes of other classes and hosts are others.
std::uint64_t host_key(const HeldKey& key) {
  return schedule::in_class(key.traffic_class, key.host);
}
std::uint64_t flow_key(const HeldKey& key) {
  return key.flow ^ (host_key(key) * 0x9E3779B97F4A7C15U);
}

}  // namespace

HeldFrames::HeldFrames(std::size_t most_frames)
    : slots_(most_frames), free_(most_frames), hosts_(2 * most_frames), flows_(2 * most_frames) {
  SATRELAY_CHECK(most_frames < kNoSlot);
  std::iota(free_.rbegin(), free_.rend(), Slot{0});
}

std::optional<HeldFrames::Slot> HeldFrames::push(const HeldKey& key, std::uint16_t ip_bytes,
                                                 ByteCount limit) {
  Class& c = classes_[key.traffic_class];
  if (free_.empty() || c.frames >= kOfClass * free_.size()) return std::nullopt;
  if (c.bytes + ip_bytes > limit.value()) return std::nullopt;
  const std::uint64_t left = limit.value() - c.bytes;
  const auto finds_room = [&](std::uint64_t waiting, std::uint64_t times) {
    return waiting + ip_bytes <= std::max(times * left, kLeast);
  };
  Flow* flow = flows_.find(flow_key(key));
  const bool is_first = flow == nullptr || flow->empty();
  if (flow != nullptr ? !finds_room(flow->bytes, kOfFlow) : flows_.full()) return std::nullopt;
  Host* host = hosts_.find(host_key(key));
  if (host != nullptr ? !finds_room(host->bytes, is_first ? kOfHostForNewFlow : kOfHost)
                      : hosts_.full()) {
    return std::nullopt;
  }

  const Slot slot = free_.back();
  free_.pop_back();
  slots_[slot] = {kNoSlot, ip_bytes};
  if (host == nullptr) {
    host = &hosts_.add(host_key(key));
    if (shares_ != nullptr) host->share = shares_->join(key.traffic_class, key.host);
  }
  if (!schedule::FairTurns<Host, &Host::hook>::contains(*host)) c.turns.add(*host, kQuantum);
  if (host->frames++ == 0) {
    ++c.hosts;
    if (host->share != nullptr) ++host->share->places;
  }
  host->bytes += ip_bytes;
  if (flow == nullptr) {
    flow = &flows_.add(flow_key(key));
    flow->host = host;
  }
  if (!schedule::FairTurns<Flow, &Flow::hook>::contains(*flow))
    flow->host->flows.add(*flow, kQuantum);
  (flow->empty() ? flow->first : slots_[flow->last].next) = slot;
  flow->last = slot;
  flow->bytes += ip_bytes;
  c.bytes += ip_bytes;
  ++c.frames;
  waiting_ |= schedule::class_bit(key.traffic_class);
  return slot;
}

HeldFrames::Frame HeldFrames::pop(schedule::ClassId traffic_class) {
  Class& c = classes_[traffic_class];
  Host* const host = c.turns.next(kQuantum, [&](Host& over) { forget(over); });
  SATRELAY_CHECK(host != nullptr);
  Flow* const flow = host->flows.next(kQuantum, [&](Flow& over) { flows_.remove(over); });
  SATRELAY_CHECK(flow != nullptr);
  const Slot slot = flow->first;
  const std::uint16_t ip_bytes = slots_[slot].ip_bytes;
  flow->first = slots_[slot].next;
  flow->bytes -= ip_bytes;
  flow->deficit -= ip_bytes;
  host->bytes -= ip_bytes;
  const std::uint32_t factor = host->share == nullptr ? 1 : host->share->factor();
  host->deficit -= std::int64_t{ip_bytes} * factor;
  if (--host->frames == 0) {
    --c.hosts;
    if (host->share != nullptr) --host->share->places;
  }
  c.bytes -= ip_bytes;
  if (--c.frames == 0) waiting_ &= ~schedule::class_bit(traffic_class);
  free_.push_back(slot);
  return {slot, ip_bytes, factor};
}

// Its flows have nothing either.
void HeldFrames::forget(Host& host) {
  host.flows.next(kQuantum, [&](Flow& over) { flows_.remove(over); });
  if (shares_ != nullptr) shares_->leave(host.share);
  hosts_.remove(host);
}

}  // namespace satrelay::gateway
