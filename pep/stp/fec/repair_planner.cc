#include "pep/stp/fec/repair_planner.h"

#include <algorithm>

namespace satrelay::stp {

namespace {

// If the carrier was free for longer than this, a new burst begins. Its first packet is covered,
// since perhaps no packet follows that would show its loss.
constexpr Duration kQuiet = Duration::milliseconds(2);

// Each packet is added to each repair of its window, which takes a tenth of a microsecond. A
// session plans repairs for a quarter of a core, but at least kLeastRepairs. All sessions of a
// worker together have half a core (repair_budget.h).
constexpr std::uint64_t kAdditionsInASecond = 2'500'000;
constexpr std::uint64_t kLeastRepairs = 6;

// Number of repair bytes for each byte of a prompt flow. The minimum makes repairs follow each
// other soon. A higher loss needs more repairs, as repairs are lost, too.
constexpr double kLeastPromptShare = 0.085;
constexpr double kPromptShareOfLoss = 4;
constexpr double kMostPromptShare = 0.5;

// Maximum number of packets in a window while it is unknown whether the flow ends soon.
constexpr std::size_t kLongestOfShort = 512;

}  // namespace

// Whether the stream has announced all its remaining bytes, and they fit into its share of one
// flight.
bool RepairPlanner::is_ending(const Stream& stream) const {
  return stream.left_is_all() && !lasts(stream);
}

// Whether the remaining bytes of the stream exceed its share of one flight (Path::flight()).
bool RepairPlanner::lasts(const Stream& stream) const {
  return stream.has_more() || stream.left() * sharers(stream) > flight();
}

bool RepairPlanner::is_short(const Stream& stream) const {
  return may_end(stream) && stream.send.sent() < FecPolicy::kMostShortFlow;
}

// Whether this may be a short stream. Two conditions must hold. The remaining bytes that are known
// fit into the stream's share of one flight. And the stream has sent less than this share, or less
// than kLeastShortFlow.
bool RepairPlanner::may_end(const Stream& stream) const {
  if (lasts(stream)) return false;
  return stream.send.sent() < std::max(flight() / sharers(stream), FecPolicy::kLeastShortFlow);
}

// Returns which bytes other than repairs wait for the carrier.
FecSender::Waiting RepairPlanner::waiting() const {
  if (job_.streams.sending().idle(job_.turn.open)) return FecSender::Waiting::kNothing;
  if (!job_.turn.streams) return FecSender::Waiting::kOther;
  if (!job_.streams.due().opens().empty()) return FecSender::Waiting::kShort;
  const Stream* first = first_stream();
  if (first == nullptr || is_short(*first)) return FecSender::Waiting::kShort;
  if (first->prompt) return FecSender::Waiting::kOther;
  if (job_.fec.sender.rests()) return FecSender::Waiting::kBulk;
  const FecSender::Purpose& of = job_.fec.sender.next_purpose();
  if (of.stream == first->index && of.generation == first->generation)
    return FecSender::Waiting::kOwn;
  return of.stream_class == first->stream_class ? FecSender::Waiting::kBulk
                                                : FecSender::Waiting::kOther;
}

// The code must be known before the packet is built, as a REPAIR needs more space than the packets
// that it covers. The codes cover packets that open streams, short flows, last flights, and the
// beginning and the end of a burst. Packets in the middle of a bulk transfer are not covered: while
// its losses are retransmitted, other bytes of the transfer are sent, so no time is lost.
std::optional<FecCode> RepairPlanner::code() const {
  const bool is_clean = job_.fec.policy.is_clean();
  const bool opens = !job_.streams.due().opens().empty();
  if (is_clean && !opens) return std::nullopt;
  const Stream* first = first_stream();
  if (first != nullptr && first->prompt && !opens) return FecCode::kPrompt;
  return wants_protection(first) ? std::optional(FecCode::kFlight) : std::nullopt;
}

bool RepairPlanner::wants_protection(const Stream* first) const {
  if (!job_.fec.sender.has_room()) return false;
  if (!job_.streams.due().opens().empty()) return true;
  if (first != nullptr && (is_ending(*first) || may_end(*first))) return true;
  return job_.streams.sending().near_end(first) || job_.path.gate.free_at() + kQuiet <= job_.now;
}

Coverage RepairPlanner::protect(PacketBuilder& packet, FecCode code) const {
  Coverage coverage{.code = code};
  if (code == FecCode::kPrompt) {
    packet.protect(job_.fec.prompt.next_frame());
    return coverage;
  }
  packet.protect(job_.fec.sender.next_frame());
  const std::size_t limit = job_.path.mtu.limit();
  const std::uint64_t in_a_second = job_.path.gate.rate().bytes_in(Duration::seconds(1)).value() /
                                    job_.path.gate.accounted(limit).value();
  coverage.plan.repairs = static_cast<std::size_t>(std::clamp<std::uint64_t>(
      kAdditionsInASecond / (in_a_second + 1), kLeastRepairs, FecPolicy::kMostRepairs));
  const Stream* first = first_stream();
  coverage.is_last_flight = first != nullptr && is_ending(*first);
  if (!coverage.is_last_flight) {
    // It is unknown whether the flow ends soon. A longer flow gets longer windows, because late
    // repairs delay it relatively less.
    if (first != nullptr) coverage.plan.packets = first->send.sent() / limit;
    coverage.plan.packets = std::min(coverage.plan.packets, kLongestOfShort);
    return coverage;
  }
  // Add an eighth, since retransmissions of the stream are sent between these packets.
  coverage.plan.packets =
      static_cast<std::size_t>(first->left() * sharers(*first) / limit * 9 / 8 + 1);
  return coverage;
}

void RepairPlanner::add(const PacketBuilder& packet, const Coverage& coverage,
                        std::optional<schedule::ClassId> first_class, double prompt_share) {
  Fec& fec = job_.fec;
  if (coverage.code == FecCode::kPrompt) {
    const double share = prompt_share > 0 ? prompt_share
                                          : std::clamp(kPromptShareOfLoss * fec.policy.loss(),
                                                       kLeastPromptShare, kMostPromptShare);
    fec.prompt.add(job_.next, packet.covered(), share, job_.now);
    if (first_class) fec.prompt_class = *first_class;
    return;
  }
  FecSender::Purpose purpose = Fec::purpose_of(packet.items(), coverage.is_last_flight);
  const Stream* last = job_.streams.present(purpose.stream, purpose.generation);
  if (last != nullptr) purpose.stream_class = last->stream_class;
  fec.sender.add(job_.next, packet.covered(), purpose, coverage.plan, job_.now);
}

// Whether a repair is still useful. It is useless if the packets that it covers have arrived, or if
// their stream has become a bulk transfer.
bool RepairPlanner::is_useful(const FecSender::Purpose& purpose) const {
  if (purpose.ends || !purpose.has_stream) return true;
  const Stream* stream = job_.streams.present(purpose.stream, purpose.generation);
  if (stream == nullptr || stream->send.done()) return false;
  if (purpose.opens && !stream->open_acknowledged) return true;
  return may_end(*stream) || is_ending(*stream) || !NewList::contains(*stream);
}

// Whether the next repair must wait, because it is long, and the path may drop large packets
// (PathMtu::Doubt::kGrave). If the path drops them, the repair would only delay the retransmission
// of lost bytes. If the path does not drop them, reports show this soon, and the repair is sent.
bool RepairPlanner::is_doubtful() const {
  return job_.path.mtu.is_doubtful(job_.fec.sender.next_size() + job_.stp_overhead);
}

std::optional<schedule::ClassId> RepairPlanner::write_repair(PacketBuilder& packet) {
  FecSender& sender = job_.fec.sender;
  if (sender.rests()) return std::nullopt;
  while (!is_doubtful() && sender.ready(waiting(), job_.next, job_.now)) {
    if (!sender.next_is_out_of_reach() && is_useful(sender.next_purpose())) {
      const schedule::ClassId stream_class = sender.next_purpose().stream_class;
      if (sender.write(packet.frames(), job_.next, job_.now)) return stream_class;
    }
    const std::size_t dropped = sender.drop_next();
    if (dropped == 0) return std::nullopt;
    job_.fec.dropped += dropped;
  }
  return std::nullopt;
}

Instant RepairPlanner::next_repair() const {
  const FecSender& sender = job_.fec.sender;
  const Instant at = sender.rests() || is_doubtful()
                         ? Instant::never()
                         : sender.next_repair(waiting(), job_.next, job_.now);
  return earlier(at, job_.fec.prompt.due());
}

Instant RepairPlanner::next_timeout() const {
  const FecSender& sender = job_.fec.sender;
  const Instant next =
      sender.rests() ? sender.idle_at() : sender.next_timeout(waiting(), job_.path.rtt.smoothed());
  return earlier(job_.fec.next_expiry(), next);
}

void RepairPlanner::handle_timeout() {
  job_.fec.dropped +=
      job_.fec.sender.advance(waiting(), job_.next, job_.path.rtt.smoothed(), job_.now);
  job_.fec.expire(job_.now);
}

}  // namespace satrelay::stp
