#include <algorithm>

#include "pep/base/check.h"
#include "pep/stp/session_impl.h"

namespace satrelay::stp {

namespace {

// One part in so many of the packets in flight is for control only.
constexpr std::uint32_t kControlShare = 16;

}  // namespace

// The limit for the next packet, which may have to be shorter. A PING on a silent path may be as
// long as the limit (below).
std::size_t Session::Impl::next_limit() {
  if (!connection.connected()) return datagram_limit();
  Path& way = path();
  const SentLedger& ledger = association->ledger;
  const bool frozen = way.probes.frozen();
  way.mtu.on_silence(frozen ? PathMtu::Doubt::kGrave : way.doubt_of_large_packets(ledger, now));
  return frozen && !way.probes.data_allowed() ? way.mtu.limit() : way.mtu.limit_for(ledger.next());
}

bool Session::Impl::data_allowed() const {
  if (!connection.connected()) return false;
  const ProbeTimer& probes = path().probes;
  if (probes.frozen() && !probes.data_allowed()) return false;
  // If the window is full of packets that no report will come for, it opens for one packet that
  // asks for a report.
  if (!path().gate.window_open() && probes.in_flight() > 0 && !probes.data_allowed()) return false;
  const std::uint64_t in_flight = association->ledger.next() - path().losses.oldest_unresolved();
  return in_flight < most_in_flight();
}

// Data waits while so many packets are in flight.
std::uint64_t Session::Impl::most_in_flight() const {
  return config.max_packets_in_flight - config.max_packets_in_flight / kControlShare;
}

bool Session::Impl::credits_wait() const {
  const LaneReceiveCredit& lane = streams->receiving().credit().lane();
  return !streams->due().credits().empty() || lane.urgent() || lane.lost() ||
         streams->receiving().credit().start().due();
}

bool Session::Impl::control_waits() const {
  return path().requests.due() || !streams->due().resets().empty() ||
         (credits_wait() && now >= path().feedback.credits_at()) ||
         streams->due().confirmations_due(now) || own_capacity.due();
}

// `room`: as the gate gave it for the burst; nullopt: for this packet alone.
std::size_t Session::Impl::finish_packet(PacketBuilder& packet, const Coverage& coverage,
                                         const std::optional<RateGate::Room>& room) {
  if (!packet.eliciting() && path().requests.on_unasked() &&
      packet.remaining() >= kMaxPingFrameSize) {
    write_ping(packet.frames(), {path().losses.oldest_unresolved()});
    packet.set_eliciting();
  }
  if (packet.eliciting()) path().requests.on_asked();
  if (!association->ledger.has_room(path().losses.oldest_unresolved())) recovery().make_room();
  if (packet.is_protected()) {
    const auto classes = writer.packet_classes();
    repair_planner().add(
        packet, coverage,
        classes.empty() ? std::nullopt : std::optional(classes.front().stream_class),
        config.repair.prompt_share);
  }
  PacketHeader header;
  header.lane = config.lane;
  header.is_protected = packet.is_protected();
  const MutableBytes whole =
      packet.close(header, association->ledger.next(), connection.protection());
  SentPacket& sent = association->ledger.append(now, whole.size(), packet.eliciting(),
                                                packet.items(), path().losses.oldest_unresolved());
  // New data that follows at once finds next to nothing booked, and its controller asks nothing.
  if (!room) sent.set_booked_before(path().gate.booked(now));
  sent.low_priority = control::is_low(path().gate.on_sent(packet.purpose(), whole.size(), now));
  if (!room && path().gate.take_question()) path().requests.ask();
  sent.covered = packet.is_protected();
  sent.prompt = sent.covered && coverage.code == FecCode::kPrompt;
  if (packet.eliciting()) path().probes.on_sent(now);
  return count_out(whole, room);
}

bool Session::Impl::mtu_probe_waits() const {
  return data_allowed() && !path().probes.frozen() && path().mtu.probe_due() > 0;
}

// The loss of this packet costs nothing: it holds only PING and PADDING.
std::size_t Session::Impl::send_mtu_probe(MutableBytes out) {
  const std::size_t size = path().mtu.probe_due();
  if (size > out.size()) return 0;
  PacketBuilder packet(out.first(size), connection.protection().trailer_size());
  if (path().mtu.is_last_of_round()) {
    write_ping(packet.frames(), {path().requests.announce(path().losses.oldest_unresolved())});
  }
  packet.pad();
  packet.set_eliciting();
  path().mtu.on_probe_sent(association->ledger.next());
  ++counters.mtu_probes;
  return finish_packet(packet, {}, {});
}

std::size_t Session::Impl::send_hello(MutableBytes out) {
  path().gate.on_unlisted();
  const Connection::Hello hello = connection.make_hello(config.streams.receive_limit, now);
  PacketBuilder packet(out, kTrailerSize);
  write_hello(packet.frames(), hello.frame, hello.keys);
  PacketHeader header;
  header.type = PacketType::kHello;
  header.lane = config.lane;
  header.number = hello.number;
  const MutableBytes whole = packet.close(header);
  connection.close_hello(whole);
  return count_out(whole);
}

std::size_t Session::Impl::send_close(MutableBytes out) {
  CloseSequence& close_sequence = connection.close_sequence();
  Protection& protection = connection.protection();
  close_sequence.on_turn(now);
  path().gate.on_unlisted();
  if (protection.is_worn_out(close_sequence.number())) return 0;
  PacketBuilder packet(out, protection.trailer_size());
  write_close(packet.frames(), {ResetReason::kShutdown});
  PacketHeader header;
  header.lane = config.lane;
  const MutableBytes whole = packet.close(header, close_sequence.number(), protection);
  close_sequence.on_sent();
  return count_out(whole);
}

// Sends the next repair as a packet of its own, while the pacers are open. Returns 0 if none may
// leave.
std::size_t Session::Impl::send_repair(MutableBytes out) {
  if (!may_repair() || path().probes.frozen() || !data_allowed()) return 0;
  if (control_waits() || report_waits()) return 0;
  const std::size_t trailer = connection.protection().trailer_size();
  if (now >= fec->prompt.due()) {
    PacketBuilder packet(out.first(std::min<std::size_t>(out.size(), next_limit())), trailer);
    // These repairs accompany the bytes of prompt flows all the time, and count to their class.
    if (fec->prompt.write(packet.frames(), now)) return finish_repair(packet, fec->prompt_class);
  }
  if (fec->sender.rests()) return 0;
  PacketBuilder packet(out, trailer);
  const auto stream_class = repair_planner().write_repair(packet);
  return stream_class ? finish_repair(packet, *stream_class) : 0;
}

std::size_t Session::Impl::finish_repair(PacketBuilder& packet, schedule::ClassId stream_class) {
  ++counters.repair_packets_out;
  writer.count_repair(stream_class, packet.written().size());
  return finish_packet(packet, {}, {});
}

// When a repair may leave.
Instant Session::Impl::next_repair() const {
  if (!may_repair() || path().probes.frozen() || !data_allowed()) return Instant::never();
  return later(repair_planner().next_repair(), path().gate.opens_at());
}

// Debits and counts a finished packet. Returns its size.
std::size_t Session::Impl::count_out(ConstBytes packet, const std::optional<RateGate::Room>& room) {
  path().gate.debit(packet.size(), now, room);
  ++counters.packets_out;
  counters.bytes_out += packet.size();
  return packet.size();
}

void Session::Impl::write_control(PacketBuilder& packet) {
  ControlWriter control(
      {.packet = packet,
       .path = path(),
       .received = association->received,
       .streams = *streams,
       .own_capacity = own_capacity,
       .counters = counters,
       .now = now,
       .stp_overhead = stp_overhead(),
       .datagram_overhead = config.datagram.overhead,
       .tells_reception = connection.agreed().reception(),
       .data_waits = data_waits(),
       .data_leaves = data_leaves(),
       .lost_in_bursts = fec != nullptr && fec->runs.mean() >= double{ReceivedPackets::kBurst},
       .repaired = fec != nullptr ? fec->used_in_session() : 0});
  control.write(credits_wait(), report_waits());
}

}  // namespace satrelay::stp
