// Loss recovery. It finds out from reports and timers which of our packets have arrived or are
// lost, informs the path and FEC, and requests the retransmission of lost data (docs/stp.md section
// 7). It has no state of its own: the session creates an object for each call.
#pragma once

#include <cstdint>

#include "pep/base/time.h"
#include "pep/base/work_count.h"
#include "pep/stp/connection/capacity_announcement.h"
#include "pep/stp/counters.h"
#include "pep/stp/fec/fec.h"
#include "pep/stp/numbers/sent_ledger.h"
#include "pep/stp/packets/item_fates.h"
#include "pep/stp/path/late_sendings.h"
#include "pep/stp/path/path.h"
#include "pep/stp/streams/streams.h"
#include "pep/stp/wire/frames.h"

namespace satrelay::stp {

class Recovery {
 public:
  struct Job {
    SentLedger& ledger;
    Path& path;
    Streams& streams;
    Fec* fec;  // nullptr if FEC is off
    CapacityAnnouncement& own_capacity;
    const LateSendings& late_sendings;
    Counters& counters;
    WorkCount& work;
    std::uint64_t enough;  // the call settles no more objects when `work` reaches this count
    Instant now;
  };
  explicit Recovery(const Job& job) : job_(job) {}

  // `waited` is how long the newest packet of the report waited at the peer's port. Returns false
  // if no working peer can send such a report.
  [[nodiscard]] bool handle_report(const FeedbackFrame& report, Duration waited);
  // Corrects the counts of losses: some of the packets that were counted as lost on the link may
  // have been dropped at the peer's port.
  void handle_reception(const ReceptionFrame& frame);
  // Continues with reports that earlier calls did not finish.
  void work_off_reports();
  // Declares packets lost that were reported missing, when the time for which reordering is
  // tolerated has passed.
  void run_timer();
  // Retransmits the content of the newest packet in flight that has any. If this packet was lost,
  // its loss is repaired. The report about the retransmission also shows whether packets before it
  // were lost.
  void probe_tail();
  // Frees the oldest entry of a full ledger. The ledger is full only if a very old packet was never
  // reported. The content of this packet is retransmitted, and the packet counts as lost.
  void make_room();

 private:
  struct Settler;

  [[nodiscard]] bool work_off(PendingReport& pending);
  LossDetector::Rule loss_rule(const FeedbackFrame& report);
  void count_losses(const Settler& settler);
  ItemFates::Job items() const {
    return {job_.ledger, job_.streams, job_.own_capacity, job_.work, job_.now};
  }

  Job job_;
};

}  // namespace satrelay::stp
