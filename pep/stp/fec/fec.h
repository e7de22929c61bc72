// Forward error correction of one session: the sending and receiving halves, and their common
// state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "pep/schedule/class_set.h"
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
  // Number of packets that the receiver of each code keeps. The receiver of the code of flights
  // (FecCode::kFlight) needs all packets of a window until the repairs of the window arrive.
  static constexpr std::size_t kKeptOfFlights = FecSender::kReach;
  static constexpr std::size_t kKeptOfPrompt = 2048;

  // `shared` is the budget that all sessions of a worker share. nullptr if the session has its own
  // budget.
  explicit Fec(std::size_t most, SharedRepairs* shared = nullptr)
      : max_datagram(most),
        budget(shared),
        sender(codec, policy, budget.sums(), most),
        prompt(codec, most),
        receiver(codec, budget, kKeptOfFlights, most),
        waiting(most) {}

  void clear();
  // Whether work is left for the next call.
  bool work_waits() const {
    return !waiting.empty() || receiver.work_waits() ||
           (prompt_receiver != nullptr && prompt_receiver->work_waits());
  }
  // Drops the waiting repairs, as the session has ended.
  void drop_waiting() {
    waiting.clear();
    receiver.leave_work();
    if (prompt_receiver) prompt_receiver->leave_work();
  }
  FecReceiver& receiver_of(FecCode code);
  // Drops repairs that have waited too long for further repairs.
  void expire(Instant now);
  Instant next_expiry() const;
  // The sum of the counters of both codes.
  FecReceiver::Counters received() const;
  std::uint64_t used_in_session() const;
  // The packets for which repairs may still have been in flight at `then`, when the receiver wrote
  // a report. The ranges are ascending and disjoint. Valid until the next call.
  std::span<const Range> repairable(Instant then);
  // Whether repairs of `code` may have been in flight for packet `number`, according to the last
  // call of repairable(). The ranges of one code may contain packets of the other code, so the
  // caller must know the code of the packet.
  bool is_repairable(FecCode code, std::uint64_t number) const;

  // Returns the stream for which a packet with `items` is sent. If `ends` is set, the packet is in
  // the last flight of the stream of its first data item. Otherwise this is the stream of the last
  // item, as the first items may be retransmissions.
  static FecSender::Purpose purpose_of(std::span<const SentItem> items, bool ends);
  void note_runs(const FeedbackFrame& report) {
    runs.on_report(report);
    policy.set_run_length(runs.mean());
  }
  // Forgets the losses of packets below `number`. The path dropped these packets because they were
  // too large, so they say nothing about random losses.
  void forget_runs_below(std::uint64_t number) {
    runs.forget_below(number);
    policy.set_run_length(runs.mean());
  }
  // `repaired` is a count from the peer's report: the number of our packets that were lost on the
  // path, and then recovered by the peer with repairs. Returns by how much the count has grown.
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
  RepairBudget budget;  // for both receivers, and for the sums of `sender`
  FecSender sender;
  PromptSender prompt;
  schedule::ClassId prompt_class = 0;  // class of the last packet of a prompt flow
  FecReceiver receiver;                // receives the code of flights
  // Allocated when the first packet of a prompt flow arrives.
  std::unique_ptr<FecReceiver> prompt_receiver;
  RepairBacklog waiting;  // repairs that wait for the next call
  // Packets of the code of flights in the last result of repairable().
  std::span<const Range> repairable_flights;
  // Packets of the code of prompt flows in the last result of repairable().
  std::optional<Range> repairable_prompt;
  // The last result of repairable(), if it contains packets of both codes.
  std::vector<Range> all_repairable;
  std::uint64_t dropped = 0;  // repairs that were dropped instead of sent
  // Number of our packets that the peer has recovered, according to its reports.
  std::uint64_t peer_repaired = 0;
};

// A packet that a code covers: the CODED frame at its beginning, and the frames after it. The
// function returns nullopt if the packet does not begin with CODED.
struct CodedPacket {
  CodedFrame coded;
  ConstBytes frames;
};
std::optional<CodedPacket> coded_packet(ConstBytes frames);

}  // namespace satrelay::stp
