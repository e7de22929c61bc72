// Forward error correction in the session: which packets are protected, when repairs leave, and
// which losses wait for them (docs/stp.md section 11). What arrives is in session_receive.cc.
#include <algorithm>

#include "pep/stp/session_impl.h"

namespace satrelay::stp {

namespace {

// A carrier that was free for longer begins a new burst, and nothing may follow that would show a
// loss of its first packet.
constexpr Duration kQuiet = Duration::milliseconds(2);

}  // namespace

bool Session::Impl::may_repair() const {
  return fec != nullptr && handshake.agreed(kCapabilityRepair);
}

bool Session::Impl::is_short(const Stream& stream) const {
  return stream.send.sent() < FecPolicy::short_flow(gate.rate(), association->rtt.smoothed());
}

// What the carrier has to do besides repairs.
FecSender::Waiting Session::Impl::waiting() const {
  if (idle()) return FecSender::Waiting::kNothing;
  if (!streams->due().opens.empty()) return FecSender::Waiting::kShort;
  const Stream* next = first_stream();
  return next == nullptr || is_short(*next) ? FecSender::Waiting::kShort
                                            : FecSender::Waiting::kBulk;
}

// Whether the next packet of data shall be protected. To be known before it is built, because
// REPAIR needs room beside its frames: what opens a stream, short flows, the beginning and the end
// of a burst. Never the middle of bulk, where sending again costs nothing.
bool Session::Impl::wants_protection() const {
  if (!may_repair() || !fec->sender.has_room()) return false;
  if (!streams->due().opens.empty()) return true;
  if (fec->policy.is_clean()) return false;
  const Stream* next = first_stream();
  if (next != nullptr && is_short(*next)) return true;
  return streams->near_end() || gate.free_at() + kQuiet <= now;
}

// A repair for what has arrived by now, or for a stream that turned out to be bulk, would help
// nobody.
bool Session::Impl::is_useful(const FecSender::Purpose& purpose) const {
  if (purpose.several) return true;
  const Stream* stream = streams->present(purpose.stream, purpose.generation);
  if (stream == nullptr || stream->send.done()) return false;
  if (purpose.opens && !stream->open_acknowledged) return true;
  return is_short(*stream) || !NewList::contains(*stream);
}

// The next repair as a packet of its own; 0 if none may leave.
std::size_t Session::Impl::send_repair(MutableBytes out) {
  if (!may_repair() || association->probes.frozen() || !data_allowed() || !gate.open(now)) return 0;
  if (control_waits() || report_waits()) return 0;
  FecSender& sender = fec->sender;
  const FecSender::Waiting others = waiting();
  while (sender.ready(others, association->ledger.next(), now)) {
    if (is_useful(sender.next_purpose())) {
      PacketBuilder packet(out, protection.trailer_size());
      if (sender.write(packet.frames(), association->ledger.next(), now)) {
        ++counters.repair_packets_out;
        return finish_packet(packet);
      }
    }
    counters.repair_dropped += sender.drop_next();
  }
  return 0;
}

// When blocks end, or are too late.
Instant Session::Impl::fec_timeout() const {
  if (fec == nullptr) return Instant::never();
  return earlier(fec->receiver.next_timeout(),
                 fec->sender.next_timeout(waiting(), association->rtt.smoothed()));
}

void Session::Impl::run_fec() {
  counters.repair_dropped +=
      fec->sender.advance(waiting(), association->ledger.next(), association->rtt.smoothed(), now);
  fec->receiver.expire(now);
}

// When a repair may leave.
Instant Session::Impl::next_repair() const {
  if (!may_repair() || association->probes.frozen() || !data_allowed()) return Instant::never();
  return later(fec->sender.next_repair(waiting(), association->ledger.next(), now),
               gate.opens_at());
}

// What `report` calls missing of these is not lost yet: repairs may have been on the way when it
// was written.
std::span<const Range> Session::Impl::repairable(const FeedbackFrame& report,
                                                 Duration delay) const {
  if (fec == nullptr) return {};
  const SentPacket* newest = association->ledger.find(report.highest);
  if (newest == nullptr) return {};
  return fec->sender.repairable(newest->sent + delay - association->tolerance.time());
}

}  // namespace satrelay::stp
