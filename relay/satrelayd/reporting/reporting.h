// The part of a gateway that reports to operators: the board of snapshots, the events, the history,
// the stats socket, and the threads that serve them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "relay/dpdk/loop/control_thread.h"
#include "relay/ops/events/event_log.h"
#include "relay/ops/events/event_ring.h"
#include "relay/ops/events/watch.h"
#include "relay/ops/stats/history.h"
#include "relay/ops/stats/snapshot_board.h"
#include "relay/ops/stats/telemetry.h"
#include "relay/records/records_report.h"
#include "relay/satrelayd/reporting/gateway_changes.h"
#include "relay/satrelayd/reporting/reports.h"
#include "relay/satrelayd/startup/devices.h"
#include "relay/satrelayd/workers/worker_set.h"

namespace satrelay::satrelayd {

class Reporting {
 public:
  using ReportOfRecords = std::function<records::RecordsReport()>;

  // `workers` and `devices` must outlive this object. `boot_epoch` identifies this run of the
  // gateway; event numbers are unique only together with it.
  Reporting(WorkerSet& workers, const Devices& devices, std::uint64_t boot_epoch,
            ReportOfRecords report_of_records);

  ops::SnapshotBoard& board() { return board_; }
  // Adds an event to the log. Any thread may call this.
  void tell(ops::Event event) {
    changes_->note(event.kind);
    events_.tell(std::move(event));
  }
  // Call this before the event of the reload is told.
  void take_over(GatewayChanges::Running next) { changes_->take_over(std::move(next)); }
  std::shared_ptr<const GatewayChanges> changes() const { return changes_; }

 private:
  // Compares the latest snapshot with the previous one to find events. Then writes all events that
  // wait.
  void look_for_events();
  // Adds a point to the history if it is due. Does nothing while the gateway stops, since no worker
  // answers then.
  void keep_history();

  ReportOfRecords report_of_records_;
  const std::shared_ptr<GatewayChanges> changes_ = std::make_shared<GatewayChanges>();
  Reports reports_;
  ops::SnapshotBoard board_;
  ops::EventRing latest_events_;
  ops::EventLog events_;
  ops::History history_;
  const ops::Telemetry telemetry_;
  ops::Watch watch_;
  Instant next_history_;
  // watcher_ finds events and writes them to the log. The workers do not write the log, since it
  // may be slow. historian_ adds points to the history.
  const dpdk::ControlThread watcher_;
  const dpdk::ControlThread historian_;
};

}  // namespace satrelay::satrelayd
