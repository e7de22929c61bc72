#include "relay/gateway/uplink/held_frames.h"

#include <algorithm>
#include <numeric>

#include "pep/base/check.h"
#include "pep/schedule/fair_tags.h"

namespace satrelay::gateway {
namespace {

// Number of bytes that a host or a flow sends in each turn: the size of a long frame.
constexpr std::int64_t kQuantum = 1514;
// A flow goes first while its tag is less than this number of bytes ahead of its host's clock. The
// limit for a host is higher, since frames of several of its flows may arrive together.
constexpr std::int64_t kFlowAhead = 1514;
constexpr std::uint64_t kHostAhead = 4 * 1514 * schedule::FairTags::kUnit;
// CoDel does not drop a frame if at most this number of bytes of its flow wait behind it.
constexpr std::uint64_t kLong = 1514;
// A class is crowded if it has at least this number of frames for each free slot.
constexpr std::uint64_t kCrowd = 2;
// kMostDrops: maximum number of late frames that one pop() drops. kMostForgotten: maximum number of
// idle flows that one push() or pop() checks.
constexpr int kMostDrops = 32;
constexpr int kMostForgotten = 2;

// Tags wrap, so only their differences are meaningful.
std::uint64_t ahead(std::uint64_t tag, std::uint64_t clock) {
  const auto difference = static_cast<std::int64_t>(tag - clock);
  return difference > 0 ? static_cast<std::uint64_t>(difference) : 0;
}
std::uint64_t furthest(std::uint64_t a, std::uint64_t b) { return b + ahead(a, b); }

// The key of a host includes its class, and the key of a flow includes the key of its host.
std::uint64_t host_key(const HeldKey& key) {
  return schedule::in_class(key.traffic_class, key.host);
}
std::uint64_t flow_key(const HeldKey& key) {
  return key.flow ^ (host_key(key) * 0x9E3779B97F4A7C15U);
}

}  // namespace

HeldFrames::HeldFrames(std::size_t most_frames, std::size_t clocks)
    : clocks_(clocks),
      slots_(most_frames),
      free_(most_frames),
      hosts_(2 * most_frames),
      flows_(2 * most_frames) {
  SATRELAY_CHECK(most_frames < kNoSlot && clocks > 0);
  std::iota(free_.rbegin(), free_.rend(), Slot{0});
  dropped_.reserve(most_frames);
}

// --- frames that arrive ------------------------------------------------------------------------

std::optional<HeldFrames::Slot> HeldFrames::push(const HeldKey& key, std::uint16_t ip_bytes,
                                                 Instant now) {
  forget_some();
  Class& c = classes_[key.traffic_class];
  if (free_.empty()) return std::nullopt;
  const bool is_crowded = c.frames >= kCrowd * free_.size();
  if (is_crowded && !make_room(key)) return std::nullopt;
  if (flows_.full()) {
    if (resting_.empty()) return std::nullopt;
    forget(*resting_.front());
  }
  Flow& flow = flow_of(key);
  Host& host = *flow.host;

  const Slot slot = free_.back();
  free_.pop_back();
  slots_[slot] = {kNoSlot, ip_bytes, now};
  (flow.empty() ? flow.first : slots_[flow.last].next) = slot;
  flow.last = slot;
  flow.bytes += ip_bytes;
  c.bytes += ip_bytes;
  ++c.frames;
  waiting_ |= schedule::class_bit(key.traffic_class);
  if (host.frames++ == 0) {
    ++c.hosts;
    if (host.share != nullptr) ++host.share->places;
  }
  if (flow.frames++ == 0) {
    place(flow, lead(flow) < kFlowAhead ? Flow::Place::kFirst : Flow::Place::kTurns);
  }
  place(host);
  if (host.fattest == nullptr || flow.frames > host.fattest->frames) host.fattest = &flow;
  if (c.fattest == nullptr || host.frames > c.fattest->frames) c.fattest = &host;
  return slot;
}

HeldFrames::Host& HeldFrames::host_of(const HeldKey& key) {
  Host* host = hosts_.find(host_key(key));
  if (host == nullptr) {
    host = &hosts_.add(host_key(key));
    host->traffic_class = key.traffic_class;
    if (shares_ != nullptr) host->share = shares_->join(key.traffic_class, key.host);
  }
  if (host->empty()) {
    const Class& c = class_of(*host);
    if (lead(*host) == 0) {
      // The clock of the class has passed the tag of the host, so what the host and its flows sent
      // before no longer counts against them.
      host->clock = host->latest;
      host->deficit = kQuantum;
    }
    host->tag = furthest(host->tag, c.clock);
  }
  return *host;
}

// Each host has at least one flow. So if there is room for a flow, there is room for its host.
HeldFrames::Flow& HeldFrames::flow_of(const HeldKey& key) {
  Host& host = host_of(key);
  Flow* flow = flows_.find(flow_key(key));
  if (flow == nullptr) {
    flow = &flows_.add(flow_key(key));
    flow->host = &host;
    flow->tag = host.clock;
    resting_.push_back(*flow);
    ++host.known;
  }
  if (flow->empty()) flow->tag = furthest(flow->tag, flow->host->clock);
  return *flow;
}

// Drops a frame of the largest flow of the largest host, and returns true. Another host loses a
// frame only if it keeps at least as many as the host of the new frame then has. The same holds for
// flows. Returns false if the new frame itself must be dropped.
bool HeldFrames::make_room(const HeldKey& key) {
  const Class& c = classes_[key.traffic_class];
  Host* const newcomer = hosts_.find(host_key(key));
  const std::size_t of_newcomer = newcomer == nullptr ? 0 : newcomer->frames;
  Host* host = c.fattest;
  if (host == nullptr || host->empty()) host = c.turns.empty() ? c.first.front() : c.turns.front();
  if (host == nullptr) return false;
  if (host != newcomer && host->frames <= of_newcomer + 1) {
    if (of_newcomer == 0) return false;
    host = newcomer;
  }
  Flow* flow = host->fattest;
  if (flow == nullptr || flow->empty()) flow = &next_flow(*host);
  if (host == newcomer) {
    const Flow* const own = flows_.find(flow_key(key));
    if (flow != own && flow->frames <= (own == nullptr ? 0 : own->frames) + 1) return false;
  }
  drop_head(*flow, Cause::kCrowded);
  return true;
}

// --- frames that are sent ----------------------------------------------------------------------

bool HeldFrames::goes_first(const Class& c) {
  return !c.first.empty() && (c.turns.empty() || c.first_share.preferred());
}

std::int64_t HeldFrames::lead(const Flow& flow) {
  return static_cast<std::int64_t>(ahead(flow.tag, flow.host->clock));
}

std::uint64_t HeldFrames::lead(const Host& host) const {
  return ahead(host.tag, class_of(host).clock);
}

std::uint64_t HeldFrames::lead(schedule::ClassId traffic_class) const {
  const Class& c = classes_[traffic_class];
  return c.frames == 0 || goes_first(c) ? 0 : lead(*c.turns.front()) / clocks_;
}

void HeldFrames::forgive(schedule::ClassId traffic_class) {
  Class& c = classes_[traffic_class];
  c.clock = furthest(c.latest, c.clock);
}

HeldFrames::Flow& HeldFrames::next_flow(Host& host) {
  const bool first = !host.first.empty() && (host.in_turns == 0 || host.first_share.preferred());
  Flow* const flow = first ? host.first.front() : host.turns.next(kQuantum, [](Flow&) {});
  SATRELAY_CHECK(flow != nullptr);
  return *flow;
}

std::optional<HeldFrames::Frame> HeldFrames::pop(schedule::ClassId traffic_class,
                                                 const Terms& terms, Instant now) {
  forget_some();
  Class& c = classes_[traffic_class];
  for (int drops = 0; c.frames > 0; ++drops) {
    const bool first = goes_first(c);
    Host* const host = first ? c.first.front() : c.turns.next(kQuantum, [](Host&) {});
    SATRELAY_CHECK(host != nullptr);
    Flow& flow = next_flow(*host);
    if (drops < kMostDrops && is_late(flow, terms, now)) {
      drop_head(flow, Cause::kLate);
      continue;
    }
    const Queued head = slots_[flow.first];
    const std::uint64_t behind = first ? 0 : lead(*host);
    c.clock += behind;
    charge(flow, head.ip_bytes + std::uint64_t{terms.overhead}, first);
    const Slot slot = take_head(flow);
    free_.push_back(slot);
    settle(flow);
    return Frame{slot, head.ip_bytes, now - head.since, behind / clocks_};
  }
  return std::nullopt;
}

bool HeldFrames::is_late(Flow& flow, const Terms& terms, Instant now) const {
  const Queued& head = slots_[flow.first];
  const Duration waited = now - head.since;
  const bool by_law = flow.codel.drops(
      {.waited = waited, .is_followed = flow.bytes - head.ip_bytes > kLong}, terms.law, now);
  return by_law || (waited > terms.most && class_of(*flow.host).bytes > terms.few.value());
}

// Charges the bytes to the flow and to its host. Also counts them for kFirstShare, which is the
// maximum share of flows or hosts that go first while others take turns.
void HeldFrames::charge(Flow& flow, std::uint64_t bytes, bool host_goes_first) {
  Host& host = *flow.host;
  Class& c = class_of(host);
  const bool flow_goes_first = flow.place == Flow::Place::kFirst;
  if (!flow_goes_first || host.in_turns == 0) host.clock = furthest(flow.tag, host.clock);
  flow.tag += bytes;
  flow.deficit -= static_cast<std::int64_t>(bytes);
  host.latest = furthest(flow.tag, host.latest);
  if (!flow_goes_first) {
    host.first_share.on_other(bytes, kFirstShare);
  } else if (host.in_turns > 0) {
    host.first_share.on_preferred(bytes, kFirstShare);
  }

  const std::uint64_t booked = bytes * (host.share == nullptr ? 1 : host.share->factor());
  host.tag += booked * schedule::FairTags::kUnit * clocks_;
  host.deficit -= static_cast<std::int64_t>(booked);
  c.latest = furthest(host.tag, c.latest);
  if (!host_goes_first) {
    c.first_share.on_other(bytes, kFirstShare);
  } else if (!c.turns.empty()) {
    c.first_share.on_preferred(bytes, kFirstShare);
  }
}

HeldFrames::Slot HeldFrames::take_head(Flow& flow) {
  Host& host = *flow.host;
  Class& c = class_of(host);
  const Slot slot = flow.first;
  const std::uint16_t ip_bytes = slots_[slot].ip_bytes;
  flow.first = slots_[slot].next;
  flow.bytes -= ip_bytes;
  --flow.frames;
  if (--host.frames == 0) {
    --c.hosts;
    if (host.share != nullptr) --host.share->places;
  }
  c.bytes -= ip_bytes;
  if (--c.frames == 0) waiting_ &= ~schedule::class_bit(host.traffic_class);
  return slot;
}

void HeldFrames::drop_head(Flow& flow, Cause cause) {
  dropped_.push_back({take_head(flow), flow.host->traffic_class, cause});
  settle(flow);
}

std::optional<HeldFrames::Dropped> HeldFrames::take_dropped() {
  if (dropped_.empty()) return std::nullopt;
  const Dropped last = dropped_.back();
  dropped_.pop_back();
  free_.push_back(last.slot);
  return last;
}

// --- queues of flows and hosts -----------------------------------------------------------------

void HeldFrames::place(Flow& flow, Flow::Place place) {
  Host& host = *flow.host;
  switch (flow.place) {
    case Flow::Place::kFirst:
      host.first.remove(flow);
      break;
    case Flow::Place::kTurns:
      host.turns.remove(flow);
      --host.in_turns;
      break;
    case Flow::Place::kRests:
      resting_.remove(flow);
      break;
  }
  flow.place = place;
  switch (place) {
    case Flow::Place::kFirst:
      flow.deficit = kFlowAhead - lead(flow);
      host.first.push_back(flow);
      break;
    case Flow::Place::kTurns:
      host.turns.add(flow, kQuantum, false);
      ++host.in_turns;
      break;
    case Flow::Place::kRests:
      resting_.push_back(flow);
      break;
  }
}

// Call this after a frame of the flow has left its queue.
void HeldFrames::settle(Flow& flow) {
  Host& host = *flow.host;
  Class& c = class_of(host);
  if (flow.empty()) {
    place(flow, Flow::Place::kRests);
  } else if (flow.place == Flow::Place::kFirst) {
    if (flow.deficit > 0) {
      host.first.move_to_back(flow);
    } else {
      place(flow, Flow::Place::kTurns);
    }
  }
  c.first.remove(host);
  place(host);
}

// Puts the host into its queues. It goes first if one of its flows goes first, and if the host has
// sent hardly more than its share. It takes turns if one of its flows takes turns, or if the host
// has frames and does not go first. It may be in both queues.
void HeldFrames::place(Host& host) {
  using Turns = schedule::FairTurns<Host, &Host::hook>;
  Class& c = class_of(host);
  const bool goes_first = !host.first.empty() && lead(host) < kHostAhead * clocks_;
  if (goes_first) c.first.push_back(host);
  const bool takes_turns = host.in_turns > 0 || (!host.empty() && !host.first_hook.linked());
  if (takes_turns == Turns::contains(host)) return;
  if (takes_turns) {
    c.turns.add(host, host.deficit, false);
  } else {
    c.turns.remove(host);
  }
}

// --- forgetting --------------------------------------------------------------------------------

// Whether the flow can be forgotten without an advantage for it. This is so if its host has no
// frames and is not ahead of the clock of its class. It is also so if the flow is not ahead of its
// host's clock, unless it is the last flow of the host: the host is forgotten with its last flow.
bool HeldFrames::is_over(const Flow& flow) const {
  const Host& host = *flow.host;
  if (host.empty() && lead(host) == 0) return true;
  return host.known > 1 && lead(flow) == 0;
}

void HeldFrames::forget_some() {
  for (int i = 0; i < kMostForgotten && !resting_.empty(); ++i) {
    Flow& flow = *resting_.front();
    if (is_over(flow)) {
      forget(flow);
    } else {
      resting_.move_to_back(flow);
    }
  }
}

void HeldFrames::forget(Flow& flow) {
  Host& host = *flow.host;
  Class& c = class_of(host);
  resting_.remove(flow);
  if (host.fattest == &flow) host.fattest = nullptr;
  flows_.remove(flow);
  if (--host.known > 0) return;
  if (c.fattest == &host) c.fattest = nullptr;
  if (shares_ != nullptr) shares_->leave(host.share);
  hosts_.remove(host);
}

}  // namespace satrelay::gateway
