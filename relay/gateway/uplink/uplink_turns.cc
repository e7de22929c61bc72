// Chooses the source that sends next.
#include <algorithm>
#include <array>

#include "relay/gateway/uplink/uplink.h"

namespace satrelay::gateway {

using schedule::class_bit;
using schedule::ClassId;
using schedule::ClassSet;

namespace {

// Maximum number of packets that a session writes at once.
constexpr std::size_t kPacketsAtOnce = 32;

}  // namespace

std::optional<Uplink::Choice> Uplink::choose(const Carrier& carrier, ClassSet bridged,
                                             Instant now) const {
  if (!carrier.pacer.can_send(now)) {
    // Only a packet train may continue now. A controller measures the link by the packets of a
    // train, which are sent faster than the carrier's rate.
    if (!carrier.config.finds_capacity()) return std::nullopt;
    bridged = 0;
  }
  const auto waiting_of = [&](LaneId lane) -> ClassSet {
    const Line& line = parts_.lines[lane];
    if (&line.carrier != &carrier) return 0;
    const ClassSet set = line.session.waiting();
    return set != 0 && line.session.may_send(now) && port_.is_reachable(lane) ? set : 0;
  };
  ClassSet waiting = bridged;
  std::size_t sources = bridged == 0 ? 0 : 1;
  std::size_t last = Carrier::kBridgedSource;
  parts_.ready_set.for_each([&](LaneId lane) {
    const ClassSet of_lane = waiting_of(lane);
    if (of_lane == 0) return;
    waiting |= of_lane;
    last = Carrier::source_of(lane);
    ++sources;
  });
  const auto id = carrier.classes.next(waiting, now);
  if (!id) return std::nullopt;
  if (sources == 1) {
    const bool is_alone = waiting == class_bit(*id) && !carrier.classes.has_maxima();
    return Choice{
        .traffic_class = *id, .source = last, .is_alone = is_alone, .is_only_source = true};
  }
  Choice best{.traffic_class = *id};
  parts_.ready_set.for_each([&](LaneId lane) {
    if ((waiting_of(lane) & class_bit(*id)) == 0) return;
    const std::size_t source = Carrier::source_of(lane);
    if (best.is_lane() &&
        carrier.classes.start(*id, best.source) <= carrier.classes.start(*id, source)) {
      return;
    }
    best.source = source;
  });
  if ((bridged & class_bit(*id)) == 0 || !best.is_lane()) return best;
  best.is_contested = true;
  if (carrier.classes.bridged_may_have_turn(*id) &&
      parts_.held.lead(*id) <= carrier.classes.lead(*id, best.source)) {
    best.source = Carrier::kBridgedSource;
  }
  return best;
}

// Whether no other source has anything to send, and all bytes of this lane are of one class. Then
// the lane may send several packets in a row.
bool Uplink::is_lone(LaneId lane) const {
  if (parts_.carriers.size() > 1 || parts_.held.classes() != 0) return false;
  const Carrier& carrier = *parts_.carriers.front();
  if (!carrier.choice || carrier.choice->source != Carrier::source_of(lane)) return false;
  if (carrier.classes.has_maxima() || carrier.config.finds_capacity()) return false;
  if (parts_.ready_set.from(LaneId()) != lane || parts_.ready_set.from(lane.next())) return false;
  return waits_only_in(lane, carrier.choice->traffic_class);
}

std::size_t Uplink::poll(std::span<const MutableBytes> rooms, std::span<Polled> polled,
                         Instant now) {
  const auto alone = [&](const Polled& frame) -> std::size_t {
    polled.front() = frame;
    return frame.kind == Polled::Kind::kNothing ? 0 : 1;
  };
  if (parts_.held.any_dropped()) {
    if (const std::size_t count = alone(give_up_dropped()); count > 0) return count;
  }
  // If no carrier has room, only urgent packets and packet trains can be sent. This must not change
  // the order of the sources.
  const bool has_room = std::ranges::any_of(
      parts_.carriers, [&](const auto& carrier) { return carrier->pacer.can_send(now); });
  // Control packets of a session wait for at most one bridged frame.
  if (!sessions_first_ && has_room) {
    sessions_first_ = true;
    if (const auto turn = bridged_turn(now)) return alone(release_held(*turn, rooms.front(), now));
  }
  if (has_room) {
    sessions_first_ = false;
    next_lane_ = parts_.ready_set.from(next_lane_.next())
                     .value_or(parts_.ready_set.from(LaneId()).value_or(LaneId()));
  }
  bool session_has_turn = choose_all(now);
  // If a chosen session turns out to have nothing to send, choose again.
  for (std::size_t attempt = 0; attempt <= parts_.lines.size(); ++attempt) {
    if (const std::size_t count = poll_lanes(rooms, polled, now); count > 0) return count;
    if (!session_has_turn) break;
    session_has_turn = choose_all(now);
    if (!session_has_turn) break;
  }
  if (const auto turn = bridged_turn(now)) return alone(release_held(*turn, rooms.front(), now));
  return 0;
}

// Returns the choice of the first carrier on which a held frame is next; nullopt if there is none.
std::optional<Uplink::Choice> Uplink::bridged_turn(Instant now) const {
  if (parts_.held.classes() == 0) return std::nullopt;
  for (const auto& carrier : parts_.carriers) {
    const auto choice = choose(*carrier, parts_.held.classes(), now);
    if (choice && !choice->is_lane()) return choice;
  }
  return std::nullopt;
}

// Chooses the next source on each carrier. Returns true if it is a session on any carrier.
bool Uplink::choose_all(Instant now) {
  bool any = false;
  for (const auto& carrier : parts_.carriers) {
    carrier->choice = choose(*carrier, parts_.held.classes(), now);
    any = any || (carrier->choice && carrier->choice->is_lane());
  }
  return any;
}

// Polls lanes until one of them has a packet. With many lanes, it would take too long to poll all
// of them before each packet.
std::size_t Uplink::poll_lanes(std::span<const MutableBytes> rooms, std::span<Polled> polled,
                               Instant now) {
  if (!parts_.ready_set.from(LaneId())) return 0;
  // The sessions take turns at being polled first. So the control packets of a session wait for at
  // most one packet of each other session.
  std::size_t count = poll_lane(next_lane_, rooms, polled, now);
  if (count > 0) return count;
  for (const auto& carrier : parts_.carriers) {
    if (!carrier->choice || !carrier->choice->is_lane()) continue;
    const LaneId chosen = carrier->choice->lane();
    if (chosen == next_lane_) continue;
    count = poll_lane(chosen, rooms, polled, now);
    if (count > 0) return count;
  }
  parts_.ready_set.for_each_from(next_lane_.next(), [&](LaneId lane) {
    if (lane != next_lane_) count = poll_lane(lane, rooms, polled, now);
    return count == 0;
  });
  return count;
}

// Writes one packet of the lane. If the lane is_lone(), writes up to kPacketsAtOnce packets without
// a new choice.
std::size_t Uplink::poll_lane(LaneId lane, std::span<const MutableBytes> rooms,
                              std::span<Polled> polled, Instant now) {
  rates_.follow(lane, now);
  if (!port_.is_reachable(lane)) return 0;
  const Carrier& carrier = parts_.lines[lane].carrier;
  const bool has_turn = carrier.choice && carrier.choice->source == Carrier::source_of(lane);
  const schedule::Turn turn{.open = carrier.classes.open(now),
                            .first = has_turn ? carrier.choice->traffic_class : ClassId{0},
                            .streams = has_turn,
                            .alone = has_turn && carrier.choice->is_alone};
  const std::size_t at_once = is_lone(lane) ? kPacketsAtOnce : 1;
  std::array<stp::PolledPacket, kPacketsAtOnce> packets;
  std::size_t count = 0;
  bool goes_on = true;
  while (goes_on) {
    const std::size_t most = std::min(rooms.size() - count, at_once);
    const SessionPort::Written sent =
        port_.write_packets(lane, turn, rooms.subspan(count, most), packets, now);
    debit(lane, std::span(packets).first(sent.count), now);
    for (std::size_t i = 0; i < sent.count; ++i) {
      polled[count++] = written(sent.frame_header + packets[i].size);
    }
    goes_on = at_once > 1 && sent.count > 0 && !sent.had_events && count < rooms.size() &&
              waits_only_in(lane, turn.first);
  }
  return count;
}

// Charges each packet to the classes that have bytes in it, and its headers to the first of these
// classes. Control packets of the session are charged to no class.
void Uplink::debit(LaneId lane, std::span<const stp::PolledPacket> packets, Instant now) {
  Line& line = parts_.lines[lane];
  Carrier& carrier = line.carrier;
  std::span<const schedule::ClassBytes> left = line.session.last_classes();
  // Most packets of a burst are of one class, which is charged with their sum.
  schedule::ClassId current = 0;
  std::uint64_t total = 0, passed = 0, sent = 0;
  const auto charge = [&] {
    if (total == 0) return;
    carrier.sent_of[current] += total;
    parts_.held.pass(current, passed);
    carrier.classes.on_relayed(current, total);
    parts_.classes[current].use.relayed_bytes += total;
    total = passed = 0;
  };
  for (const stp::PolledPacket& packet : packets) {
    std::size_t headers =
        carrier.pacer.overhead().accounted(packet.size + line.datagram_overhead).value();
    sent += headers;
    const auto classes = left.first(packet.classes);
    left = left.subspan(packet.classes);
    for (const auto& part : classes) headers -= part.bytes;
    for (const auto& [id, bytes, booked, hosts] : classes) {
      if (id != current) charge();
      current = id;
      const ByteCount all(bytes + headers);
      const ByteCount all_booked(booked + headers);
      headers = 0;
      passed += carrier.classes.on_sent(id, Carrier::source_of(lane), all, all_booked, hosts, now);
      total += all.value();
    }
  }
  charge();
  carrier.sent += sent;
  line.sent += sent;
}

// Charges a frame to each carrier that it may have taken. These are the carriers with room. If no
// carrier has room, these are the carriers with room for urgent packets or, if there are none
// either, all carriers. A slow carrier without room is not charged for frames that faster carriers
// have taken.
template <typename Takes, typename Book>
void Uplink::book(std::size_t ip_bytes, Instant now, Takes&& takes, Book&& book_at) {
  const auto has_room = [&](const auto& carrier) {
    return takes(*carrier) && carrier->pacer.can_send(now);
  };
  const auto has_urgent = [&](const auto& carrier) {
    return takes(*carrier) && carrier->pacer.can_send_urgent(ip_bytes, now);
  };
  const bool any = std::ranges::any_of(parts_.carriers, has_room);
  const bool any_urgent = std::ranges::any_of(parts_.carriers, has_urgent);
  for (const auto& carrier : parts_.carriers) {
    if (any ? !has_room(carrier) : any_urgent && !has_urgent(carrier)) continue;
    if (!takes(*carrier)) continue;
    const ByteCount accounted = carrier->pacer.overhead().accounted(ip_bytes);
    carrier->sent += accounted.value();
    carrier->pacer.on_sent(ip_bytes, now);
    book_at(*carrier, accounted);
  }
}

void Uplink::debit_bridged(const Choice& turn, std::uint64_t lead, std::size_t ip_bytes,
                           Instant now) {
  const ClassId id = turn.traffic_class;
  ByteCount accounted;
  const auto any = [](const Carrier&) { return true; };
  book(ip_bytes, now, any, [&](Carrier& carrier, ByteCount bytes) {
    accounted = bytes;
    carrier.sent_of[id] += bytes.value();
    carrier.classes.on_bridged(id, lead, bytes, now);
    if (turn.is_contested) carrier.classes.on_bridged_beside_relayed(id, bytes);
  });
  ClassUse& use = parts_.classes[turns_.counted_as(id)].use;
  ++use.bridged_frames;
  use.bridged_bytes += accounted.value();
}

// The frame belongs to no class.
void Uplink::book_own(std::size_t frame_size, Instant now) {
  const auto speaks = [this](const Carrier& carrier) { return speaks_on(carrier); };
  book(ip_bytes_of(frame_size), now, speaks, [](Carrier&, ByteCount) {});
}

Polled Uplink::release_held(const Choice& turn, MutableBytes out, Instant now) {
  const ClassId id = turn.traffic_class;
  const auto frame = parts_.held.pop(id, turns_.held_terms(id), now);
  if (!frame) return give_up_dropped();
  parts_.classes[turns_.counted_as(id)].bridged_waits.add(
      static_cast<std::uint64_t>(frame->waited.to_microseconds()));
  debit_bridged(turn, frame->lead, frame->ip_bytes, now);
  if (released_.holds(frame->slot)) {
    return written(released_.write_held(frame->slot, out));
  }
  return {.kind = Polled::Kind::kHeld, .slot = frame->slot};
}

// Returns the next dropped frame that the caller must free.
Polled Uplink::give_up_dropped() {
  while (const auto dropped = parts_.held.take_dropped()) {
    ++parts_.classes[turns_.counted_as(dropped->traffic_class)].use.dropped_frames;
    ++(dropped->cause == HeldFrames::Cause::kLate ? drops_.late : drops_.crowded);
    if (!released_.holds(dropped->slot)) {
      return {.kind = Polled::Kind::kDropped, .slot = dropped->slot};
    }
    released_.drop_held(dropped->slot);
  }
  return {};
}

// Call this if no bridged frame waits in class `turn`. If a new bridged frame of this class would
// be next on any carrier, returns the choice on the first such carrier. One carrier is enough,
// since the modem decides which carrier the frame takes.
std::optional<Uplink::Choice> Uplink::way_out(ClassId turn, Instant now) const {
  for (const auto& carrier : parts_.carriers) {
    const auto choice = choose(*carrier, parts_.held.classes() | class_bit(turn), now);
    if (choice && choice->traffic_class == turn && !choice->is_lane()) return choice;
  }
  return std::nullopt;
}

Instant Uplink::next_turn(Instant now) const {
  if (parts_.held.any_dropped()) return now;
  Instant next = Instant::never();
  for (const auto& carrier : parts_.carriers) {
    // each session itself reports when its pacer allows the next packet
    if (parts_.held.classes() == 0 && !carrier->classes.has_maxima()) continue;
    ClassSet streams = 0;
    parts_.ready_set.for_each([&](LaneId lane) {
      if (&parts_.lines[lane].carrier == carrier.get() && port_.is_reachable(lane)) {
        streams |= parts_.lines[lane].session.waiting();
      }
    });
    const ClassSet open = carrier->classes.open(now);
    if (const ClassSet shut = (streams | parts_.held.classes()) & ~open; shut != 0) {
      next = earlier(next, later(carrier->classes.opens_at(shut), carrier->pacer.next_send()));
    }
    if ((parts_.held.classes() & open) != 0) next = earlier(next, carrier->pacer.next_send());
  }
  return next;
}

}  // namespace satrelay::gateway
