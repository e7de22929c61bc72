// Reports flows that end: sends the far gateway a report on this LAN, and gives the recorder a
// record of the flow. The record waits for the far gateway's own report (flow_ends.h).
#pragma once

#include <cstdint>

#include "pep/base/time.h"
#include "relay/gateway/flows/flow.h"
#include "relay/gateway/flows/flow_ends.h"
#include "relay/gateway/flows/parts/relay_parts.h"
#include "relay/gateway/ids.h"
#include "relay/gateway/peers/lan_report.h"

namespace satrelay::gateway {

class EndReports {
 public:
  // `parts` and `classes` must outlive this object.
  EndReports(RelayParts& parts, const TrafficClasses& classes, HashKey secret)
      : parts_(parts), ends_(classes, secret) {}

  // Sets the recorder; nullptr removes it.
  void tell(FlowRecorder* recorder);
  // The flow's stream is over. If the far gateway will send a report on it, the flow waits for the
  // report.
  void expect(std::uint32_t slot, Instant now);
  // The slot of the flow is about to be freed.
  void handle_end(const Flow& f, Instant now);
  // Handles the far gateway's report, which arrives before or after this gateway's flow has ended.
  void handle_report(LaneId id, const LanReport& report);
  void handle_timeout(Instant now) { ends_.handle_timeout(now); }
  Instant next_timeout() const { return ends_.next_timeout(); }
  void shut_down() { ends_.shut_down(); }
  const Completions& completions() const { return ends_.completions(); }

 private:
  bool awaits_report(const Flow& f) const;
  FlowEnds::StreamOf stream_of(const Flow& f) const;

  RelayParts& parts_;
  FlowEnds ends_;
};

}  // namespace satrelay::gateway
