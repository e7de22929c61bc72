// Forward error correction of one session: what both halves share, and the halves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "pep/stp/fec/fec_codec.h"
#include "pep/stp/fec/fec_policy.h"
#include "pep/stp/fec/fec_receiver.h"
#include "pep/stp/fec/fec_sender.h"
#include "pep/stp/fec/loss_runs.h"
#include "pep/stp/fec/prompt_sender.h"
#include "pep/stp/fec/repair_backlog.h"
#include "pep/stp/fec/repair_budget.h"
#include "pep/stp/packets/sent_ledger.h"

namespace satrelay::stp {

struct Fec {
  // Of the code of flights: a window, and what is sent behind it before its repairs.
  static constexpr std::size_t kKeptOfFlights = FecSender::kReach;
  static constexpr std::size_t kKeptOfPrompt = 2048;

  // `shared`: by the sessions of a worker; nullptr: with none.
  explicit Fec(std::size_t most, SharedRepairs* shared = nullptr)
      : max_datagram(most),
        budget(shared),
        sender(codec, policy, budget.sums(), most),
        prompt(codec, most),
        receiver(codec, budget, kKeptOfFlights, most),
        waiting(most) {}

  void clear();
  // The last call has left something for the next one.
  bool work_waits() const {
    return !waiting.empty() || receiver.work_waits() ||
           (prompt_receiver != nullptr && prompt_receiver->work_waits());
  }
  // The session is over, so the waiting repairs help nobody.
  void drop_waiting() {
    waiting.clear();
    receiver.leave_work();
    if (prompt_receiver) prompt_receiver->leave_work();
  }
  FecReceiver& receiver_of(FecCode code);
  // Repairs that wait for others in vain.
  void expire(Instant now);
  Instant next_expiry() const;
  // Of both codes.
  FecReceiver::Counters received() const;
  std::uint64_t used_in_session() const;
  // Which packets repairs may be on their way for still at `then`, when the receiver wrote a
  // report, as ranges, ascending and disjoint. Valid until the next call.
  std::span<const Range> repairable(Instant then);
  // Whether these may be for packet `number`, which `code` covers: the ranges of one lie among the
  // packets of the other.
  bool is_repairable(FecCode code, std::uint64_t number) const;

  // For whom a packet with `items` is sent: for what it ends with, as what it begins with may have
  // been lost before; in a last flight (`ends`) for whose bytes it begins with.
  static FecSender::Purpose purpose_of(std::span<const SentItem> items, bool ends);
  void note_runs(const FeedbackFrame& report) {
    runs.on_report(report);
    policy.set_run_length(runs.mean());
  }
  // Those of packets below `number` were no losses of the path.
  void forget_runs_below(std::uint64_t number) {
    runs.forget_below(number);
    policy.set_run_length(runs.mean());
  }
  // A report says how many of our packets it counts as received although the path has lost them,
  // over all; how many that are more than before.
  std::uint64_t note_repaired(std::uint64_t repaired) {
    if (repaired <= peer_repaired) return 0;
    const std::uint64_t more = repaired - peer_repaired;
    peer_repaired = repaired;
    return more;
  }

  std::size_t max_datagram;
  FecCodec codec;
  FecPolicy policy;
  LossRuns runs;
  RepairBudget budget;  // of both receivers, and of the sums of flights
  FecSender sender;
  PromptSender prompt;
  FecReceiver receiver;                          // of flights
  std::unique_ptr<FecReceiver> prompt_receiver;  // from its first packet on
  RepairBacklog waiting;                         // for the next call
  std::span<const Range> repairable_flights;     // of repairable()
  std::optional<Range> repairable_prompt;        // the same
  std::vector<Range> all_repairable;             // the same
  std::uint64_t peer_repaired = 0;               // packets of ours, as the peer reports
};

// The frames behind the CODED that a packet begins with, and that; nullopt if it does not.
struct CodedPacket {
  CodedFrame coded;
  ConstBytes frames;
};
std::optional<CodedPacket> coded_packet(ConstBytes frames);

}  // namespace satrelay::stp
