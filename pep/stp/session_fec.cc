// Forward error correction in the session: which packets are protected, when repairs leave, and
// which losses wait for them (docs/stp.md section 11). session_receive.cc handles received repairs.
#include <algorithm>

#include "pep/stp/session_impl.h"

namespace satrelay::stp {

namespace {

// If the carrier was free for longer than this, a new burst begins. Perhaps nothing follows that
// would show the loss of its first packet.
constexpr Duration kQuiet = Duration::milliseconds(2);

// Each packet is added to each repair of its window, in a tenth of a microsecond. A session plans
// with a quarter of a core, and a few repairs in any case. All sessions of a worker have half a
// core (repair_budget.h).
constexpr std::uint64_t kAdditionsInASecond = 2'500'000;
constexpr std::uint64_t kLeastRepairs = 6;

// Repair bytes for each byte of prompt flows: enough for the next repair to come soon, and to
// replace lost repairs.
constexpr double kLeastPromptShare = 0.085;
constexpr double kPromptShareOfLoss = 4;
constexpr double kMostPromptShare = 0.5;

// The longest window, in packets, of a flow that may or may not be short.
constexpr std::size_t kLongestOfShort = 512;

}  // namespace

bool Session::Impl::may_repair() const { return fec != nullptr && connection.agreed().repairs(); }

// Whether all that the stream has to send leaves within the time of a flight.
bool Session::Impl::is_ending(const Stream& stream) const {
  return stream.left_is_all() && !lasts(stream);
}

// Whether it takes longer than that.
bool Session::Impl::lasts(const Stream& stream) const {
  return stream.has_more() ||
         stream.left() * streams->sending().schedule().sharers(stream) > path().flight().value();
}

bool Session::Impl::is_short(const Stream& stream) const {
  return may_end(stream) && stream.send.sent() < FecPolicy::kMostShortFlow;
}

// Whether the whole stream, as far as is known, leaves within the time of a flight.
bool Session::Impl::may_end(const Stream& stream) const {
  if (lasts(stream)) return false;
  const std::uint64_t share =
      path().flight().value() / streams->sending().schedule().sharers(stream);
  return stream.send.sent() < std::max(share, FecPolicy::kLeastShortFlow);
}

// The bytes that the carrier has to send besides repairs.
FecSender::Waiting Session::Impl::waiting() const {
  if (idle()) return FecSender::Waiting::kNothing;
  if (!writer.turn().streams) return FecSender::Waiting::kOther;
  if (!streams->due().opens().empty()) return FecSender::Waiting::kShort;
  const Stream* next = first_stream();
  if (next == nullptr || is_short(*next)) return FecSender::Waiting::kShort;
  if (next->prompt) return FecSender::Waiting::kOther;
  if (fec == nullptr || fec->sender.rests()) return FecSender::Waiting::kBulk;
  const FecSender::Purpose& of = fec->sender.next_purpose();
  if (of.stream == next->index && of.generation == next->generation)
    return FecSender::Waiting::kOwn;
  return of.stream_class == next->stream_class ? FecSender::Waiting::kBulk
                                               : FecSender::Waiting::kOther;
}

// Whether the next packet of data shall be protected, and by which code. This must be known before
// the packet is built, as a REPAIR needs room beside its frames. Protected are packets that open
// streams, short flows, last flights, and the beginning and the end of a burst. The middle of bulk
// is never protected, since retransmissions cost nothing there.
std::optional<FecCode> Session::Impl::covering_code() const {
  if (!may_repair()) return std::nullopt;
  if (fec->policy.is_clean() && streams->due().opens().empty()) return std::nullopt;
  const Stream* next = first_stream();
  if (next != nullptr && next->prompt && streams->due().opens().empty()) {
    return fec->policy.is_clean() ? std::nullopt : std::optional(FecCode::kPrompt);
  }
  return wants_protection(next) ? std::optional(FecCode::kFlight) : std::nullopt;
}

bool Session::Impl::wants_protection(const Stream* next) const {
  if (!fec->sender.has_room()) return false;
  if (!streams->due().opens().empty()) return true;
  if (fec->policy.is_clean()) return false;
  if (next != nullptr && (is_ending(*next) || may_end(*next))) return true;
  return streams->sending().near_end(next) || path().gate.free_at() + kQuiet <= now;
}

CodedFrame Session::Impl::coded_frame(FecCode code) const {
  return code == FecCode::kPrompt ? fec->prompt.next_frame() : fec->sender.next_frame();
}

// The coverage of a packet that is built next.
Session::Impl::Coverage Session::Impl::plan_coverage(FecCode code) const {
  if (code == FecCode::kPrompt) return {.code = code};
  const std::uint64_t packet = path().gate.accounted(datagram_limit()).value();
  const std::uint64_t in_a_second =
      path().gate.rate().bytes_in(Duration::seconds(1)).value() / packet;
  Coverage coverage;
  coverage.plan.repairs = static_cast<std::size_t>(std::clamp<std::uint64_t>(
      kAdditionsInASecond / (in_a_second + 1), kLeastRepairs, FecPolicy::kMostRepairs));
  const Stream* next = first_stream();
  coverage.is_last_flight = next != nullptr && is_ending(*next);
  if (!coverage.is_last_flight) {
    // The flow may end soon, or go on. The longer it is, the less it hurts if its repairs come
    // late.
    if (next != nullptr) coverage.plan.packets = next->send.sent() / datagram_limit();
    coverage.plan.packets = std::min(coverage.plan.packets, kLongestOfShort);
    return coverage;
  }
  // An eighth more, since retransmissions of the stream leave between these packets.
  const std::uint64_t bytes = next->left() * streams->sending().schedule().sharers(*next);
  coverage.plan.packets = static_cast<std::size_t>(bytes / datagram_limit() * 9 / 8 + 1);
  return coverage;
}

void Session::Impl::cover(const PacketBuilder& packet, const Coverage& coverage) {
  if (coverage.code == FecCode::kPrompt) {
    const double share = config.repair.prompt_share > 0
                             ? config.repair.prompt_share
                             : std::clamp(kPromptShareOfLoss * fec->policy.loss(),
                                          kLeastPromptShare, kMostPromptShare);
    fec->prompt.add(association->ledger.next(), packet.covered(), share, now);
    const auto classes = writer.packet_classes();
    if (!classes.empty()) prompt_class = classes.front().stream_class;
    return;
  }
  FecSender::Purpose purpose = Fec::purpose_of(packet.items(), coverage.is_last_flight);
  const Stream* last = streams->present(purpose.stream, purpose.generation);
  if (last != nullptr) purpose.stream_class = last->stream_class;
  fec->sender.add(association->ledger.next(), packet.covered(), purpose, coverage.plan, now);
}

// A repair is of no use for packets that have arrived by now, or for a stream that turned out to be
// bulk.
bool Session::Impl::is_useful(const FecSender::Purpose& purpose) const {
  if (purpose.ends || !purpose.has_stream) return true;
  const Stream* stream = streams->present(purpose.stream, purpose.generation);
  if (stream == nullptr || stream->send.done()) return false;
  if (purpose.opens && !stream->open_acknowledged) return true;
  return may_end(*stream) || is_ending(*stream) || !NewList::contains(*stream);
}

// While large packets are in grave doubt, a long repair waits. Reports are lost in bursts too, so
// the doubt may soon be over. If it is not, the repair would not arrive, and would only keep lost
// bytes from being sent again.
bool Session::Impl::repair_is_doubtful() const {
  const std::size_t size =
      fec->sender.next_size() + kHeaderSize + connection.protection().trailer_size();
  return path().mtu.is_doubtful(size);
}

// Sends the next repair as a packet of its own, while the pacers are open. Returns 0 if none may
// leave.
std::size_t Session::Impl::send_repair(MutableBytes out) {
  if (!may_repair() || path().probes.frozen() || !data_allowed()) return 0;
  if (control_waits() || report_waits()) return 0;
  if (now >= fec->prompt.due()) {
    PacketBuilder packet(out.first(std::min<std::size_t>(out.size(), next_limit())),
                         connection.protection().trailer_size());
    if (fec->prompt.write(packet.frames(), now)) {
      ++counters.repair_packets_out;
      // These repairs accompany the bytes of prompt flows all the time, and count to their class.
      writer.count_repair(prompt_class, packet.written().size());
      return finish_packet(packet, {}, {});
    }
  }
  FecSender& sender = fec->sender;
  if (sender.rests()) return 0;
  while (!repair_is_doubtful() && sender.ready(waiting(), association->ledger.next(), now)) {
    if (!sender.next_is_out_of_reach() && is_useful(sender.next_purpose())) {
      PacketBuilder packet(out, connection.protection().trailer_size());
      const schedule::ClassId stream_class = sender.next_purpose().stream_class;
      if (sender.write(packet.frames(), association->ledger.next(), now)) {
        ++counters.repair_packets_out;
        writer.count_repair(stream_class, packet.written().size());
        return finish_packet(packet, {}, {});
      }
    }
    const std::size_t dropped = sender.drop_next();
    if (dropped == 0) return 0;
    counters.repair_dropped += dropped;
  }
  return 0;
}

// When a window ends, when its repairs are too late, or when memory can be freed.
Instant Session::Impl::fec_timeout() const {
  if (fec == nullptr) return Instant::never();
  const FecSender& sender = fec->sender;
  const Instant next =
      sender.rests() ? sender.idle_at() : sender.next_timeout(waiting(), path().rtt.smoothed());
  return earlier(fec->next_expiry(), next);
}

void Session::Impl::run_fec() {
  counters.repair_dropped +=
      fec->sender.advance(waiting(), association->ledger.next(), path().rtt.smoothed(), now);
  fec->expire(now);
}

// When a repair may leave.
Instant Session::Impl::next_repair() const {
  if (!may_repair() || path().probes.frozen() || !data_allowed()) return Instant::never();
  const Instant at = fec->sender.rests() || repair_is_doubtful()
                         ? Instant::never()
                         : fec->sender.next_repair(waiting(), association->ledger.next(), now);
  return later(earlier(at, fec->prompt.due()), path().gate.opens_at());
}

}  // namespace satrelay::stp
