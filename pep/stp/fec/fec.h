// Forward error correction of one session: both halves, and what they share.
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
#include "pep/stp/numbers/sent_ledger.h"

namespace satrelay::stp {

struct Fec {
  // For the code of flights: a window, and the packets that are sent behind it before its repairs.
  static constexpr std::size_t kKeptOfFlights = FecSender::kReach;
  static constexpr std::size_t kKeptOfPrompt = 2048;

  // `shared`: the budget that the sessions of a worker share; nullptr: the session shares none.
  explicit Fec(std::size_t most, SharedRepairs* shared = nullptr)
      : max_datagram(most),
        budget(shared),
        sender(codec, policy, budget.sums(), most),
        prompt(codec, most),
        receiver(codec, budget, kKeptOfFlights, most),
        waiting(most) {}

  void clear();
  // The last call has left work for the next one.
  bool work_waits() const {
    return !waiting.empty() || receiver.work_waits() ||
           (prompt_receiver != nullptr && prompt_receiver->work_waits());
  }
  // The session is over, so the waiting repairs are of no use.
  void drop_waiting() {
    waiting.clear();
    receiver.leave_work();
    if (prompt_receiver) prompt_receiver->leave_work();
  }
  FecReceiver& receiver_of(FecCode code);
  // Drops repairs that have waited too long for others.
  void expire(Instant now);
  Instant next_expiry() const;
  // The counters of both codes.
  FecReceiver::Counters received() const;
  std::uint64_t used_in_session() const;
  // The packets that repairs may still have been on their way for at `then`, when the receiver
  // wrote a report. Ranges, ascending and disjoint. Valid until the next call.
  std::span<const Range> repairable(Instant then);
  // Whether those repairs may be for packet `number`, which `code` covers. The ranges of one code
  // may contain packets of the other.
  bool is_repairable(FecCode code, std::uint64_t number) const;

  // The purpose of a packet with `items`: the stream of its last item, as the first items may be
  // retransmissions. In a last flight (`ends`): the stream of its first data item.
  static FecSender::Purpose purpose_of(std::span<const SentItem> items, bool ends);
  void note_runs(const FeedbackFrame& report) {
    runs.on_report(report);
    policy.set_run_length(runs.mean());
  }
  // The losses of packets below `number` were no losses of the path.
  void forget_runs_below(std::uint64_t number) {
    runs.forget_below(number);
    policy.set_run_length(runs.mean());
  }
  // `repaired`: how many of our packets a report counts as received although the path has lost
  // them, in this session. Returns how many more these are than before.
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
  RepairBudget budget;  // for both receivers, and the sums of flights
  FecSender sender;
  PromptSender prompt;
  FecReceiver receiver;                          // for flights
  std::unique_ptr<FecReceiver> prompt_receiver;  // allocated with the first prompt packet
  RepairBacklog waiting;                         // repairs that wait for the next call
  std::span<const Range> repairable_flights;     // result of repairable()
  std::optional<Range> repairable_prompt;        // the same
  std::vector<Range> all_repairable;             // the same
  std::uint64_t peer_repaired = 0;               // packets of ours, as the peer reports them
};

// The CODED at the beginning of a packet, and the frames behind it; nullopt if there is none.
struct CodedPacket {
  CodedFrame coded;
  ConstBytes frames;
};
std::optional<CodedPacket> coded_packet(ConstBytes frames);

}  // namespace satrelay::stp
