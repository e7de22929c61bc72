#include "pep/stp/path/path.h"

#include <algorithm>

namespace satrelay::stp {

Path::Path(PathId name, const Config& config, const RateGate& unused, Instant now)
    : id(name),
      gate(unused),
      reports(config.mtu.maximum),
      probes(config.probes),
      mtu(config.mtu),
      rtt(config.initial_rtt),
      peer_feedback_interval(config.feedback.minimum),
      last_report(now),
      requests(now),
      feedback(config.feedback) {
  probes.start(now);
  update_rtt();
}

PathMtu::Doubt Path::doubt_of_large_packets(const SentLedger& ledger, Instant now) const {
  constexpr Duration kLate = Duration::milliseconds(50);
  const Duration late = std::min(kLate, rtt.smoothed()) + peer_feedback_interval * 2;
  if (!probes.is_quiet_for(late, now)) return PathMtu::Doubt::kNone;
  const SentPacket* first = first_unreported(ledger);
  if (first == nullptr) return PathMtu::Doubt::kNone;
  const Instant due = later(first->sent, probes.busy_since()) + rtt.smoothed();
  const Duration missing = rtt.smoothed() + peer_feedback_interval * 2;
  if (probes.is_quiet_for(missing, now) && now >= due + missing) return PathMtu::Doubt::kGrave;
  return now >= due + late ? PathMtu::Doubt::kSlight : PathMtu::Doubt::kNone;
}

// The first unreported packet that asks for a report; nullptr if there is none among the next 64.
const SentPacket* Path::first_unreported(const SentLedger& ledger) const {
  constexpr std::uint64_t kSearch = 64;
  const std::uint64_t begin = losses.frontier();
  for (std::uint64_t n = begin; n < ledger.next() && n - begin < kSearch; ++n) {
    const SentPacket* packet = ledger.find(n);
    if (packet != nullptr && packet->eliciting) return packet;
  }
  return nullptr;
}

}  // namespace satrelay::stp
