// Handles the end of a flow: adds the flow to the completion times, and makes a record of it if a
// recorder is set. The record waits for the far gateway's LAN report, if that is still expected.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "pep/base/time.h"
#include "relay/gateway/flows/completion.h"
#include "relay/gateway/flows/flow.h"
#include "relay/gateway/flows/flow_record.h"
#include "relay/gateway/flows/hosts/awaited_reports.h"
#include "relay/gateway/frames/keyed_hash.h"
#include "relay/gateway/ids.h"
#include "relay/gateway/peers/lan_report.h"
#include "relay/gateway/uplink/traffic_classes.h"

namespace satrelay::gateway {

class FlowEnds {
 public:
  using StreamOf = AwaitedReports::StreamOf;

  // `classes` must outlive this object.
  FlowEnds(const TrafficClasses& classes, HashKey secret) : classes_(classes), secret_(secret) {}

  // Sets the recorder; nullptr removes it.
  void tell(FlowRecorder* recorder);
  bool is_told() const { return recorder_ != nullptr; }
  // The stream of the flow in `slot` is over, and the far gateway will send a report on it.
  void expect_report(const StreamOf& of, std::uint32_t slot, Instant now);
  // The slot of the flow is about to be freed; the flow's state says why the flow has ended. `peer`
  // is the index of the peer in the configuration. `awaited` is the stream for which a report is
  // still expected; nullopt if no report is expected, or if it has arrived.
  void handle_end(const Flow& f, FarGatewayId peer, const std::optional<StreamOf>& awaited,
                  Instant now);
  // Returns the slot of the flow that the report is about, if the flow has not ended yet.
  std::optional<std::uint32_t> handle_report(const StreamOf& of, const LanFigures& figures);
  // Hands out records for which no report has arrived in time.
  void handle_timeout(Instant now);
  Instant next_timeout() const { return awaited_ ? awaited_->next_expiry() : Instant::never(); }
  // Hands out all records that wait.
  void shut_down();
  const Completions& completions() const { return completions_; }

 private:
  void tell(const std::optional<FlowRecord>& record) {
    if (record && recorder_ != nullptr) recorder_->handle_end(*record);
  }
  FlowRecord record_of(const Flow& f, FarGatewayId peer, Instant now) const;

  const TrafficClasses& classes_;
  HashKey secret_;
  FlowRecorder* recorder_ = nullptr;
  std::unique_ptr<AwaitedReports> awaited_;  // exists while a recorder is set
  Completions completions_;
};

}  // namespace satrelay::gateway
