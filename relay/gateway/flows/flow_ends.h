// What is made of a flow's end: a place among the completion times, and a record for whoever wants
// one.
#pragma once

#include "pep/base/time.h"
#include "relay/gateway/flows/completion.h"
#include "relay/gateway/flows/flow.h"
#include "relay/gateway/flows/flow_record.h"
#include "relay/gateway/uplink/traffic_classes.h"

namespace satrelay::gateway {

class FlowEnds {
 public:
  // Must outlive it.
  explicit FlowEnds(const TrafficClasses& classes) : classes_(classes) {}

  // nullptr: nobody.
  void tell(FlowRecorder* recorder) { recorder_ = recorder; }
  // The flow is about to be forgotten, and says why. `peer`: its place in the configuration.
  void handle_end(const Flow& f, std::uint32_t peer, Instant now);
  const Completions& completions() const { return completions_; }

 private:
  FlowRecord record_of(const Flow& f, std::uint32_t peer, Instant now) const;

  const TrafficClasses& classes_;
  FlowRecorder* recorder_ = nullptr;
  Completions completions_;
};

}  // namespace satrelay::gateway
