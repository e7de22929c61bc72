// The public interface: frames and timeouts as input, the operator's commands, simple getters.
#include "relay/gateway/gateway.h"

#include <algorithm>
#include <utility>

#include "config/model/modes.h"
#include "relay/gateway/gateway_impl.h"

namespace satrelay::gateway {

Gateway::Gateway(const config::Gateway& config, const Identity& identity, MutableBytes arena_memory,
                 Instant now, MutableBytes journal)
    : engine_(std::make_unique<Impl>(config, identity, arena_memory, journal, now)) {}

Gateway::~Gateway() = default;

Gateway::Engine::Engine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Gateway::Engine::~Engine() = default;

Gateway::Impl& Gateway::Engine::settled() const {
  impl_->settle(impl_->last_call);
  return *impl_;
}

void Gateway::Impl::settle(Instant now) {
  if (deferred.flow != kNoSlot)
    flows.transfer().advance(std::exchange(deferred.flow, kNoSlot), now);
  if (deferred.packets == 0) return;
  take_events(deferred.lane, std::exchange(deferred.packets, 0), now);
  flows.go_on(now);
}

Verdict Gateway::handle_frame(PortId port, ConstBytes frame, Instant now, Checksum checksum) {
  const Arrived arrived{.bytes = frame, .checksum = checksum};
  Handled handled;
  handle_frames(port, {&arrived, 1}, {&handled, 1}, now);
  return handled.verdict;
}

Frame& Gateway::Impl::look_at_arrived(const Arrived& arrived, Frame& room) {
  if (arrived.seen == nullptr) look_at(arrived.bytes, room);
  Frame& frame = arrived.seen == nullptr ? room : *arrived.seen;
  frame.checksum_verified = arrived.checksum == Checksum::kVerified;
  return frame;
}

void Gateway::Impl::prefetch(ConstBytes bytes) {
  constexpr std::size_t kLine = 64;
  for (std::size_t at = 0; at < bytes.size(); at += kLine) __builtin_prefetch(bytes.data() + at);
}

void Gateway::handle_frames(PortId port, std::span<const Arrived> frames,
                            std::span<Handled> handled, Instant now) {
  Impl& impl = engine_.unsettled();
  SATRELAY_CHECK(handled.size() == frames.size());
  if (now != impl.last_call || port != impl.deferred.port) impl.begin_call(now);
  impl.deferred.port = port;
  audit_at_intervals();
  while (!frames.empty()) {
    const std::size_t count = std::min(frames.size(), Impl::kBurst);
    if (port == PortId::kLan) {
      impl.handle_lan_burst(frames.first(count), handled.first(count), now);
    } else {
      impl.handle_wan_burst(frames.first(count), handled.first(count), now);
    }
    frames = frames.subspan(count);
    handled = handled.subspan(count);
  }
}

void Gateway::overhear(PortId port, ConstBytes frame, Instant now) {
  Impl& impl = engine_.unsettled();
  impl.begin_call(now);
  impl.overhear(port, look_at(frame), now);
}

void Gateway::set_wan_reception(const stp::Reception& reception) {
  engine_.unsettled().wan_reception = reception;
}

void Gateway::note_late_sending(Instant began, Instant ended) {
  for (const auto& lane : engine_.settled().lanes) lane->session.note_late_sending(began, ended);
}

void Gateway::handle_timeout(Instant now) {
  Impl& impl = engine_.unsettled();
  impl.begin_call(now, Impl::Budget::kRenewed);
  audit_at_intervals();
  impl.reassembly.handle_timeout(now);
  impl.wan.handle_timeout(now);
  impl.lan.handle_timeout(now);
  impl.hear(impl.lan.take_unanswered(now));
  if (impl.lan.take_moved()) impl.flows.epochs().note_moves();
  impl.settle_moves(now);
  impl.uplink.ready_set().wake_due(now);
  if (!impl.repairs_first) impl.flows.advance_unfinished(now);
  impl.work_off_repairs(now);
  impl.run_lanes(now);
  impl.flows.handle_timeout(now);
  impl.orphans.handle_timeout(now);
  impl.door.handle_timeout(now);
  impl.flows.go_on(now);
  impl.timeout_spent_budget = impl.budget.is_spent();
}

// All sessions together settle as many objects in a call as one session may. Once they have visited
// a quarter of that, the next session waits, and is the first in the next call. After an outage
// each of hundreds of sessions may have thousands of lost packets.
void Gateway::Impl::run_lanes(Instant now) {
  constexpr std::uint64_t kOthersMayFollow = stp::Session::kSettledAtOnce / 4;
  std::uint64_t visited = 0;
  const LaneId begin = std::exchange(first_lane, LaneId());
  const auto run = [&](LaneId id) {
    if (visited > kOthersMayFollow) {
      first_lane = id;
      return false;
    }
    const std::uint64_t before = lanes[id]->session.visited();
    run_lane(id, stp::Session::kSettledAtOnce - visited, now);
    visited += lanes[id]->session.visited() - before;
    return true;
  };
  uplink.ready_set().for_each_from(begin, run);
}

void Gateway::Impl::run_lane(LaneId id, std::uint64_t most_settled, Instant now) {
  Lane& lane = *lanes[id];
  if (lane.session.next_timeout() <= now) lane.session.handle_timeout(now, most_settled);
  take_events(id, now);
  counters.add(Counter::kMessagesUntaken, lane.control_messages.handle_timeout(orphans, now));
  if (now < silence_due(lane)) return;
  lane.silence = lane.silent_since();
  flows.epochs().look_at_all();
}

// Flows and repairs draw on one budget. While timeouts spend it, flows and repairs take turns at
// being first, so that neither keeps the other waiting.
void Gateway::Impl::change_the_first(Instant now) {
  repairs_first = !repairs_first;
  if (!repairs_first) return;
  budget.renew();
  work_off_repairs(now);
}

// Visits the sessions that have waiting repairs, one after the other. It begins behind the session
// that has spent the last budget.
void Gateway::Impl::work_off_repairs(Instant now) {
  uplink.ready_set().for_each_from(first_with_repairs, [&](LaneId id) {
    if (budget.is_spent()) return false;
    if (!lanes[id]->session.repairs_wait()) return true;
    lanes[id]->session.work_off_repairs(now);
    if (budget.is_spent()) first_with_repairs = id.next();
    return true;
  });
}

std::size_t Gateway::held_frames() const {
  const Impl& impl = engine_.unsettled();
  return impl.uplink.held().frames() - impl.released.held();
}

std::size_t Gateway::held_slot() const { return engine_.unsettled().uplink.held_slot(); }

std::size_t Gateway::max_frame_size() const {
  const Impl& impl = engine_.unsettled();
  return wire::kMaxEthernetHeaderSize + std::max(impl.config.lan.mtu, impl.config.wan.mtu);
}

void Gateway::shut_down(Instant now) {
  Impl& impl = engine_.settled();
  impl.uplink.ready_set().wake_all();
  for (const auto& lane : impl.lanes) lane->session.close(now);
  impl.flows.shut_down(now);
}

bool Gateway::has_final_segments() const {
  return std::ranges::any_of(engine_.unsettled().lanes, [](const auto& lane) {
    return !lane->session.next_timeout().is_never();
  });
}

Prepared Gateway::prepare(const config::Gateway& next) {
  return {.rules = Policy::index(next),
          .dictionaries = ClassDictionaries(next.classes, next.compress_level)};
}

void Gateway::reconfigure(const config::Gateway& next, Instant now) {
  reconfigure(next, now, prepare(next));
}

void Gateway::reconfigure(const config::Gateway& next, Instant now, const Prepared& prepared) {
  Impl& impl = engine_.settled();
  impl.uplink.ready_set().wake_all();
  impl.config.stp.give_up_after = next.stp.give_up_after;
  impl.policy.replace_rules(next.rules, prepared.rules);
  impl.uplink.reconfigure(next, prepared.dictionaries, now);
  impl.policy.set_classes(impl.uplink.classes());
  for (const auto& lane : impl.lanes) {
    const std::optional<config::PresharedKeys>& keys =
        next.peers[lane->address.peer.index()].security.keys;
    if (keys) lane->session.set_secrets(keys->current, keys->other);
  }
  impl.flows.set_half_open(part_of(next.limits.half_open, impl.identity.share.workers));
  impl.flows.reconfigure(next, now);
}

void Gateway::set_admission(Admission admission, Instant now) {
  Impl& impl = engine_.settled();
  impl.uplink.ready_set().wake_all();
  impl.door.set_admission(admission);
  for (const auto& lane : impl.lanes) lane->control_messages.announce(admission, now);
}

std::size_t Gateway::unfinished_flows() const {
  return engine_.settled().flows.flows().unfinished();
}

Gateway::CapacityResult Gateway::set_capacity(std::string_view link, LinkWay way, BitRate capacity,
                                              Instant now) {
  return engine_.settled().uplink.set_capacity(link, way, capacity, now);
}

Gateway::ClassResult Gateway::set_class(std::string_view name, const ClassChange& change,
                                        Instant now) {
  Impl& impl = engine_.settled();
  impl.uplink.ready_set().wake_all();
  return impl.uplink.set_class(name, change, now);
}

void Gateway::observe_plain(PlainObserver* observer) {
  Impl& impl = engine_.settled();
  for (const auto& lane : impl.lanes) lane->session.set_observer(nullptr);
  impl.plain_packets.clear();
  if (observer == nullptr) return;
  for (const LaneId id : impl.lanes.ids()) {
    impl.plain_packets.push_back(
        std::make_unique<PlainPackets>(impl.wan, impl.lane_addresses[id], *observer));
    impl.lanes[id]->session.set_observer(impl.plain_packets.back().get());
  }
}

void Gateway::record_flows(FlowRecorder* recorder) {
  Impl& impl = engine_.settled();
  impl.uplink.ready_set().wake_all();
  impl.flows.tell_ends(recorder);
}

bool Gateway::set_peer_rate(std::string_view peer, BitRate most, Instant now) {
  Impl& impl = engine_.settled();
  bool found = false;
  for (const LaneId id : impl.lanes.ids()) {
    if (impl.lanes[id]->peer.config.name != peer) continue;
    impl.uplink.set_most_rate(id, most, now);
    found = true;
  }
  return found;
}

BitRate Gateway::commanded_capacity(std::string_view link, LinkWay way) const {
  return engine_.unsettled().uplink.commanded_capacity(link, way);
}

BitRate Gateway::commanded_rate(std::string_view peer) const {
  const Impl& impl = engine_.unsettled();
  for (const LaneId id : impl.lanes.ids()) {
    if (impl.lanes[id]->peer.config.name == peer) return impl.uplink.most_rate(id);
  }
  return {};
}

void Gateway::write_demands(Demands& demands, Instant now) const {
  engine_.unsettled().uplink.write_demands(demands, now);
}

void Gateway::take_shares(const Shares& shares, Instant now) {
  engine_.unsettled().uplink.take_shares(shares, now);
}

const Counters& Gateway::counters() const { return engine_.settled().counters; }

std::uint64_t Gateway::visited() const {
  const Impl& impl = engine_.unsettled();
  std::uint64_t visited = impl.flows.visited() + impl.reassembly.visited();
  for (const auto& lane : impl.lanes) visited += lane->session.visited();
  return visited;
}

Work Gateway::worked() const { return engine_.unsettled().budget.total(); }

const config::Rule* Gateway::rule(std::string_view name_or_number) const {
  const ActiveRule* active = engine_.unsettled().policy.find(name_or_number);
  return active == nullptr ? nullptr : &active->rule;
}

Gateway::SetResult Gateway::set_rule(std::string_view rule, const RuleChange& change) {
  ActiveRule* active = engine_.settled().policy.find(rule);
  if (active == nullptr) return SetResult::kUnknownRule;
  if (active->rule.action != config::Action::kAccelerate) return SetResult::kNotAccelerated;
  config::Rule next = active->rule;
  change.apply(next);
  if (config::contradiction_in(next.modes) != nullptr) return SetResult::kContradiction;
  active->rule = std::move(next);
  return SetResult::kSet;
}

}  // namespace satrelay::gateway
