// What leaves by the WAN port, and in which order: the gateway's own frames, what a session must
// say, and then bytes of streams and bridged frames, class by class.
#include <algorithm>
#include <array>

#include "config/traffic_class.h"
#include "relay/gateway/gateway_impl.h"

namespace satrelay::gateway {

using stp::class_bit;
using stp::ClassId;
using stp::ClassSet;

std::optional<Gateway::Impl::Choice> Gateway::Impl::choose(const Carrier& carrier, ClassSet bridged,
                                                           Instant now) const {
  if (!carrier.pacer.can_send(now)) return std::nullopt;
  const auto waiting_of = [&](std::size_t i) -> ClassSet {
    const Peer& peer = *peers[i];
    if (&peer.carrier != &carrier) return 0;
    const ClassSet set = peer.session.waiting();
    return set != 0 && peer.session.may_send(now) && is_reachable(i) ? set : 0;
  };
  ClassSet waiting = bridged;
  std::size_t sources = bridged == 0 ? 0 : 1;
  std::size_t last = kBridgedSource;
  for (std::size_t i = 0; i < peers.size(); ++i) {
    const ClassSet of_peer = waiting_of(i);
    if (of_peer == 0) continue;
    waiting |= of_peer;
    last = i + 1;
    ++sources;
  }
  const auto id = carrier.classes.next(waiting, now);
  if (!id) return std::nullopt;
  if (sources == 1) return Choice{*id, last};
  Choice best{.traffic_class = *id};
  bool found = (bridged & class_bit(*id)) != 0;
  for (std::size_t i = 0; i < peers.size(); ++i) {
    if ((waiting_of(i) & class_bit(*id)) == 0) continue;
    if (found && carrier.classes.start(*id, best.source) <= carrier.classes.start(*id, i + 1)) {
      continue;
    }
    best.source = i + 1;
    found = true;
  }
  return best;
}

Polled Gateway::Impl::poll_wan(MutableBytes out, Instant now) {
  if (const std::size_t size = released.poll_frame(out); size > 0) {
    return {.kind = Polled::Kind::kWritten, .size = size};
  }
  if (const std::size_t size = wan.poll_frame(out); size > 0) {
    return {.kind = Polled::Kind::kWritten, .size = size};
  }
  if (const std::size_t size = refusals.poll_frame(PortId::kWan, out); size > 0) {
    debit_bridged(TrafficClasses::kBridged, size - wire::kEthernetHeaderSize, 1, now);
    return {.kind = Polled::Kind::kWritten, .size = size};
  }
  // What a session must say waits for no more than one bridged frame.
  if (!sessions_first) {
    sessions_first = true;
    if (const auto id = bridged_turn(now)) return release_held(*id, out, now);
  }
  sessions_first = false;
  bool session_has_turn = choose_all(now);
  // One that has the turn may find that it has nothing after all.
  for (std::size_t attempt = 0; attempt <= peers.size(); ++attempt) {
    if (const std::size_t size = poll_sessions(out, now); size > 0) {
      return {.kind = Polled::Kind::kWritten, .size = size};
    }
    if (!session_has_turn) break;
    session_has_turn = choose_all(now);
    if (!session_has_turn) break;
  }
  if (const auto id = bridged_turn(now)) return release_held(*id, out, now);
  return {};
}

// The class of which a held frame may leave, whichever carrier it takes.
std::optional<ClassId> Gateway::Impl::bridged_turn(Instant now) const {
  if (held.classes() == 0) return std::nullopt;
  for (const auto& carrier : carriers) {
    const auto choice = choose(*carrier, held.classes(), now);
    if (choice && choice->source == kBridgedSource) return choice->traffic_class;
  }
  return std::nullopt;
}

// For each carrier; whether a session has the turn on any.
bool Gateway::Impl::choose_all(Instant now) {
  bool any = false;
  for (const auto& carrier : carriers) {
    carrier->choice = choose(*carrier, held.classes(), now);
    any = any || (carrier->choice && carrier->choice->source != kBridgedSource);
  }
  return any;
}

// With many peers it would take long to ask each of them before every packet.
std::size_t Gateway::Impl::poll_sessions(MutableBytes out, Instant now) {
  if (peers.empty()) return 0;
  // One in turn, so that what it must say waits for no more than a packet of each.
  next_peer = (next_peer + 1) % peers.size();
  if (const std::size_t size = poll_session(next_peer, out, now); size > 0) return size;
  for (const auto& carrier : carriers) {
    if (!carrier->choice || carrier->choice->source == kBridgedSource) continue;
    const std::size_t chosen = carrier->choice->source - 1;
    if (chosen == next_peer) continue;
    if (const std::size_t size = poll_session(chosen, out, now); size > 0) return size;
  }
  for (std::size_t i = 1; i < peers.size(); ++i) {
    const std::size_t index = (next_peer + i) % peers.size();
    if (const std::size_t size = poll_session(index, out, now); size > 0) return size;
  }
  return 0;
}

std::size_t Gateway::Impl::poll_session(std::size_t index, MutableBytes out, Instant now) {
  if (!is_reachable(index)) return 0;
  const std::size_t header = wan.stp_header_size();
  stp::Session& session = peers[index]->session;
  const Carrier& carrier = peers[index]->carrier;
  const bool has_turn = carrier.choice && carrier.choice->source == index + 1;
  const stp::Turn turn{.open = carrier.classes.open(now),
                       .first = has_turn ? carrier.choice->traffic_class : ClassId{0},
                       .streams = has_turn};
  const std::size_t size = session.poll_packet(out.subspan(header), now, turn);
  take_events(index, now);
  if (size == 0) return 0;
  wan.write_stp_headers(index, size, session.last_priority(), out);
  debit_relayed(index, size, now);
  return header + size;
}

// To the classes whose bytes it carries, its headers to the first; what concerns the session itself
// is in nobody's way.
void Gateway::Impl::debit_relayed(std::size_t peer, std::size_t datagram, Instant now) {
  const stp::Session& session = peers[peer]->session;
  Carrier& carrier = peers[peer]->carrier;
  std::size_t headers =
      carrier.pacer.overhead().accounted(datagram + peers[peer]->datagram_overhead).value();
  for (const auto& part : session.last_classes()) headers -= part.bytes;
  for (const auto& [id, bytes, booked] : session.last_classes()) {
    const ByteCount all(bytes + headers);
    const ByteCount all_booked(booked + headers);
    headers = 0;
    carrier.classes.on_sent(id, peer + 1, all, all_booked, session.waiting_hosts(id), now);
    classes[id].use.relayed_bytes += all.value();
  }
}

// Debited to the carriers that have room, and to all if none has: the frame may have taken any of
// them, but one that is slower than the others must not be booked out by what they carry.
void Gateway::Impl::debit_bridged(ClassId id, std::size_t ip_bytes, std::uint32_t factor,
                                  Instant now) {
  const auto has_room = [&](const auto& carrier) { return carrier->pacer.can_send(now); };
  const bool any = std::ranges::any_of(carriers, has_room);
  ByteCount accounted;
  for (const auto& carrier : carriers) {
    if (any && !has_room(carrier)) continue;
    accounted = carrier->pacer.overhead().accounted(ip_bytes);
    if (any) {
      carrier->pacer.on_sent(ip_bytes, now);
    } else {
      carrier->pacer.on_bridged(ip_bytes, now);
    }
    carrier->classes.on_sent(id, kBridgedSource, accounted, ByteCount(accounted.value() * factor),
                             held.hosts(id), now);
  }
  ++classes[id].use.bridged_frames;
  classes[id].use.bridged_bytes += accounted.value();
}

Polled Gateway::Impl::release_held(ClassId id, MutableBytes out, Instant now) {
  const HeldFrames::Frame frame = held.pop(id);
  debit_bridged(id, frame.ip_bytes, frame.factor, now);
  if (released.holds(frame.slot)) {
    return {.kind = Polled::Kind::kWritten, .size = released.write_held(frame.slot, out)};
  }
  return {.kind = Polled::Kind::kHeld, .slot = frame.slot};
}

// Which carrier a bridged frame takes is the modem's affair. With several, any that has room lets
// it go.
bool Gateway::Impl::may_bridge_at_once(ClassId id, Instant now) const {
  if ((held.classes() & class_bit(id)) != 0) return false;
  return std::ranges::any_of(carriers, [&](const auto& carrier) {
    const auto choice = choose(*carrier, held.classes() | class_bit(id), now);
    return choice && choice->traffic_class == id && choice->source == kBridgedSource;
  });
}

ByteCount Gateway::Impl::held_limit(ClassId id) const {
  ByteCount most;
  for (const auto& carrier : carriers) most = std::max(most, carrier->held_limit(id));
  return most;
}

// When something that waits in a class may be able to leave.
Instant Gateway::Impl::next_turn(Instant now) const {
  Instant next = Instant::never();
  for (const auto& carrier : carriers) {
    // Sessions tell by themselves when their pacers open.
    if (held.classes() == 0 && !carrier->classes.has_maxima()) continue;
    ClassSet streams = 0;
    for (std::size_t i = 0; i < peers.size(); ++i) {
      if (&peers[i]->carrier == carrier.get() && is_reachable(i)) {
        streams |= peers[i]->session.waiting();
      }
    }
    const ClassSet open = carrier->classes.open(now);
    if (const ClassSet shut = (streams | held.classes()) & ~open; shut != 0) {
      next = earlier(next, later(carrier->classes.opens_at(shut), carrier->pacer.next_send()));
    }
    if ((held.classes() & open) != 0) next = earlier(next, carrier->pacer.next_send());
  }
  return next;
}

void Gateway::Impl::apply_classes(Instant now) {
  policy.set_classes(classes);
  for (const auto& carrier : carriers) {
    std::array<ClassRates, stp::kClasses> rates;
    // What still waits in a class that is no more shall leave.
    for (ClassSet gone = held.classes() & ~classes.in_use(); gone != 0; gone &= gone - 1) {
      rates[stp::lowest_class(gone)].weight = 1;
    }
    for (const ClassId id : classes.order()) {
      const config::TrafficClass& c = classes[id].in_force;
      rates[id] = {.weight = c.weight, .guaranteed = c.guaranteed, .maximum = c.maximum};
    }
    rates[TrafficClasses::kBridged].guaranteed =
        config::bridged_guarantee(carrier->config, carrier->pacer.rate());
    carrier->classes.set(rates, now);
  }
}

// --- the public face ---------------------------------------------------------------------------

Gateway::ClassResult Gateway::set_class(std::string_view name, const ClassChange& change,
                                        Instant now) {
  const auto id = impl_->classes.find(name);
  if (!id || *id == TrafficClasses::kRelayed || *id == TrafficClasses::kBridged) {
    return ClassResult::kUnknownClass;
  }
  TrafficClassState& c = impl_->classes[*id];
  const config::TrafficClass next = change.apply(c.in_force, c.configured);
  if (!config::rates_agree(next)) return ClassResult::kContradiction;
  std::vector<config::TrafficClass> all;
  for (const ClassId each : impl_->classes.order()) {
    all.push_back(each == *id ? next : impl_->classes[each].in_force);
  }
  const auto fits = [&](const auto& carrier) {
    return config::guarantees_fit(all, carrier->config);
  };
  if (!std::ranges::all_of(impl_->carriers, fits)) return ClassResult::kAboveLink;
  c.in_force = next;
  impl_->apply_classes(now);
  return ClassResult::kSet;
}

std::vector<ClassSnapshot> Gateway::classes() const {
  std::vector<ClassSnapshot> list;
  for (const ClassId id : impl_->classes.order()) {
    const TrafficClassState& c = impl_->classes[id];
    ClassSnapshot snapshot{.in_force = c.in_force,
                           .is_changed = c.in_force != c.configured,
                           .held_frames = impl_->held.frames(id),
                           .held_bytes = impl_->held.bytes(id),
                           .hosts = static_cast<std::uint32_t>(impl_->held.hosts(id)),
                           .use = c.use};
    for (const auto& peer : impl_->peers) {
      if ((peer->session.waiting() & class_bit(id)) == 0) continue;
      snapshot.hosts += static_cast<std::uint32_t>(peer->session.waiting_hosts(id));
    }
    list.push_back(std::move(snapshot));
  }
  return list;
}

}  // namespace satrelay::gateway
