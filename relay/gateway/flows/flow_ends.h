// What is made of a flow's end: a place among the completion times, and a record for whoever wants
// one. A record waits for what the far gateway says of its LAN, if it does.
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
#include "relay/gateway/peers/lan_report.h"
#include "relay/gateway/uplink/traffic_classes.h"

namespace satrelay::gateway {

class FlowEnds {
 public:
  using StreamOf = AwaitedReports::StreamOf;

  // `classes` must outlive it.
  FlowEnds(const TrafficClasses& classes, HashKey secret) : classes_(classes), secret_(secret) {}

  // nullptr: nobody.
  void tell(FlowRecorder* recorder);
  bool is_told() const { return recorder_ != nullptr; }
  // The stream of the flow in `slot` is over, and the far gateway is going to report on it.
  void expect_report(const StreamOf& of, std::uint32_t slot, Instant now);
  // The flow is about to be forgotten, and says why. `peer`: its place in the configuration.
  // `awaited`: whose report is going to come, unless that was here already.
  void handle_end(const Flow& f, std::uint32_t peer, const std::optional<StreamOf>& awaited,
                  Instant now);
  // The slot of the flow that the report is about, if that has not ended.
  std::optional<std::uint32_t> handle_report(const StreamOf& of, const LanFigures& figures);
  // Records that have waited for too long are told as they are.
  void handle_timeout(Instant now);
  Instant next_timeout() const { return awaited_ ? awaited_->next_expiry() : Instant::never(); }
  // None waits any more.
  void shut_down();
  const Completions& completions() const { return completions_; }

 private:
  void tell(const std::optional<FlowRecord>& record) {
    if (record && recorder_ != nullptr) recorder_->handle_end(*record);
  }
  FlowRecord record_of(const Flow& f, std::uint32_t peer, Instant now) const;

  const TrafficClasses& classes_;
  HashKey secret_;
  FlowRecorder* recorder_ = nullptr;
  std::unique_ptr<AwaitedReports> awaited_;  // as long as somebody is told
  Completions completions_;
};

}  // namespace satrelay::gateway
