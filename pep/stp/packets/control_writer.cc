#include "pep/stp/packets/control_writer.h"

#include <algorithm>

namespace satrelay::stp {

namespace {

// Few RESETs carry an ICMP error, so space for it is only required for these.
std::size_t room_for_reset(const Stream& stream) {
  return kMaxResetFrameSize - (stream.reset_reason == ResetReason::kIcmp ? 0 : kMaxIcmpRefusalSize);
}

}  // namespace

// Control frames may be sent while gate.control_open(), as they are small, and the peer waits for
// them.
void ControlWriter::write(bool credits_wait, bool report_waits) {
  PacketBuilder& packet = job_.packet;
  ReportRequests& requests = job_.path.requests;
  if (requests.take()) {
    write_ping(frames_, {requests.announce(job_.path.losses.oldest_unresolved())});
    packet.set_eliciting();
  }
  // On a narrow link, packet headers cost most. So a report is sent together with credit.
  const FeedbackClock& feedback = job_.path.feedback;
  const bool may_grant = job_.now >= feedback.credits_at();
  const bool joins = job_.received.next() > 0 && feedback.is_narrow() && feedback.has_news() &&
                     credits_wait && may_grant;
  if (report_waits || joins) write_report();
  const bool grants = may_grant || !packet.empty() || job_.data_leaves;
  if (grants) write_lane_credits();
  write_capacity();
  write_resets();
  if (grants) write_stream_credits();
  if (job_.streams.due().confirmations_due(job_.now)) write_confirmations();
  write_settled_below();
}

// Returns the cost of the frames written since position `before`, in IP bytes and in bytes on the
// link. If these are the first frames of the packet, the cost includes the headers, except if data
// needs the headers anyway. For the IP bytes, this is so if data waits. For the bytes on the link,
// this is so if data is sent in the packet.
ReportCost ControlWriter::cost_since(std::size_t before) const {
  const std::size_t bytes = frames_.written() - before;
  const std::size_t whole = bytes + job_.stp_overhead;
  return {.bytes = before == 0 && !job_.data_waits ? whole + job_.datagram_overhead : bytes,
          .carried = before == 0 && !job_.data_leaves
                         ? static_cast<std::size_t>(job_.path.gate.accounted(whole).value())
                         : bytes};
}

void ControlWriter::write_report() {
  const std::size_t before = frames_.written();
  FeedbackClock& feedback = job_.path.feedback;
  OwnReception& reception = job_.path.own_reception;
  ReportContext context;
  context.repeats = feedback.repeats();
  context.lost_in_bursts = job_.lost_in_bursts;
  context.dear = feedback.is_narrow();
  if (job_.tells_reception && reception.has_news(context.repeats) &&
      job_.packet.fits(kMaxReceptionFrameSize + ReceivedPackets::kMinReportRoom)) {
    const ReceptionFrame frame = reception.tell();
    write_reception(frames_, frame);
    if (frame.waited_us > 0) ++job_.counters.late_reports_out;
  }
  context.interval_ms =
      static_cast<std::uint64_t>(feedback.tell_interval(job_.now).to_milliseconds());
  context.bytes_received = job_.path.bytes_in;
  context.stored = job_.streams.receiving().credit().lane().outstanding();
  context.repaired = job_.repaired;
  const bool complete = job_.received.write_report(frames_, context, job_.now);
  feedback.on_report(cost_since(before), complete, job_.now);
  ++job_.counters.feedback_out;
  job_.streams.receiving().update_credit(job_.now);
  LaneReceiveCredit& lane = job_.streams.receiving().credit().lane();
  if (lane.due() && job_.packet.fits(kMaxLaneCreditFrameSize)) lane.announce_again();
}

// Writes the lane's credit, and the limit of streams before their first STREAM_CREDIT.
void ControlWriter::write_lane_credits() {
  LaneReceiveCredit& lane = job_.streams.receiving().credit().lane();
  if ((lane.lost() || lane.urgent()) && job_.packet.fits(kMaxLaneCreditFrameSize)) {
    lane.take_lost();
    const std::size_t before = frames_.written();
    write_lane_credit(frames_, {lane.announce()});
    job_.packet.add_item(SentItem::make(ItemKind::kLaneCredit, 0, 0));
    job_.path.feedback.debit(cost_since(before), job_.now);
  }
  StartCredit& start = job_.streams.receiving().credit().start();
  if (start.due() && job_.packet.fits(kMaxStartCreditFrameSize)) {
    const StartCreditFrame frame = start.take();
    write_start_credit(frames_, frame);
    job_.packet.add_item(SentItem::make(ItemKind::kStartCredit, 0, 0, frame.sequence));
  }
}

void ControlWriter::write_capacity() {
  if (!job_.own_capacity.due() || !job_.packet.fits(kMaxRateFrameSize)) return;
  const RateFrame frame = job_.own_capacity.take();
  write_rate(frames_, frame);
  job_.packet.add_item(SentItem::make(ItemKind::kRate, 0, 0, frame.sequence));
  ++job_.counters.capacities_out;
}

void ControlWriter::write_resets() {
  const ResetList& resets = job_.streams.due().resets();
  while (!resets.empty() && job_.packet.fits(room_for_reset(*resets.front()))) {
    Stream& stream = *resets.front();
    job_.streams.due().on_reset_left(stream);
    write_reset(frames_,
                {stream.id, stream.reset_reason, stream.hot().reset_final_size, stream.hot().icmp});
    job_.packet.add_item(ItemKind::kReset, stream);
  }
}

void ControlWriter::write_stream_credits() {
  const CreditList& credits = job_.streams.due().credits();
  while (!credits.empty() && job_.packet.fits(kMaxStreamCreditFrameSize)) {
    Stream& stream = *credits.front();
    const std::uint64_t limit =
        job_.streams.receiving().tell_credit(stream, job_.path.reach_of_credit(), job_.now);
    const std::size_t before = frames_.written();
    write_stream_credit(frames_, {stream.id, limit});
    job_.packet.add_item(ItemKind::kStreamCredit, stream);
    job_.path.feedback.debit(cost_since(before), job_.now);
  }
}

void ControlWriter::write_confirmations() {
  Streams& streams = job_.streams;
  ConfirmList& confirms = streams.due().confirms();
  while (!confirms.empty() && job_.packet.fits(kMaxConfirmFrameSize)) write_next_of(confirms);
  // A question is a keep-alive or a zero-window probe of our host. Their number is not limited, so
  // they wait until the reports of all sessions leave enough of the shared budget.
  ConfirmList& questions = streams.due().questions();
  bool may_ask = true;
  while (may_ask && confirms.empty() && !questions.empty() &&
         job_.packet.fits(kMaxConfirmFrameSize)) {
    const Instant at = job_.path.feedback.questions_at();
    may_ask = job_.now >= at;
    if (may_ask) {
      write_next_of(questions);
    } else {
      streams.due().deferred_questions(at);
    }
  }
  if (confirms.empty() && (questions.empty() || !may_ask)) {
    const FeedbackClock& feedback = job_.path.feedback;
    const Duration at_most = std::max(job_.path.rtt.smoothed(), feedback.minimum());
    streams.due().on_all_confirmed(std::min(feedback.interval(), at_most), job_.now);
  }
}

void ControlWriter::write_next_of(ConfirmList& confirms) {
  Stream& stream = *confirms.front();
  confirms.remove(stream);
  const std::uint64_t sequence = stream.confirmations.on_sent();
  const std::size_t before = frames_.written();
  write_confirm(frames_, {stream.id, sequence, stream.confirmations.ours()});
  job_.packet.add_item(
      SentItem::make(ItemKind::kConfirm, stream.index, stream.generation, sequence));
  job_.path.feedback.debit(cost_since(before), job_.now);
  ++job_.counters.confirmations_out;
}

// Tells the peer the number below which all packets are settled, so that it reports only later
// packets.
void ControlWriter::write_settled_below() {
  const PacketBuilder& packet = job_.packet;
  ReportRequests& requests = job_.path.requests;
  const LossDetector& losses = job_.path.losses;
  if (losses.frontier() <= requests.announced() ||
      (packet.empty() && !(job_.data_waits && job_.path.gate.open(job_.now))) ||
      packet.remaining() < kMaxPingFrameSize) {
    return;
  }
  const std::uint64_t settled = losses.oldest_unresolved();
  if (settled > requests.announced()) write_settled(frames_, {requests.announce(settled)});
}

}  // namespace satrelay::stp
