// Advances flows: completes the handshake, opens the stream, and passes bytes and ends between the
// host and the stream, until the flow has ended.
#pragma once

#include <cstdint>

#include "pep/base/time.h"
#include "relay/gateway/flows/ending/deferred_resets.h"
#include "relay/gateway/flows/ending/end_reports.h"
#include "relay/gateway/flows/ending/flow_ending.h"
#include "relay/gateway/flows/flow.h"
#include "relay/gateway/flows/flow_deadline.h"
#include "relay/gateway/flows/parts/relay_parts.h"
#include "relay/gateway/flows/transfer/far_findings.h"
#include "relay/gateway/flows/transfer/host_tracker.h"

namespace satrelay::gateway {

class FlowTransfer {
 public:
  // All arguments must outlive this object.
  FlowTransfer(RelayParts& parts, HostTracker& hosts, DeferredResets& resets, EndReports& reports,
               FlowEnding& ending, FarFindings& findings)
      : parts_(parts),
        hosts_(hosts),
        resets_(resets),
        reports_(reports),
        ending_(ending),
        findings_(findings) {}

  // Advances a flow after anything has happened to its endpoint or its stream.
  void advance(std::uint32_t slot, Instant now);
  // Opens the stream, or ends the flow if there is no room for a stream.
  void open_stream(std::uint32_t slot, Instant now);
  // Call this for a flow that has nothing to send: arms its timer, or removes the flow if it has
  // ended.
  void settle(std::uint32_t slot, Instant now);
  // Arms the timer of a flow that may now have an earlier deadline.
  void arm(std::uint32_t slot) { parts_.flows.arm(slot, parts_.deadline_of(parts_.flows[slot])); }
  // Records that the flow has begun to wait for a silent peer, or no longer waits for one.
  void note_owing(Flow& f, Instant now) {
    const Lane& lane = parts_.lane_of(f);
    const bool owes = !lane.silence.is_never() && owes_peer(f, lane.session);
    if (owes != f.owes_since().is_never()) return;
    f.heat(now).owes_since = owes ? now : Instant::never();
  }
  // Frees the memory that only an active flow needs.
  void trim(Flow& f);

 private:
  void complete_handshake(Flow& f);
  void deliver(std::uint32_t slot, Flow& f, Instant now);

  RelayParts& parts_;
  HostTracker& hosts_;
  DeferredResets& resets_;
  EndReports& reports_;
  FlowEnding& ending_;
  FarFindings& findings_;
};

}  // namespace satrelay::gateway
