#include <algorithm>
#include <utility>

#include "pep/base/check.h"
#include "pep/stp/session_impl.h"

namespace satrelay::stp {

namespace {

// One part in so many of the packets in flight is for control only.
constexpr std::uint32_t kControlShare = 16;

// Few RESETs carry an ICMP error, so they need room for one only then.
std::size_t room_for_reset(const Stream& stream) {
  return kMaxResetFrameSize - (stream.reset_reason == ResetReason::kIcmp ? 0 : kMaxIcmpRefusalSize);
}

}  // namespace

// The largest datagram that the path is known to carry and that both ends take. HELLOs and OPENs
// always fit.
std::size_t Session::Impl::datagram_limit() const {
  return connected() ? path().mtu.limit() : std::min(config.datagram_base, config.datagram_size);
}

// The limit for the next packet, which may have to be shorter. A PING on a silent path may be as
// long as the limit (below).
std::size_t Session::Impl::next_limit() {
  if (!connected()) return datagram_limit();
  Path& way = path();
  const SentLedger& ledger = association->ledger;
  const bool frozen = way.probes.frozen();
  way.mtu.on_silence(frozen ? PathMtu::Doubt::kGrave : way.doubt_of_large_packets(ledger, now));
  return frozen && !way.probes.data_allowed() ? way.mtu.limit() : way.mtu.limit_for(ledger.next());
}

bool Session::Impl::data_allowed() const {
  if (!connected()) return false;
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
  const LaneReceiveCredit& lane = streams->receive_credit().lane();
  return !streams->due().credits.empty() || lane.urgent() || lane.lost() ||
         streams->receive_credit().start().due();
}

bool Session::Impl::control_waits() const {
  return path().requests.due() || !streams->due().resets.empty() ||
         (credits_wait() && now >= path().feedback.credits_at()) ||
         streams->confirmations_due(now) || own_capacity.due();
}

std::size_t Session::Impl::poll_packet(MutableBytes out) {
  const MutableBytes room = out;
  out = out.first(std::min<std::size_t>(out.size(), next_limit()));
  if (out.size() < kMinDatagram) return 0;
  const bool goes_on = std::exchange(goes_on_at, Instant::never()) == now;
  if (state == PeerState::kClosed && close_sequence.said())
    return hello_turns.close_leaves(close_sequence, path().gate, now) ? send_close(out) : 0;
  if (!goes_on) run_timers();
  if (connected()) greet_again();
  if (hello_turns.hello_leaves(greeted(), path().gate, now)) return send_hello(out);
  if (!connected() || protection.is_worn_out(association->ledger.next())) return 0;
  path().gate.update(path().rtt.smoothed(), datagram_limit(), now);
  // If several sessions share the link, the part of each is not known here.
  const bool alone = writer.turn().alone;
  streams->schedule().set_rate(alone ? path().gate.steady_rate() : BitRate());
  const bool open = path().gate.open(now);  // valid until a packet is finished
  if (!open && !path().gate.control_open(now)) return 0;
  if (open && !goes_on && mtu_probe_waits()) {
    if (const std::size_t size = send_mtu_probe(room); size > 0) return size;
  }
  if (open && !goes_on) {
    // A repair is as long as the longest of its packets, which may have left before large packets
    // were in doubt. A shorter limit would drop the repairs of the whole window.
    const std::size_t limit = std::min<std::size_t>(room.size(), path().mtu.limit());
    if (const std::size_t size = send_repair(room.first(limit)); size > 0) return size;
  }
  // The stream that comes first in the packet decides how the whole packet is covered.
  const bool has_data = open && data_waits();
  const std::optional<FecCode> code = has_data ? covering_code() : std::nullopt;
  PacketBuilder packet(code ? out.first(out.size() - kRepairOverhead) : out,
                       protection.trailer_size());
  const Coverage coverage = code ? plan_coverage(*code) : Coverage();
  if (code) packet.protect(coded_frame(*code));
  const bool is_ping = path().requests.due();
  if (!goes_on) write_control(packet);
  const bool only_data = packet.empty();
  if (only_data ? has_data : open && data_waits()) {
    goes_on_at = now;  // unless the source gives the session something else to send
    const std::size_t items = packet.items().size();
    writer.write({packet, *streams, path().loss_rate, now});
    if (packet.items().size() > items) path().probes.on_data_sent();
  }
  if (packet.empty()) {
    goes_on_at = Instant::never();
    return 0;
  }
  if (is_ping && path().probes.frozen() && path().mtu.is_raised() && path().gate.open(now)) {
    // Small and large PINGs take turns: an outage drops both, a black hole drops only the large
    // ones.
    path().large_ping = !path().large_ping;
    if (path().large_ping) packet.pad();
  }
  const std::uint64_t settled = path().losses.oldest_unresolved();
  const std::size_t size = finish_packet(packet, coverage);
  // If the ledger was full, a packet was given up, and its content may have to be sent again first.
  const bool same = path().losses.oldest_unresolved() == settled;
  if (!only_data || code || !same || !(goes_on || next_may_go_on())) goes_on_at = Instant::never();
  return size;
}

// A packet with nothing but data has left. True if everything else waits for time or for input, and
// not for more data to leave. Then nothing can become due before the next packet at this instant.
bool Session::Impl::next_may_go_on() const {
  const bool repairs = may_repair() && !(fec->sender.rests() && now < fec->prompt.due());
  return !repairs && !credits_wait() && path().mtu.probe_due() == 0 &&
         path().probes.next_probe() > now;
}

std::size_t Session::Impl::finish_packet(PacketBuilder& packet, const Coverage& coverage) {
  if (!packet.eliciting() && path().requests.on_unasked() &&
      packet.remaining() >= kMaxPingFrameSize) {
    write_ping(packet.frames(), {path().losses.oldest_unresolved()});
    packet.set_eliciting();
  }
  if (packet.eliciting()) path().requests.on_asked();
  if (!association->ledger.has_room(path().losses.oldest_unresolved())) recovery().make_room();
  if (packet.is_protected()) cover(packet, coverage);
  PacketHeader header;
  header.lane = config.lane;
  header.is_protected = packet.is_protected();
  const MutableBytes whole = packet.close(header, association->ledger.next(), protection);
  SentPacket& sent = association->ledger.append(now, whole.size(), packet.eliciting(),
                                                packet.items(), path().losses.oldest_unresolved());
  sent.set_booked_before(path().gate.booked(now));
  sent.low_priority = control::is_low(path().gate.on_sent(packet.purpose(), whole.size(), now));
  if (path().gate.take_question()) path().requests.ask();
  sent.covered = packet.is_protected();
  sent.prompt = sent.covered && coverage.code == FecCode::kPrompt;
  if (packet.eliciting()) path().probes.on_sent(now);
  return count_out(whole);
}

bool Session::Impl::mtu_probe_waits() const {
  return data_allowed() && !path().probes.frozen() && path().mtu.probe_due() > 0;
}

// The loss of this packet costs nothing: it holds only PING and PADDING.
std::size_t Session::Impl::send_mtu_probe(MutableBytes out) {
  const std::size_t size = path().mtu.probe_due();
  if (size > out.size()) return 0;
  PacketBuilder packet(out.first(size), protection.trailer_size());
  if (path().mtu.is_last_of_round()) {
    write_ping(packet.frames(), {path().requests.announce(path().losses.oldest_unresolved())});
  }
  packet.pad();
  packet.set_eliciting();
  path().mtu.on_probe_sent(association->ledger.next());
  ++counters.mtu_probes;
  return finish_packet(packet);
}

std::size_t Session::Impl::send_close(MutableBytes out) {
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

// Debits and counts a finished packet. Returns its size.
std::size_t Session::Impl::count_out(ConstBytes packet) {
  path().gate.debit(packet.size(), now);
  ++counters.packets_out;
  counters.bytes_out += packet.size();
  return packet.size();
}

// The cost of the frames from `before` on to the return link. If they leave alone, headers count
// too.
ReportCost Session::Impl::cost_of(const ByteWriter& frames, std::size_t before) const {
  const std::size_t bytes = frames.written() - before;
  const std::size_t whole = bytes + kHeaderSize + protection.trailer_size();
  return {.bytes = before == 0 && !data_waits() ? whole + config.datagram_overhead : bytes,
          .carried = before == 0 && !data_leaves()
                         ? static_cast<std::size_t>(path().gate.accounted(whole).value())
                         : bytes};
}

// Control leaves while gate.control_open(): it is small, and the peer waits for it.
void Session::Impl::write_control(PacketBuilder& packet) {
  ByteWriter& frames = packet.frames();
  if (path().requests.take()) {
    write_ping(frames, {path().requests.announce(path().losses.oldest_unresolved())});
    packet.set_eliciting();
  }
  // On a narrow link, packet headers cost most. So reports and credits leave together.
  const FeedbackClock& feedback = path().feedback;
  const bool may_grant = now >= feedback.credits_at();
  const bool joins = association->received.next() > 0 && feedback.is_narrow() &&
                     feedback.has_news() && credits_wait() && may_grant;
  if (report_waits() || joins) write_report(packet);
  const bool grants = may_grant || !packet.empty() || data_leaves();
  if (grants) write_credits(packet);
  if (own_capacity.due() && packet.fits(kMaxRateFrameSize)) {
    const RateFrame frame = own_capacity.take();
    write_rate(frames, frame);
    packet.add_item(SentItem::make(ItemKind::kRate, 0, 0, frame.sequence));
    ++counters.capacities_out;
  }
  ResetList& resets = streams->due().resets;
  while (!resets.empty() && packet.fits(room_for_reset(*resets.front()))) {
    Stream& stream = *resets.front();
    resets.remove(stream);
    stream.reset_due = false;
    write_reset(frames,
                {stream.id, stream.reset_reason, stream.hot().reset_final_size, stream.hot().icmp});
    packet.add_item(ItemKind::kReset, stream);
  }
  const CreditList& credits = streams->due().credits;
  while (grants && !credits.empty() && packet.fits(kMaxStreamCreditFrameSize)) {
    Stream& stream = *credits.front();
    const std::uint64_t limit = streams->tell_credit(stream, path().reach_of_credit(), now);
    const std::size_t before = frames.written();
    write_stream_credit(frames, {stream.id, limit});
    packet.add_item(ItemKind::kStreamCredit, stream);
    path().feedback.debit(cost_of(frames, before), now);
  }
  if (streams->confirmations_due(now)) write_confirmations(packet);
  // The peer need not report again what we know from earlier reports.
  if (path().losses.frontier() > path().requests.announced() &&
      (!packet.empty() || path().gate.open(now)) && (data_waits() || !packet.empty()) &&
      packet.remaining() >= kMaxPingFrameSize) {
    const std::uint64_t settled = path().losses.oldest_unresolved();
    if (settled > path().requests.announced()) {
      write_settled(frames, {path().requests.announce(settled)});
    }
  }
}

void Session::Impl::write_report(PacketBuilder& packet) {
  ByteWriter& frames = packet.frames();
  const std::size_t before = frames.written();
  ReportContext context;
  context.repeats = path().feedback.repeats();
  context.lost_in_bursts = fec != nullptr && fec->runs.mean() >= double{ReceivedPackets::kBurst};
  context.dear = path().feedback.is_narrow();
  if (handshake.agreed(kCapabilityReception) && path().own_reception.has_news(context.repeats) &&
      packet.fits(kMaxReceptionFrameSize + ReceivedPackets::kMinReportRoom)) {
    const ReceptionFrame reception_frame = path().own_reception.tell();
    write_reception(frames, reception_frame);
    if (reception_frame.waited_us > 0) ++counters.late_reports_out;
  }
  context.interval_ms =
      static_cast<std::uint64_t>(path().feedback.tell_interval(now).to_milliseconds());
  context.bytes_received = path().bytes_in;
  context.stored = streams->receive_credit().lane().outstanding();
  context.repaired = fec != nullptr ? fec->used_in_session() : 0;
  const bool complete = association->received.write_report(frames, context, now);
  path().feedback.on_report(cost_of(frames, before), complete, now);
  ++counters.feedback_out;
  streams->update_credit(now);
  LaneReceiveCredit& lane = streams->receive_credit().lane();
  if (lane.due() && packet.fits(kMaxLaneCreditFrameSize)) lane.announce_again();
}

// Writes the lane's credit, and the credit of streams before their first STREAM_CREDIT.
void Session::Impl::write_credits(PacketBuilder& packet) {
  ByteWriter& frames = packet.frames();
  LaneReceiveCredit& lane = streams->receive_credit().lane();
  if ((lane.lost() || lane.urgent()) && packet.fits(kMaxLaneCreditFrameSize)) {
    lane.take_lost();
    const std::size_t before = frames.written();
    write_lane_credit(frames, {lane.announce()});
    packet.add_item(SentItem::make(ItemKind::kLaneCredit, 0, 0));
    path().feedback.debit(cost_of(frames, before), now);
  }
  StartCredit& start = streams->receive_credit().start();
  if (start.due() && packet.fits(kMaxStartCreditFrameSize)) {
    const StartCreditFrame frame = start.take();
    write_start_credit(frames, frame);
    packet.add_item(SentItem::make(ItemKind::kStartCredit, 0, 0, frame.sequence));
  }
}

void Session::Impl::write_confirmations(PacketBuilder& packet) {
  ConfirmList& confirms = streams->due().confirms;
  while (!confirms.empty() && packet.fits(kMaxConfirmFrameSize)) write_next_of(confirms, packet);
  // Hosts ask as often as they like, so the reports of all sessions go before questions.
  ConfirmList& questions = streams->due().questions;
  bool may_ask = true;
  while (may_ask && confirms.empty() && !questions.empty() && packet.fits(kMaxConfirmFrameSize)) {
    const Instant at = path().feedback.questions_at();
    may_ask = now >= at;
    if (may_ask) {
      write_next_of(questions, packet);
    } else {
      streams->deferred_questions(at);
    }
  }
  if (confirms.empty() && (questions.empty() || !may_ask)) {
    const Duration at_most = std::max(path().rtt.smoothed(), config.feedback_minimum);
    streams->on_all_confirmed(std::min(path().feedback.interval(), at_most), now);
  }
}

void Session::Impl::write_next_of(ConfirmList& confirms, PacketBuilder& packet) {
  ByteWriter& frames = packet.frames();
  Stream& stream = *confirms.front();
  confirms.remove(stream);
  const std::uint64_t sequence = stream.confirmations.on_sent();
  const std::size_t before = frames.written();
  write_confirm(frames, {stream.id, sequence, stream.confirmations.ours()});
  packet.add_item(SentItem::make(ItemKind::kConfirm, stream.index, stream.generation, sequence));
  path().feedback.debit(cost_of(frames, before), now);
  ++counters.confirmations_out;
}

}  // namespace satrelay::stp
