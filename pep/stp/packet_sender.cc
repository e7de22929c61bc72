#include "pep/stp/packet_sender.h"

#include <algorithm>

#include "pep/base/check.h"
#include "pep/stp/packets/control_writer.h"

namespace satrelay::stp {

std::size_t PacketSender::poll(std::span<const MutableBytes> rooms, std::size_t before,
                               std::span<PolledPacket> packets) {
  const Changes::Poll poll(core_.changes);
  const auto room = [&](std::size_t i) { return rooms[i].subspan(before); };
  const auto describe = [&](std::size_t i, std::size_t size) {
    const auto classes = writer_.packet_classes();
    for (schedule::ClassBytes& each : classes) {
      each.hosts = core_.streams->sending().schedule().hosts(each.stream_class);
    }
    packets[i] = {.size = static_cast<std::uint16_t>(size),
                  .classes = static_cast<std::uint8_t>(classes.size()),
                  .priority = core_.path().gate.last_priority()};
  };
  Burst burst;
  if (const std::size_t size = begin_burst(burst, room(0)); size > 0) {
    describe(0, size);
    return 1;
  }
  if (!burst.may_send) return 0;
  PacketBuilder packet(room(0), core_.connection.protection().trailer_size());
  StreamWriter::Job job{packet, *core_.streams, core_.path().loss_rate, core_.now};
  std::size_t count = 0;
  std::size_t size = write_packet<Check::kUnchecked>(burst, job, room(0));
  job.only_new = true;  // for all further packets
  while (size > 0) {
    describe(count++, size);
    if (count == rooms.size()) break;
    const MutableBytes next = room(count);
    if (next.size() < kMinDatagram || !goes_on(burst)) break;
    size = write_packet<Check::kChecked>(burst, job, next);
  }
  if (burst.only_data_sent) core_.changes.note_only_data(core_.now, burst.epoch);
  return count;
}

// Makes the checks that hold for all packets of a burst. If a packet of its own is due (CLOSE,
// HELLO, a probe of the path MTU, or a repair), writes it into `room`, and returns its size.
std::size_t PacketSender::begin_burst(Burst& burst, MutableBytes room) {
  burst.limit = next_limit();
  const MutableBytes out = room.first(std::min<std::size_t>(room.size(), burst.limit));
  if (out.size() < kMinDatagram) return 0;
  burst.only_data = core_.changes.only_data(core_.now);
  core_.changes.forget_only_data();
  if (core_.connection.has_closed())
    return core_.connection.close_leaves(core_.path().gate, core_.now) ? send_close(out) : 0;
  if (!burst.only_data) timers_.run();
  const std::uint64_t next = core_.association->ledger.next();
  if (core_.connection.connected()) core_.connection.greet_again(next, core_.now);
  if (core_.connection.hello_leaves(core_.path().gate, core_.now)) return send_hello(out);
  if (!core_.connection.connected() || core_.connection.protection().is_worn_out(next)) return 0;
  core_.path().gate.update(core_.path().rtt.smoothed(), core_.datagram_limit(), core_.now);
  // If several sessions share the link, the part of each is not known here.
  core_.streams->sending().schedule().set_rate(
      writer_.turn().alone ? core_.path().gate.steady_rate() : BitRate());
  burst.is_open = core_.path().gate.open(core_.now);
  burst.may_send = burst.is_open || core_.path().gate.control_open(core_.now);
  if (!burst.is_open || burst.only_data) return 0;
  if (demand_.mtu_probe_waits()) {
    if (const std::size_t size = send_mtu_probe(room); size > 0) return size;
  }
  // A repair is as long as its longest packet, which may have been sent before large packets were
  // in doubt. A shorter limit would drop the repairs of the whole window.
  return send_repair(room.first(std::min<std::size_t>(room.size(), core_.path().mtu.limit())));
}

// Whether the next packet may follow without new checks, after a packet of the burst was sent. It
// may if it can only contain new bytes of the class that has the turn, and the relay has no event
// to handle first.
bool PacketSender::goes_on(Burst& burst) {
  if (!burst.only_data_sent || core_.changes.epoch() != burst.epoch) return false;
  if (!burst.room && !keep_answers(burst)) return false;
  if (core_.association->ledger.next() >= burst.end || !core_.path().gate.has_room(*burst.room))
    return false;
  if (burst.wrote == StreamWriter::Wrote::kMoreOfTheSame) return true;
  return writer_.only_new_follows(*core_.streams, core_.now) && core_.peer_events.empty() &&
         core_.streams->events().empty();
}

// Keeps the results of begin_burst() that further packets cannot change. Returns false if one of
// them holds only for a single packet.
bool PacketSender::keep_answers(Burst& burst) {
  const std::uint64_t next = core_.association->ledger.next();
  if (!core_.connection.is_alive() || core_.path().probes.frozen()) return false;
  if (core_.path().mtu.doubt() != PathMtu::Doubt::kNone) return false;
  if (core_.connection.next_hello(core_.path().gate) <= core_.now ||
      core_.connection.needs_keys(next, core_.now))
    return false;
  burst.only_data = true;
  burst.may_cover = core_.may_repair() && !core_.fec->policy.is_clean();
  burst.limit = core_.datagram_limit();
  burst.end = std::min(core_.path().losses.oldest_unresolved() + demand_.most_in_flight(),
                       core_.connection.protection().same_key_until(next));
  core_.path().gate.update(core_.path().rtt.smoothed(), burst.limit, core_.now);
  burst.room = core_.path().gate.room(core_.now);
  return burst.room.has_value();
}

// A packet with only data was sent. Returns whether everything else waits for time or input, and
// more data cannot make it due. Then nothing can become due before the next packet at this instant.
bool PacketSender::only_data_follows() const {
  const bool repairs =
      core_.may_repair() && !(core_.fec->sender.rests() && core_.now < core_.fec->prompt.due());
  return !repairs && !demand_.credits_wait() && core_.path().mtu.probe_due() == 0 &&
         core_.path().probes.next_probe() > core_.now;
}

// Writes the next packet of the burst: control frames, unless only data can be due, and stream
// bytes. Returns its size; 0 if there is nothing to send.
template <PacketSender::Check Kind>
std::size_t PacketSender::write_packet(Burst& burst, const StreamWriter::Job& job,
                                       MutableBytes room) {
  constexpr bool kIsChecked = Kind == Check::kChecked;
  PacketBuilder& packet = job.packet;
  const bool has_data = kIsChecked || (burst.is_open && demand_.data_waits());
  const MutableBytes out = room.first(std::min<std::size_t>(room.size(), burst.limit));
  packet.renew(out);
  if (has_data && burst.may_cover) cover(burst, packet, out);
  const bool is_ping = !kIsChecked && core_.path().requests.due();
  if (!kIsChecked && !burst.only_data) write_control(packet);
  const bool only_data = packet.empty();
  const std::uint64_t epoch = core_.changes.epoch();
  burst.wrote = StreamWriter::Wrote::kAnything;
  if (only_data ? has_data : burst.is_open && demand_.data_waits()) {
    const std::size_t items = packet.items().size();
    burst.wrote = writer_.write(job);
    if (packet.items().size() > items) core_.path().probes.on_data_sent();
  }
  if (packet.empty()) return 0;
  if (is_ping) pad_every_second_ping(packet);
  const bool is_covered = packet.is_protected();
  const std::uint64_t settled = core_.path().losses.oldest_unresolved();
  const std::size_t size = kIsChecked && !is_covered
                               ? finish_packet<Check::kChecked>(packet, burst.coverage)
                               : finish_packet<Check::kUnchecked>(packet, burst.coverage);
  // If the ledger was full, its oldest packet was declared lost, and its content may have to be
  // sent first.
  const bool is_same = core_.path().losses.oldest_unresolved() == settled;
  burst.epoch = epoch;
  burst.only_data_sent =
      only_data && !is_covered && is_same && (kIsChecked || burst.only_data || only_data_follows());
  return size;
}

// On a silent path, small and large PINGs alternate: an outage drops both, but a black hole drops
// only the large ones.
void PacketSender::pad_every_second_ping(PacketBuilder& packet) {
  Path& path = core_.path();
  if (!path.probes.frozen() || !path.mtu.is_raised() || !path.gate.open(core_.now)) return;
  path.large_ping = !path.large_ping;
  if (path.large_ping) packet.pad();
}

// Decides whether a code covers the packet that begins in `out`. The first stream in the packet
// decides how the whole packet is covered.
void PacketSender::cover(Burst& burst, PacketBuilder& packet, MutableBytes out) {
  if (!core_.may_repair()) return;
  const RepairPlanner planner = demand_.repair_planner();
  const std::optional<FecCode> code = planner.code();
  if (!code) return;
  packet.renew(out.first(out.size() - kRepairOverhead));
  burst.coverage = planner.protect(packet, *code);
}

// Returns the largest size of the next packet. If large packets may be lost, the size may be
// smaller than the limit of the path. But while a silent path may carry no data, the size is that
// limit. Every second PING is then padded up to the limit, to find out whether large packets get
// through.
std::size_t PacketSender::next_limit() {
  if (!core_.connection.connected()) return core_.datagram_limit();
  Path& way = core_.path();
  const SentLedger& ledger = core_.association->ledger;
  const bool frozen = way.probes.frozen();
  way.mtu.on_silence(frozen ? PathMtu::Doubt::kGrave
                            : way.doubt_of_large_packets(ledger, core_.now));
  return frozen && !way.probes.data_allowed() ? way.mtu.limit() : way.mtu.limit_for(ledger.next());
}

// Adds header and trailer, and records the packet. A checked packet contains only data, no code
// covers it, and the gate is open.
template <PacketSender::Check Kind>
std::size_t PacketSender::finish_packet(PacketBuilder& packet, const Coverage& coverage) {
  constexpr bool kIsChecked = Kind == Check::kChecked;
  SATRELAY_DCHECK(!kIsChecked || (packet.eliciting() && !packet.is_protected()));
  Path& path = core_.path();
  SentLedger& ledger = core_.association->ledger;
  if (!kIsChecked && !packet.eliciting() && path.requests.on_unasked() &&
      packet.remaining() >= kMaxPingFrameSize) {
    write_ping(packet.frames(), {path.losses.oldest_unresolved()});
    packet.set_eliciting();
  }
  const bool is_eliciting = kIsChecked || packet.eliciting();
  const bool is_covered = !kIsChecked && packet.is_protected();
  if (is_eliciting) path.requests.on_asked();
  if (!ledger.has_room(path.losses.oldest_unresolved())) core_.recovery().make_room();
  if (is_covered) add_to_repairs(packet, coverage);
  PacketHeader header;
  header.lane = core_.config.lane;
  header.is_protected = is_covered;
  const MutableBytes whole = packet.close(header, ledger.next(), core_.connection.protection());
  SentPacket& sent = ledger.append(core_.now, whole.size(), is_eliciting, packet.items(),
                                   path.losses.oldest_unresolved());
  // Within a checked burst of data, next to nothing is booked on the carrier, and the controller
  // asks no question.
  if (!kIsChecked) sent.set_booked_before(path.gate.booked(core_.now));
  if (control::is_low(path.gate.on_sent(packet.purpose(), whole.size(), core_.now)))
    sent.low_priority = true;
  if (!kIsChecked && path.gate.take_question()) path.requests.ask();
  if (is_covered) {
    sent.covered = true;
    sent.prompt = coverage.code == FecCode::kPrompt;
  }
  if (is_eliciting) path.probes.on_sent(core_.now);
  return count_out(whole, kIsChecked);
}

void PacketSender::add_to_repairs(const PacketBuilder& packet, const Coverage& coverage) {
  const auto classes = writer_.packet_classes();
  demand_.repair_planner().add(
      packet, coverage,
      classes.empty() ? std::nullopt : std::optional(classes.front().stream_class),
      core_.config.repair.prompt_share);
}

// This packet contains only PING and PADDING, so its loss costs nothing.
std::size_t PacketSender::send_mtu_probe(MutableBytes out) {
  const std::size_t size = core_.path().mtu.probe_due();
  if (size > out.size()) return 0;
  PacketBuilder packet(out.first(size), core_.connection.protection().trailer_size());
  if (core_.path().mtu.is_last_of_round()) {
    write_ping(packet.frames(),
               {core_.path().requests.announce(core_.path().losses.oldest_unresolved())});
  }
  packet.pad();
  packet.set_eliciting();
  core_.path().mtu.on_probe_sent(core_.association->ledger.next());
  ++core_.counters.mtu_probes;
  return finish_packet<Check::kUnchecked>(packet, {});
}

std::size_t PacketSender::send_hello(MutableBytes out) {
  core_.path().gate.on_unlisted();
  const Connection::Hello hello =
      core_.connection.make_hello(core_.config.streams.receive_limit, core_.now);
  PacketBuilder packet(out, kTrailerSize);
  write_hello(packet.frames(), hello.frame, hello.keys);
  PacketHeader header;
  header.type = PacketType::kHello;
  header.lane = core_.config.lane;
  header.number = hello.number;
  const MutableBytes whole = packet.close(header);
  core_.connection.close_hello(whole);
  return count_out(whole, false);
}

std::size_t PacketSender::send_close(MutableBytes out) {
  CloseSequence& close_sequence = core_.connection.close_sequence();
  Protection& protection = core_.connection.protection();
  close_sequence.on_turn(core_.now);
  core_.path().gate.on_unlisted();
  if (protection.is_worn_out(close_sequence.number())) return 0;
  PacketBuilder packet(out, protection.trailer_size());
  write_close(packet.frames(), {ResetReason::kShutdown});
  PacketHeader header;
  header.lane = core_.config.lane;
  const MutableBytes whole = packet.close(header, close_sequence.number(), protection);
  close_sequence.on_sent();
  return count_out(whole, false);
}

// Sends the next repair as a packet of its own, while the pacers are open. Returns 0 if none may be
// sent.
std::size_t PacketSender::send_repair(MutableBytes out) {
  if (!demand_.repairs_allowed()) return 0;
  if (demand_.control_waits() || demand_.report_waits()) return 0;
  const std::size_t trailer = core_.connection.protection().trailer_size();
  if (core_.now >= core_.fec->prompt.due()) {
    PacketBuilder packet(out.first(std::min<std::size_t>(out.size(), next_limit())), trailer);
    // These repairs are sent continuously with the bytes of prompt flows, and count for the class
    // of these flows.
    if (core_.fec->prompt.write(packet.frames(), core_.now))
      return finish_repair(packet, core_.fec->prompt_class);
  }
  if (core_.fec->sender.rests()) return 0;
  PacketBuilder packet(out, trailer);
  const auto stream_class = demand_.repair_planner().write_repair(packet);
  return stream_class ? finish_repair(packet, *stream_class) : 0;
}

std::size_t PacketSender::finish_repair(PacketBuilder& packet, schedule::ClassId stream_class) {
  ++core_.counters.repair_packets_out;
  writer_.count_repair(stream_class, packet.written().size());
  return finish_packet<Check::kUnchecked>(packet, {});
}

// Debits and counts a finished packet. Returns its size.
std::size_t PacketSender::count_out(ConstBytes packet, bool is_checked) {
  core_.path().gate.debit(packet.size(), core_.now, is_checked);
  ++core_.counters.packets_out;
  core_.counters.bytes_out += packet.size();
  return packet.size();
}

void PacketSender::write_control(PacketBuilder& packet) {
  ControlWriter control(
      {.packet = packet,
       .path = core_.path(),
       .received = core_.association->received,
       .streams = *core_.streams,
       .own_capacity = core_.own_capacity,
       .counters = core_.counters,
       .now = core_.now,
       .stp_overhead = core_.stp_overhead(),
       .datagram_overhead = core_.config.datagram.overhead,
       .tells_reception = core_.connection.agreed().reception(),
       .data_waits = demand_.data_waits(),
       .data_leaves = demand_.data_leaves(),
       .lost_in_bursts =
           core_.fec != nullptr && core_.fec->runs.mean() >= double{ReceivedPackets::kBurst},
       .repaired = core_.fec != nullptr ? core_.fec->used_in_session() : 0});
  control.write(demand_.credits_wait(), demand_.report_waits());
}

}  // namespace satrelay::stp
