// Forward error correction in the session: which packets are protected, when repairs leave, and
// which losses wait for them (docs/stp.md section 11). What arrives is in session_receive.cc.
#include <algorithm>

#include "pep/stp/session_impl.h"

namespace satrelay::stp {

namespace {

// So much of a stream that is about to have nothing left is its tail.
constexpr std::uint64_t kTail = 64 * 1024;
// A carrier that was free for longer begins a new burst, and nothing may follow that would show a
// loss of its first packet.
constexpr Duration kQuiet = Duration::milliseconds(2);

}  // namespace

bool Session::Impl::may_repair() const {
  return fec != nullptr && handshake.agreed(kCapabilityRepair);
}

bool Session::Impl::is_short(const Stream& stream) const {
  return stream.send.sent() < FecPolicy::short_flow(gate.rate(), connection->rtt.smoothed());
}

// What the carrier has to do besides repairs.
FecSender::Waiting Session::Impl::waiting() const {
  if (idle()) return FecSender::Waiting::kNothing;
  if (!opens.empty()) return FecSender::Waiting::kShort;
  const Stream* next = first_stream();
  return next == nullptr || is_short(*next) ? FecSender::Waiting::kShort
                                            : FecSender::Waiting::kBulk;
}

// Whether little is left to send, as far as the relay has told.
bool Session::Impl::near_end() const {
  if (schedule.has_new() == 0) return true;
  const Stream* only = schedule.only_new();
  return only != nullptr && !only->ready && only->send.unsent() <= kTail;
}

// Whether the next packet of data shall be protected. To be known before it is built, because
// REPAIR needs room beside its frames: what opens a stream, short flows, the beginning and the end
// of a burst. Never the middle of bulk, where sending again costs nothing.
bool Session::Impl::wants_protection() const {
  if (!may_repair() || !fec->sender.has_room()) return false;
  if (!opens.empty()) return true;
  if (fec->policy.is_clean()) return false;
  const Stream* next = first_stream();
  if (next != nullptr && is_short(*next)) return true;
  return near_end() || gate.free_at() + kQuiet <= now;
}

void Session::Impl::protect(std::uint64_t number, ConstBytes frames,
                            std::span<const SentItem> items) {
  FecSender::Purpose purpose;
  bool first = true;
  for (const SentItem& item : items) {
    FecSender::Purpose of_item;
    of_item.stream = item.stream;
    of_item.generation = item.generation();
    of_item.opens = item.kind() == ItemKind::kOpen;
    if (first) {
      purpose = of_item;
    } else {
      purpose.merge(of_item);
    }
    first = false;
  }
  fec->sender.add(number, frames, purpose, now);
}

// A repair for what has arrived by now, or for a stream that turned out to be bulk, would help
// nobody.
bool Session::Impl::is_useful(const FecSender::Purpose& purpose) const {
  if (purpose.several) return true;
  const Stream& stream = streams.at(purpose.stream);
  const bool gone = stream.phase == Stream::Phase::kFree ||
                    (stream.generation & SentItem::kGenerationMask) != purpose.generation;
  if (gone || stream.send.done()) return false;
  if (purpose.opens && !stream.open_acknowledged) return true;
  return is_short(stream) || !NewList::contains(stream);
}

// The next repair as a packet of its own; 0 if none may leave.
std::size_t Session::Impl::send_repair(MutableBytes out) {
  if (!may_repair() || connection->probes.frozen() || !data_allowed() || !gate.open(now)) return 0;
  if (control_waits() || (now >= connection->feedback.due() && connection->received.next() > 0))
    return 0;
  FecSender& sender = fec->sender;
  const FecSender::Waiting others = waiting();
  while (sender.ready(others, connection->ledger.next(), now)) {
    if (is_useful(sender.next_purpose())) {
      PacketBuilder packet(out, protection.trailer_size());
      if (sender.write(packet.frames(), connection->ledger.next(), now)) {
        ++counters.repair_packets_out;
        return finish_packet(packet);
      }
    }
    counters.repair_dropped += sender.drop_next();
  }
  return 0;
}

void Session::Impl::run_fec() {
  if (fec == nullptr) return;
  counters.repair_dropped +=
      fec->sender.advance(waiting(), connection->ledger.next(), connection->rtt.smoothed(), now);
  fec->receiver.expire(now);
  counters.repair_wasted = fec->receiver.counters().wasted;
}

Instant Session::Impl::fec_timeout() const {
  if (fec == nullptr) return Instant::never();
  const FecSender::Waiting others = waiting();
  const Instant at = earlier(fec->receiver.next_timeout(),
                             fec->sender.next_timeout(others, connection->rtt.smoothed()));
  if (!may_repair() || connection->probes.frozen() || !data_allowed()) return at;
  return earlier(
      at, later(fec->sender.next_repair(others, connection->ledger.next(), now), gate.opens_at()));
}

// What `report` calls missing of these is not lost yet: repairs may have been on the way when it
// was written.
std::span<const Range> Session::Impl::repairable(const FeedbackFrame& report,
                                                 Duration delay) const {
  if (fec == nullptr) return {};
  const SentPacket* newest = connection->ledger.find(report.highest);
  if (newest == nullptr) return {};
  return fec->sender.repairable(newest->sent + delay - connection->tolerance.time());
}

// How many of our packets the path has lost although they count as received.
std::uint64_t Session::Impl::note_repaired(const FeedbackFrame& report) {
  if (fec == nullptr || report.repaired <= fec->peer_repaired) return 0;
  const std::uint64_t repaired = report.repaired - fec->peer_repaired;
  fec->peer_repaired = report.repaired;
  return repaired;
}

}  // namespace satrelay::stp
