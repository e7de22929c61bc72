// Loss recovery: finds from reports and timers what became of our packets, tells the path and FEC,
// and has what was lost sent again (docs/stp.md section 7). It keeps no state: a session makes one
// for a call.
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
    Fec* fec;  // nullptr: off
    CapacityAnnouncement& own_capacity;
    const LateSendings& late_sendings;
    Counters& counters;
    WorkCount& work;
    std::uint64_t enough;  // the count of `work` at which this call has settled enough
    Instant now;
  };
  explicit Recovery(const Job& job) : job_(job) {}

  // `waited`: how long the newest packet of the report waited at the peer's port. False if no
  // working peer reports this.
  [[nodiscard]] bool handle_report(const FeedbackFrame& report, Duration waited);
  // Some packets that were counted as losses of the link may have been lost at the peer's port.
  void handle_reception(const ReceptionFrame& frame);
  // Goes on with reports that earlier calls had no time for.
  void work_off_reports();
  // Packets that were reported missing, and may have been only late, are lost by now.
  void run_timer();
  // Sends again what the newest packet in flight carried. If the tail was lost, this repairs it,
  // and shows any other gap.
  void probe_tail();
  // Makes room for one packet in a full ledger. It is full only if a very old packet was never
  // reported. The content of that packet is sent again, and the packet is forgotten.
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
