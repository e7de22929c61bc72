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
  impl_->deferred.settle(impl_->last_call);
  return *impl_;
}

Gateway::Impl::Impl(const config::Gateway& gateway_config, const Identity& gateway_identity,
                    MutableBytes arena_memory, MutableBytes journal_memory, Instant now)
    : parts(gateway_config, gateway_identity, arena_memory, journal_memory, *this, now),
      started(now),
      between(parts.policy, parts.claims, parts.lan, parts.door, parts.peers,
              parts.common->between),
      stations(parts.common->stations, parts.wan, parts.counters),
      bridging(parts.config, parts.policy, parts.uplink, parts.door.refusals(),
               parts.fragments.reassembly, parts.fragments.released, parts.counters),
      events(parts),
      rounds(parts, events),
      deferred(parts, events),
      lan_input(parts, bridging, deferred, stations, between),
      wan_input(parts, bridging, deferred, stations, between),
      plain_packets(parts) {}

void Gateway::Impl::begin_call(Instant now, Budget which) {
  const Work before = parts.budget.total();
  if (which == Budget::kRenewed) rounds.begin_timeout(now);
  deferred.settle(last_call);
  if (now != last_call || which == Budget::kRenewed) {
    parts.budget.renew(parts.budget.total() - before);
  }
  last_call = now;
  parts.uplink.shares().look(now);
}

Verdict Gateway::handle_frame(PortId port, ConstBytes frame, Instant now, Checksum checksum) {
  const Arrived arrived{.bytes = frame, .checksum = checksum};
  Handled handled;
  handle_frames(port, {&arrived, 1}, {&handled, 1}, now);
  return handled.verdict;
}

void Gateway::handle_frames(PortId port, std::span<const Arrived> frames,
                            std::span<Handled> handled, Instant now) {
  Impl& impl = engine_.unsettled();
  SATRELAY_CHECK(handled.size() == frames.size());
  if (now != impl.last_call || port != impl.deferred.port()) impl.begin_call(now);
  impl.deferred.begin(port);
  audit_at_intervals();
  while (!frames.empty()) {
    const std::size_t count = std::min(frames.size(), kBurstFrames);
    if (port == PortId::kLan) {
      impl.lan_input.handle_burst(frames.first(count), handled.first(count), now);
    } else {
      impl.wan_input.handle_burst(frames.first(count), handled.first(count), now);
    }
    frames = frames.subspan(count);
    handled = handled.subspan(count);
  }
}

void Gateway::overhear(PortId port, ConstBytes frame, Instant now) {
  Impl& impl = engine_.unsettled();
  impl.begin_call(now);
  const Frame seen = look_at(frame);
  if (port == PortId::kLan) {
    impl.lan_input.overhear(seen, now);
  } else {
    impl.wan_input.overhear(seen, now);
  }
}

void Gateway::set_wan_reception(const stp::Reception& reception) {
  engine_.unsettled().wan_input.set_reception(reception);
}

void Gateway::note_late_sending(Instant began, Instant ended) {
  for (const auto& lane : engine_.settled().parts.lanes)
    lane->session.note_late_sending(began, ended);
}

void Gateway::handle_timeout(Instant now) {
  Impl& impl = engine_.unsettled();
  GatewayParts& parts = impl.parts;
  impl.begin_call(now, Impl::Budget::kRenewed);
  audit_at_intervals();
  parts.fragments.reassembly.handle_timeout(now);
  parts.wan.handle_timeout(now);
  parts.lan.handle_timeout(now);
  parts.flows.hosts().hear(parts.lan.take_unanswered(now));
  if (parts.lan.take_moved()) parts.flows.epochs().note_moves();
  parts.flows.settle_moves(now);
  parts.uplink.ready_set().wake_due(now);
  if (!impl.rounds.repairs_are_first()) parts.flows.advance_unfinished(now);
  impl.rounds.work_off_repairs(now);
  impl.rounds.run(now);
  parts.flows.handle_timeout(now);
  parts.orphans.handle_timeout(now);
  parts.door.handle_timeout(now);
  parts.flows.go_on(now);
  impl.rounds.end_timeout();
}

std::size_t Gateway::held_frames() const {
  const Impl& impl = engine_.unsettled();
  return impl.parts.uplink.held().frames() - impl.parts.fragments.released.held();
}

std::size_t Gateway::held_slot() const { return engine_.unsettled().parts.uplink.held_slot(); }

std::size_t Gateway::max_frame_size() const {
  const Impl& impl = engine_.unsettled();
  return wire::kMaxEthernetHeaderSize +
         std::max(impl.parts.config.lan.mtu, impl.parts.config.wan.mtu);
}

void Gateway::shut_down(Instant now) {
  Impl& impl = engine_.settled();
  impl.parts.uplink.ready_set().wake_all();
  for (const auto& lane : impl.parts.lanes) lane->session.close(now);
  impl.parts.flows.shut_down(now);
}

bool Gateway::has_final_segments() const {
  return std::ranges::any_of(engine_.unsettled().parts.lanes, [](const auto& lane) {
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
  impl.parts.uplink.ready_set().wake_all();
  impl.parts.config.stp.give_up_after = next.stp.give_up_after;
  impl.parts.policy.replace_rules(next.rules, prepared.rules);
  impl.parts.uplink.reconfigure(next, prepared.dictionaries, now);
  impl.parts.policy.set_classes(impl.parts.uplink.classes());
  for (const auto& lane : impl.parts.lanes) {
    const std::optional<config::PresharedKeys>& keys =
        next.peers[lane->address.peer.index()].security.keys;
    if (keys) lane->session.set_secrets(keys->current, keys->other);
  }
  impl.parts.flows.set_half_open(part_of(next.limits.half_open, impl.parts.identity.share.workers));
  impl.parts.flows.reconfigure(next, now);
}

void Gateway::set_admission(Admission admission, Instant now) {
  Impl& impl = engine_.settled();
  impl.parts.uplink.ready_set().wake_all();
  impl.parts.door.set_admission(admission);
  for (const auto& lane : impl.parts.lanes) lane->control_messages.announce(admission, now);
}

std::size_t Gateway::unfinished_flows() const {
  return engine_.settled().parts.flows.flows().unfinished();
}

Gateway::ClassResult Gateway::set_class(std::string_view name, const ClassChange& change,
                                        Instant now) {
  Impl& impl = engine_.settled();
  impl.parts.uplink.ready_set().wake_all();
  return impl.parts.uplink.turns().set(name, change, now);
}

void Gateway::observe_plain(PlainObserver* observer) {
  engine_.settled().plain_packets.observe(observer);
}

void Gateway::record_flows(FlowRecorder* recorder) {
  Impl& impl = engine_.settled();
  impl.parts.uplink.ready_set().wake_all();
  impl.parts.flows.tell_ends(recorder);
}

const Counters& Gateway::counters() const { return engine_.settled().parts.counters; }

std::uint64_t Gateway::visited() const {
  const Impl& impl = engine_.unsettled();
  std::uint64_t visited = impl.parts.flows.visited() + impl.parts.fragments.reassembly.visited();
  for (const auto& lane : impl.parts.lanes) visited += lane->session.visited();
  return visited;
}

Work Gateway::worked() const { return engine_.unsettled().parts.budget.total(); }

const config::Rule* Gateway::rule(std::string_view name_or_number) const {
  const ActiveRule* active = engine_.unsettled().parts.policy.find(name_or_number);
  return active == nullptr ? nullptr : &active->rule;
}

Gateway::SetResult Gateway::set_rule(std::string_view rule, const RuleChange& change) {
  ActiveRule* active = engine_.settled().parts.policy.find(rule);
  if (active == nullptr) return SetResult::kUnknownRule;
  if (active->rule.action != config::Action::kAccelerate) return SetResult::kNotAccelerated;
  config::Rule next = active->rule;
  change.apply(next);
  if (config::contradiction_in(next.modes) != nullptr) return SetResult::kContradiction;
  active->rule = std::move(next);
  return SetResult::kSet;
}

}  // namespace satrelay::gateway
