#include "relay/gateway/uplink/uplink.h"

#include <algorithm>
#include <array>

#include "config/model/traffic_class.h"
#include "relay/gateway/uplink/held_key.h"

namespace satrelay::gateway {

using schedule::ClassId;
using schedule::ClassSet;

namespace {

// Hosts besides those of flows: the hosts of bridged frames, and one for streams that carry no
// flow.
constexpr std::size_t kMostHeldHosts = 2 * kMostHeldFrames + 1;

}  // namespace

Uplink::Uplink(const config::Gateway& config, std::size_t lanes, HashKey secret,
               ReleasedFragments& released, SessionPort& port, Instant now)
    : secret_(secret),
      fair_hosts_(config.fair_hosts),
      released_(released),
      port_(port),
      classes_(config.classes, ClassDictionaries(config.classes, config.compress_level)),
      ready_set_(lanes),
      has_bridged_share_(std::ranges::any_of(
          config.links, [](const config::Link& link) { return link.bridged_share.has_value(); })),
      held_(kMostHeldFrames, std::max<std::size_t>(config.links.size(), 1)) {
  for (const config::Link& link : config.links) {
    const LinkId id = carriers_.push_back(
        std::make_unique<Carrier>(link, lanes + 1, config.limits.flows + kMostHeldHosts,
                                  config.stp.feedback.budget, config.worker.count));
    carriers_[id]->id = id;
  }
  for (const LaneId lane : id_range(LaneId(), LaneId(lanes)))
    ready_set_.rest(lane, Instant::never());
  // The gateway does not know which of several links a bridged frame takes.
  if (carriers_.size() == 1) held_.share_with(carriers_.front()->host_shares);
  apply_classes(now);
}

Carrier* Uplink::find(std::string_view link) const {
  const auto found = std::ranges::find_if(
      carriers_, [&](const auto& carrier) { return carrier->config.name == link; });
  return found == carriers_.end() ? nullptr : found->get();
}

void Uplink::add_lane(std::span<const LinkId> links, stp::Session& session,
                      std::uint16_t datagram_overhead, unsigned lanes) {
  for (const LinkId link : links) carriers_[link]->has_peers = true;
  ready_set_.wake(
      lines_.push_back({links, *carriers_[links.front()], session, datagram_overhead, lanes}));
}

// --- bridged frames ----------------------------------------------------------------------------

Uplink::BridgeOutcome Uplink::admit(ClassId id, const Frame& frame, std::size_t ip_bytes,
                                    Instant now) {
  // Fragments that came earlier leave first.
  const bool must_wait = released_.any_to_send() && !frame.reassembled;
  const ClassId turn = turn_of(id);
  const bool is_first = !must_wait && (held_.classes() & schedule::class_bit(turn)) == 0;
  if (is_first) {
    if (const auto way = way_out(turn, now); way && way->is_only_source) {
      held_.forgive(turn);
      debit_bridged(*way, 0, ip_bytes, now);
      return BridgeOutcome::kLeaves;
    }
  }
  const auto slot = held_.push(held_key(secret_, fair_hosts_, turn, frame),
                               static_cast<std::uint16_t>(ip_bytes), now);
  if (!slot) {
    ++classes_[id].use.dropped_frames;
    return BridgeOutcome::kNoRoom;
  }
  // Sessions wait in the class, too. So the frame is booked to its host, which may have had its
  // turns already.
  if (const auto way = is_first ? way_out(turn, now) : std::nullopt) {
    const auto held = held_.pop(turn, held_terms(turn), now);
    debit_bridged(*way, held->lead, ip_bytes, now);
    return BridgeOutcome::kLeaves;
  }
  held_slot_ = *slot;
  ++classes_[id].use.waited_frames;
  return BridgeOutcome::kWaits;
}

bool Uplink::pass_control(std::size_t ip_bytes, Instant now) {
  for (const auto& carrier : carriers_) {
    const ByteCount accounted = carrier->pacer.overhead().accounted(ip_bytes);
    control::Budget& budget = carrier->own.control();
    if (!carrier->pacer.can_send_urgent(ip_bytes, now) ||
        !budget.allows(accounted, control::Budget::Claim::kFirst, now)) {
      continue;
    }
    budget.debit(accounted, now);
    debit_bridged({.traffic_class = turn_of(TrafficClasses::kBridged)}, 0, ip_bytes, now);
    return true;
  }
  return false;
}

// --- frames of the gateway itself ---------------------------------------------------------------

std::size_t Uplink::ip_bytes_of(std::size_t frame_size) {
  return frame_size - std::min(frame_size, wire::kEthernetHeaderSize);
}

// The gateway's own frames leave by links that have peers. It does not know which of several they
// take.
bool Uplink::speaks_on(const Carrier& carrier) const { return carrier.has_peers || lines_.empty(); }

bool Uplink::take(OwnFrame kind, bool known, std::size_t frame_size, Instant now) {
  for (const auto& carrier : carriers_) {
    const ByteCount accounted = carrier->pacer.overhead().accounted(ip_bytes_of(frame_size));
    if (!speaks_on(*carrier) || !carrier->own.allows(kind, known, accounted, now)) continue;
    carrier->own.debit(kind, accounted, now);
    return true;
  }
  return false;
}

Instant Uplink::next_own(std::size_t frame_size) const {
  Instant next = Instant::never();
  for (const auto& carrier : carriers_) {
    if (!speaks_on(*carrier)) continue;
    next = earlier(next, carrier->pacer.next_urgent(ip_bytes_of(frame_size)));
  }
  return next;
}

// The gateway does not know which of several links the frame takes.
HeldFrames::Terms Uplink::held_terms(ClassId turn) const {
  HeldFrames::Terms terms = carriers_.front()->held_terms(turn);
  for (const auto& carrier : carriers_) {
    const HeldFrames::Terms each = carrier->held_terms(turn);
    if (each.law.interval > terms.law.interval) terms = each;
  }
  return terms;
}

// --- rates -------------------------------------------------------------------------------------

CapacityResult Uplink::set_capacity(std::string_view link, LinkWay way, BitRate capacity,
                                    Instant now) {
  Carrier* const found = find(link);
  if (found == nullptr) return CapacityResult::kUnknownLink;
  Carrier& carrier = *found;
  const auto uses = [&](const Line& line) { return line.uses(carrier); };
  if (std::ranges::none_of(lines_, uses)) return CapacityResult::kUnusedLink;
  if (capacity > carrier.configured(way)) return CapacityResult::kAboveConfigured;
  carrier.capacity(way) =
      capacity.is_zero() ? carrier.configured(way) : std::max(capacity, kLeastCapacity);
  if (way == LinkWay::kSend) {
    apply_capacity(carrier, now);
    return CapacityResult::kSet;
  }
  for (const LaneId lane : lines_.ids()) {
    if (!uses(lines_[lane])) continue;
    lines_[lane].session.announce_capacity(capacity);
    ready_set_.wake(lane);
  }
  return CapacityResult::kSet;
}

void Uplink::set_most_rate(LaneId lane, BitRate most, Instant now) {
  lines_[lane].most_rate = most.is_zero() ? most : std::max(most, kLeastCapacity);
  apply_capacity(lane, now);
}

BitRate Uplink::commanded_capacity(std::string_view link, LinkWay way) const {
  const Carrier* const carrier = find(link);
  return carrier == nullptr ? BitRate() : carrier->commanded(way);
}

BitRate Uplink::commanded(LaneId lane) const {
  const Line& line = lines_[lane];
  BitRate least = line.carrier.send_capacity;
  if (!line.most_rate.is_zero()) least = std::min(least, line.most_rate);
  return least < line.carrier.config.send_rate ? least : BitRate();
}

// A carrier with several receivers is as fast as the fastest of them. The other sessions are not
// asked again: a peer may announce a new rate with each packet, and there may be a thousand peers.
void Uplink::apply_rate(Carrier& carrier, Instant now) {
  const bool finds = carrier.config.finds_capacity();
  BitRate most;
  BitRate used;
  bool any_found = false;
  for (const Line& line : lines_) {
    if (!line.uses(carrier)) continue;
    most = std::max(most, line.capacity);
    any_found = any_found || line.has_found;
    used = std::max(used, std::min(line.allowed, line.capacity));
  }
  if (most.is_zero()) return;
  for (Line& line : lines_) {
    if (line.uses(carrier)) line.limit = line.capacity == most ? BitRate() : line.capacity;
  }
  const bool is_known = !finds || any_found;
  carrier.set_rate(is_known && !used.is_zero() ? used : most, is_known, now);
  apply_classes(now);
  if (carrier.share().has_expired()) fall_back(carrier, now);
}

void Uplink::apply_capacity(Carrier& carrier, Instant now) {
  for (const LaneId lane : lines_.ids()) {
    ready_set_.wake(lane);
    if (lines_[lane].uses(carrier)) lines_[lane].apply_limits();
  }
  apply_rate(carrier, now);
}

void Uplink::apply_capacity(LaneId lane, Instant now) {
  Line& line = lines_[lane];
  ready_set_.wake(lane);
  // This session has had no capacity yet. The other sessions of the carrier may have had none
  // either.
  if (line.capacity.is_zero()) return apply_capacity(line.carrier, now);
  line.apply_limits();
  apply_rate(line.carrier, now);
}

void Uplink::follow(LaneId lane, Instant now) {
  const Line& line = lines_[lane];
  if (line.carrier.config.finds_capacity() && line.has_other_rate()) apply_capacity(lane, now);
}

ByteCount Uplink::train(LinkId link) const {
  const Carrier& carrier = *carriers_[link];
  ByteCount longest;
  if (!carrier.config.finds_capacity()) return longest;
  for (const Line& line : lines_) {
    if (line.uses(carrier)) longest = std::max(longest, line.session.path().train());
  }
  return longest;
}

// --- shares ------------------------------------------------------------------------------------

void Uplink::write_demands(Demands& demands, Instant now) const {
  for (const LinkId id : carriers_.ids()) {
    const Carrier& carrier = *carriers_[id];
    demands.terms[id] = carrier.terms;
    LinkDemand& link = demands.links[id];
    link = {.taken = carrier.share().serial,
            .sent = carrier.sent,
            .booked = carrier.pacer.booked(now).value(),
            .reports = carrier.report_budget.debited(),
            .sent_of = carrier.sent_of};
    // The gateway does not know which of several links the frames take.
    link.waiting = link.hungry = held_.classes();
    for (ClassSet set = link.waiting; set != 0; set &= set - 1) {
      const ClassId waits = schedule::lowest_class(set);
      link.hosts[waits] = static_cast<std::uint32_t>(held_.hosts(waits));
    }
  }
  for (const LaneId id : lines_.ids()) {
    const Line& line = lines_[id];
    demands.lanes[id] = {.limit = line.limit, .sent = line.sent};
    if (line.session.peer_state() == stp::PeerState::kAlive &&
        !line.carrier.config.finds_capacity()) {
      demands.terms[line.carrier.id].is_heard = true;
    }
  }
  ready_set_.for_each([&](LaneId id) {
    const Line& line = lines_[id];
    ClassSet waiting = line.session.waiting();
    if (waiting == 0 || !port_.is_reachable(id)) return;
    LinkDemand& link = demands.links[line.carrier.id];
    LaneDemand& lane = demands.lanes[id];
    link.waiting |= waiting;
    if (line.session.may_send_but_for_carrier(now)) link.hungry |= waiting;
    lane.waits = true;
    lane.hungry = line.session.shut_by_share(now);
    for (; waiting != 0; waiting &= waiting - 1) {
      const ClassId each = schedule::lowest_class(waiting);
      const auto hosts = static_cast<std::uint32_t>(line.session.waiting_hosts(each));
      link.hosts[each] += hosts;
      lane.hosts += hosts;
    }
  });
}

void Uplink::take_shares(const Shares& shares, Instant now) {
  shares_until_ = Instant::never();
  for (const LinkId link : carriers_.ids()) {
    carriers_[link]->take_share(shares.links[link], now);
    shares_until_ = earlier(shares_until_, carriers_[link]->share().until);
  }
  for (const LaneId lane : lines_.ids()) {
    const Line& line = lines_[lane];
    if (line.carrier.share().has_risen) ready_set_.wake(lane);
    line.session.set_share(
        line.carrier.share().has_expired() ? line.fallback() : shares.lanes[lane], now);
  }
}

void Uplink::expire_shares(Instant now) {
  shares_until_ = Instant::never();
  for (const auto& carrier : carriers_) {
    if (now >= carrier->share().until) fall_back(*carrier, now);
    shares_until_ = earlier(shares_until_, carrier->share().until);
  }
}

void Uplink::fall_back(Carrier& carrier, Instant now) {
  carrier.fall_back(now);
  for (const Line& line : lines_) {
    if (line.uses(carrier)) line.session.set_share(line.fallback(), now);
  }
}

// --- classes -----------------------------------------------------------------------------------

void Uplink::apply_classes(Instant now) {
  for (const auto& carrier : carriers_) {
    std::array<ClassRates, schedule::kClasses> rates;
    // Frames that still wait in a removed class must leave.
    for (ClassSet gone = held_.classes() & ~classes_.in_use(); gone != 0; gone &= gone - 1) {
      rates[schedule::lowest_class(gone)].weight = 1;
    }
    for (const ClassId id : classes_.order()) {
      const config::TrafficClass& c = classes_[id].in_force;
      rates[id] = {.weight = c.weight, .guaranteed = c.guaranteed, .maximum = c.maximum};
    }
    ClassRates& bridged = rates[TrafficClasses::kBridged];
    bridged.guaranteed = config::bridged_guarantee(carrier->config, carrier->rate());
    // Another link has a bridged_share. This link has none, and serves bridged frames as any class.
    if (has_bridged_share_ && bridged.guaranteed.is_zero()) bridged.weight = 1;
    carrier->terms.classes = rates;
    carrier->terms.rate = carrier->rate();
    carrier->terms.reports = carrier->report_rate();
    carrier->classes.set(rates, now);
  }
}

ClassResult Uplink::set_class(std::string_view name, const ClassChange& change, Instant now) {
  const auto id = classes_.find(name);
  if (!id || *id == TrafficClasses::kRelayed || *id == TrafficClasses::kBridged) {
    return ClassResult::kUnknownClass;
  }
  TrafficClassState& c = classes_[*id];
  const config::TrafficClass next = change.apply(c.in_force, c.configured);
  if (!config::rates_agree(next)) return ClassResult::kContradiction;
  std::vector<config::TrafficClass> all;
  for (const ClassId each : classes_.order()) {
    all.push_back(each == *id ? next : classes_[each].in_force);
  }
  const auto fits = [&](const auto& carrier) {
    return config::guarantees_fit(all, carrier->config);
  };
  if (!std::ranges::all_of(carriers_, fits)) return ClassResult::kAboveLink;
  c.in_force = next;
  apply_classes(now);
  return ClassResult::kSet;
}

// Without bridged_share, bridged frames share the turns of relayed connections.
ClassId Uplink::turn_of(ClassId id) const {
  return id == TrafficClasses::kBridged && !has_bridged_share_ ? TrafficClasses::kRelayed : id;
}
ClassId Uplink::counted_as(ClassId turn) const {
  return turn == TrafficClasses::kRelayed ? TrafficClasses::kBridged : turn;
}

std::size_t Uplink::held_frames(ClassId id) const {
  return id == TrafficClasses::kRelayed ? 0 : held_.frames(turn_of(id));
}
std::uint64_t Uplink::held_bytes(ClassId id) const {
  return id == TrafficClasses::kRelayed ? 0 : held_.bytes(turn_of(id));
}

std::size_t Uplink::waiting_hosts(ClassId id) const {
  std::size_t hosts = id == TrafficClasses::kRelayed ? 0 : held_.hosts(turn_of(id));
  for (const Line& line : lines_) {
    if ((line.session.waiting() & schedule::class_bit(id)) != 0)
      hosts += line.session.waiting_hosts(id);
  }
  return hosts;
}

void Uplink::reconfigure(const config::Gateway& next, const ClassDictionaries& dictionaries,
                         Instant now) {
  classes_.replace(next.classes, dictionaries);
  apply_classes(now);
  for (const auto& each : carriers_) {
    Carrier& carrier = *each;
    const config::Link& link = next.links[carrier.id.index()];
    carrier.config.bridged_queue = link.bridged_queue;
    if (carrier.config.send_rate == link.send_rate) continue;
    carrier.config.send_rate = link.send_rate;
    carrier.send_capacity = carrier.config.send_rate;
    apply_capacity(carrier, now);
  }
}

}  // namespace satrelay::gateway
