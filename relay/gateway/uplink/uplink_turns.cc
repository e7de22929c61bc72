// Chooses the source that sends next.
#include <algorithm>
#include <array>

#include "relay/gateway/uplink/uplink.h"

namespace satrelay::gateway {

using schedule::class_bit;
using schedule::ClassId;
using schedule::ClassSet;

namespace {

constexpr std::size_t kPacketsOfARun = 32;

}  // namespace

std::optional<Uplink::Choice> Uplink::choose(const Carrier& carrier, ClassSet bridged,
                                             Instant now) const {
  if (!carrier.pacer.can_send(now)) {
    // Only a train may go on now, since trains run ahead of the carrier.
    if (!carrier.config.finds_capacity()) return std::nullopt;
    bridged = 0;
  }
  const auto waiting_of = [&](LaneId lane) -> ClassSet {
    const Line& line = lines_[lane];
    if (&line.carrier != &carrier) return 0;
    const ClassSet set = line.session.waiting();
    return set != 0 && line.session.may_send(now) && port_.is_reachable(lane) ? set : 0;
  };
  ClassSet waiting = bridged;
  std::size_t sources = bridged == 0 ? 0 : 1;
  std::size_t last = Carrier::kBridgedSource;
  ready_set_.for_each([&](LaneId lane) {
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
  ready_set_.for_each([&](LaneId lane) {
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
      held_.lead(*id) <= carrier.classes.lead(*id, best.source)) {
    best.source = Carrier::kBridgedSource;
  }
  return best;
}

bool Uplink::lone_lane_waits() const {
  return lines_[*lone_lane_].session.waiting() ==
         class_bit(carriers_.front()->choice->traffic_class);
}

// Polls the lane that had the last turn, without choosing again. 0: it has nothing to send, or must
// be chosen again. Its session knows by itself whether it may send. If it may not, no other source
// would have the turn.
std::size_t Uplink::poll_lone_lane(MutableBytes out, Instant now) {
  return lone_lane_waits() ? poll_lane(*lone_lane_, out, now) : 0;
}

std::size_t Uplink::poll_run(std::span<const MutableBytes> rooms, std::span<Polled> polled,
                             Instant now) {
  if (!lone_lane_waits()) return 0;
  const LaneId lane = *lone_lane_;
  const Carrier& carrier = *carriers_.front();
  const schedule::Turn turn{.first = carrier.choice->traffic_class};
  std::array<stp::RunPacket, kPacketsOfARun> packets;
  const SessionPort::Run run = port_.write_run(
      lane, turn, rooms.first(std::min(rooms.size(), kPacketsOfARun)), packets, now);
  for (std::size_t i = 0; i < run.count; ++i) {
    polled[i] = written(run.frame_header + packets[i].size);
  }
  debit_run(lane, turn.first, std::span(packets).first(run.count), now);
  return run.count;
}

// The chosen lane has sent a packet.
void Uplink::note_lone_lane() {
  if (carriers_.size() > 1 || held_.classes() != 0) return;
  const Carrier& carrier = *carriers_.front();
  if (!carrier.choice || !carrier.choice->is_lane()) return;
  if (carrier.classes.has_maxima() || carrier.config.finds_capacity()) return;
  const LaneId lane = carrier.choice->lane();
  if (ready_set_.from(LaneId()) != lane || ready_set_.from(lane.next())) return;
  const ClassSet waiting = lines_[lane].session.waiting();
  if (waiting == class_bit(carrier.choice->traffic_class)) lone_lane_ = lane;
}

Polled Uplink::poll(MutableBytes out, Instant now) {
  if (held_.any_dropped()) {
    if (const Polled dropped = give_up_dropped(); dropped.kind != Polled::Kind::kNothing) {
      return dropped;
    }
  }
  if (lone_lane_) {
    if (const std::size_t size = poll_lone_lane(out, now); size > 0) {
      return written(size);
    }
    lone_lane_.reset();
  }
  // If no carrier has room, little could be sent. So no source uses up its turn.
  const bool has_room = std::ranges::any_of(
      carriers_, [&](const auto& carrier) { return carrier->pacer.can_send(now); });
  // Control of a session waits for at most one bridged frame.
  if (!sessions_first_ && has_room) {
    sessions_first_ = true;
    if (const auto turn = bridged_turn(now)) return release_held(*turn, out, now);
  }
  if (has_room) {
    sessions_first_ = false;
    next_lane_ =
        ready_set_.from(next_lane_.next()).value_or(ready_set_.from(LaneId()).value_or(LaneId()));
  }
  bool session_has_turn = choose_all(now);
  // A session that has the turn may find nothing to send.
  for (std::size_t attempt = 0; attempt <= lines_.size(); ++attempt) {
    if (const std::size_t size = poll_lanes(out, now); size > 0) {
      note_lone_lane();
      return written(size);
    }
    if (!session_has_turn) break;
    session_has_turn = choose_all(now);
    if (!session_has_turn) break;
  }
  if (const auto turn = bridged_turn(now)) return release_held(*turn, out, now);
  return {};
}

// The choice by which a held frame may leave, on any carrier.
std::optional<Uplink::Choice> Uplink::bridged_turn(Instant now) const {
  if (held_.classes() == 0) return std::nullopt;
  for (const auto& carrier : carriers_) {
    const auto choice = choose(*carrier, held_.classes(), now);
    if (choice && !choice->is_lane()) return choice;
  }
  return std::nullopt;
}

// Chooses on each carrier. True if a session has the turn on any of them.
bool Uplink::choose_all(Instant now) {
  bool any = false;
  for (const auto& carrier : carriers_) {
    carrier->choice = choose(*carrier, held_.classes(), now);
    any = any || (carrier->choice && carrier->choice->is_lane());
  }
  return any;
}

// Asking each of many lanes before every packet would take too long.
std::size_t Uplink::poll_lanes(MutableBytes out, Instant now) {
  if (!ready_set_.from(LaneId())) return 0;
  // One session is asked in turn, so that its control waits for at most one packet of each other
  // session.
  if (const std::size_t size = poll_lane(next_lane_, out, now); size > 0) return size;
  for (const auto& carrier : carriers_) {
    if (!carrier->choice || !carrier->choice->is_lane()) continue;
    const LaneId chosen = carrier->choice->lane();
    if (chosen == next_lane_) continue;
    if (const std::size_t size = poll_lane(chosen, out, now); size > 0) return size;
  }
  std::size_t size = 0;
  ready_set_.for_each_from(next_lane_.next(), [&](LaneId lane) {
    if (lane != next_lane_) size = poll_lane(lane, out, now);
    return size == 0;
  });
  return size;
}

std::size_t Uplink::poll_lane(LaneId lane, MutableBytes out, Instant now) {
  follow(lane, now);
  if (!port_.is_reachable(lane)) return 0;
  const Carrier& carrier = lines_[lane].carrier;
  const bool has_turn = carrier.choice && carrier.choice->source == Carrier::source_of(lane);
  const schedule::Turn turn{.open = carrier.classes.open(now),
                            .first = has_turn ? carrier.choice->traffic_class : ClassId{0},
                            .streams = has_turn,
                            .alone = has_turn && carrier.choice->is_alone};
  const SessionPort::Written written = port_.write_packet(lane, turn, out, now);
  if (written.frame > 0) debit_relayed(lane, written.datagram, now);
  return written.frame;
}

// Debits a packet to the classes that have bytes in it, and its headers to the first of these.
// Control of the session takes no class's turn.
void Uplink::debit_relayed(LaneId lane, std::size_t datagram, Instant now) {
  Line& line = lines_[lane];
  const stp::Session& session = line.session;
  Carrier& carrier = line.carrier;
  std::size_t headers =
      carrier.pacer.overhead().accounted(datagram + line.datagram_overhead).value();
  carrier.sent += headers;
  line.sent += headers;
  for (const auto& part : session.last_classes()) headers -= part.bytes;
  for (const auto& [id, bytes, booked] : session.last_classes()) {
    const ByteCount all(bytes + headers);
    const ByteCount all_booked(booked + headers);
    headers = 0;
    carrier.sent_of[id] += all.value();
    held_.pass(id, carrier.classes.on_sent(id, Carrier::source_of(lane), all, all_booked,
                                           session.waiting_hosts(id), now));
    carrier.classes.on_relayed(id, all.value());
    classes_[id].use.relayed_bytes += all.value();
  }
}

// Debits each packet by itself, since any of them may use up the guaranteed rate of the class.
void Uplink::debit_run(LaneId lane, ClassId id, std::span<const stp::RunPacket> packets,
                       Instant now) {
  Line& line = lines_[lane];
  Carrier& carrier = line.carrier;
  std::uint64_t total = 0, passed = 0;
  for (const stp::RunPacket& packet : packets) {
    const ByteCount all = carrier.pacer.overhead().accounted(packet.size + line.datagram_overhead);
    const ByteCount all_booked(all.value() - packet.bytes + packet.booked);
    total += all.value();
    passed +=
        carrier.classes.on_sent(id, Carrier::source_of(lane), all, all_booked, packet.hosts, now);
  }
  held_.pass(id, passed);
  carrier.classes.on_relayed(id, total);
  carrier.sent += total;
  line.sent += total;
  carrier.sent_of[id] += total;
  classes_[id].use.relayed_bytes += total;
}

// Debits a frame to all carriers that it may have taken: the carriers with room, or else the
// carriers with room for urgent packets, or else all. A slow carrier without room is spared.
// Otherwise the traffic of faster carriers would book it out.
template <typename Takes, typename Book>
void Uplink::book(std::size_t ip_bytes, Instant now, Takes&& takes, Book&& book_at) {
  const auto has_room = [&](const auto& carrier) {
    return takes(*carrier) && carrier->pacer.can_send(now);
  };
  const auto has_urgent = [&](const auto& carrier) {
    return takes(*carrier) && carrier->pacer.can_send_urgent(ip_bytes, now);
  };
  const bool any = std::ranges::any_of(carriers_, has_room);
  const bool any_urgent = std::ranges::any_of(carriers_, has_urgent);
  for (const auto& carrier : carriers_) {
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
  ClassUse& use = classes_[counted_as(id)].use;
  ++use.bridged_frames;
  use.bridged_bytes += accounted.value();
}

// The frame is of no class.
void Uplink::book_own(std::size_t frame_size, Instant now) {
  const auto speaks = [this](const Carrier& carrier) { return speaks_on(carrier); };
  book(ip_bytes_of(frame_size), now, speaks, [](Carrier&, ByteCount) {});
}

Polled Uplink::release_held(const Choice& turn, MutableBytes out, Instant now) {
  const ClassId id = turn.traffic_class;
  const auto frame = held_.pop(id, held_terms(id), now);
  if (!frame) return give_up_dropped();
  classes_[counted_as(id)].bridged_waits.add(
      static_cast<std::uint64_t>(frame->waited.to_microseconds()));
  debit_bridged(turn, frame->lead, frame->ip_bytes, now);
  if (released_.holds(frame->slot)) {
    return written(released_.write_held(frame->slot, out));
  }
  return {.kind = Polled::Kind::kHeld, .slot = frame->slot};
}

// The next dropped frame that the caller must throw away.
Polled Uplink::give_up_dropped() {
  while (const auto dropped = held_.take_dropped()) {
    ++classes_[counted_as(dropped->traffic_class)].use.dropped_frames;
    ++(dropped->cause == HeldFrames::Cause::kLate ? drops_.late : drops_.crowded);
    if (!released_.holds(dropped->slot)) {
      return {.kind = Polled::Kind::kDropped, .slot = dropped->slot};
    }
    released_.drop_held(dropped->slot);
  }
  return {};
}

// The choice by which a bridged frame leaves at once, if no other bridged frame of its class waits.
// The modem decides which carrier the frame takes. So with several carriers it leaves if any of
// them has room.
std::optional<Uplink::Choice> Uplink::way_out(ClassId turn, Instant now) const {
  for (const auto& carrier : carriers_) {
    const auto choice = choose(*carrier, held_.classes() | class_bit(turn), now);
    if (choice && choice->traffic_class == turn && !choice->is_lane()) return choice;
  }
  return std::nullopt;
}

Instant Uplink::next_turn(Instant now) const {
  if (held_.any_dropped()) return now;
  Instant next = Instant::never();
  for (const auto& carrier : carriers_) {
    // Sessions report by themselves when their pacers open.
    if (held_.classes() == 0 && !carrier->classes.has_maxima()) continue;
    ClassSet streams = 0;
    ready_set_.for_each([&](LaneId lane) {
      if (&lines_[lane].carrier == carrier.get() && port_.is_reachable(lane)) {
        streams |= lines_[lane].session.waiting();
      }
    });
    const ClassSet open = carrier->classes.open(now);
    if (const ClassSet shut = (streams | held_.classes()) & ~open; shut != 0) {
      next = earlier(next, later(carrier->classes.opens_at(shut), carrier->pacer.next_send()));
    }
    if ((held_.classes() & open) != 0) next = earlier(next, carrier->pacer.next_send());
  }
  return next;
}

}  // namespace satrelay::gateway
