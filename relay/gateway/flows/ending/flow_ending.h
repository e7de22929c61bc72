// Ends flows. A flow ends when its hosts close or reset their connections, when it times out, when
// its peer is lost, or when the gateway decides so. Each end is counted once. The slot is freed
// when neither direction has anything left to deliver.
#pragma once

#include <cstdint>

#include "pep/base/time.h"
#include "pep/stp/session.h"
#include "relay/gateway/counters.h"
#include "relay/gateway/flows/ending/deferred_resets.h"
#include "relay/gateway/flows/ending/end_reports.h"
#include "relay/gateway/flows/ending/late_segments.h"
#include "relay/gateway/flows/flow.h"
#include "relay/gateway/flows/parts/relay_parts.h"
#include "relay/gateway/peers/peer_epoch_log.h"

namespace satrelay::gateway {

class FlowEnding {
 public:
  // All arguments must outlive this object.
  FlowEnding(RelayParts& parts, DeferredResets& resets, LateSegments& late, EndReports& reports)
      : parts_(parts), resets_(resets), late_(late), reports_(reports) {}

  // Records why the flow ends. Has no effect if a reason is already recorded.
  void count(Flow& f, Counter counter);

  // --- the gateway ends a flow -----------------------------------------------------------------
  // Resets both directions.
  void reset(std::uint32_t slot, stp::ResetReason reason, Counter counter, Instant now);
  // Resets the host of a flow that no longer has a stream.
  void reset_without_stream(std::uint32_t slot, Counter reason, Instant now);
  // Resets the host. If the host waits for an answer to its SYN, it gets an RST only if the far
  // host has refused the connection. Otherwise the SYN stays unanswered.
  void abort_or_abandon(Flow& f, stp::ResetReason reason, Instant now);
  // An ICMP error has ended the attempt to connect. Reports the error to the peer, if the peer
  // understands ICMP errors. Otherwise handle_closed_endpoint() reports the closest reset reason.
  void hand_over(Flow& f, const stp::IcmpRefusal& refusal, Instant now);
  // Ends a flow that has waited too long for its peer: the peer was silent, or has not reported
  // whether the far host answers. A peer that is still silent may have restarted, and may no longer
  // know the flow. So the flow is put on a list that the peer gets when it answers again
  // (ControlMessages::remember()).
  void give_up(std::uint32_t slot, Instant now);
  // The session no longer has the stream.
  void lose_stream(std::uint32_t slot, PeerEpochLog::Kind kind, Instant now);

  // --- the host's connection is over -----------------------------------------------------------
  // The endpoint has closed: reports that to the peer, once.
  void handle_closed_endpoint(Flow& f, Instant now);
  // Returns true if the flow was removed: neither direction had anything left, or the flow only had
  // to answer late segments, which LateSegments does from now on.
  bool remove_if_over(std::uint32_t slot, Instant now);
  void remove(std::uint32_t slot, Instant now);

 private:
  void remember(const Flow& f);
  void retire(std::uint32_t slot, const tcp::TimeWait& state, Instant now);
  void release_slot(std::uint32_t slot, Instant now);

  RelayParts& parts_;
  DeferredResets& resets_;
  LateSegments& late_;
  EndReports& reports_;
};

}  // namespace satrelay::gateway
