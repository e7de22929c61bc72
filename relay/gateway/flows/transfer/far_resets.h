// Handles resets of streams by the peer: the far host has refused or reset the connection, or the
// far gateway has ended it. Our host gets an RST. But a client that still waits for the server gets
// the same as over a bridge: an RST if the server has refused, an ICMP error, or no answer.
#pragma once

#include "pep/base/time.h"
#include "pep/stp/session.h"
#include "relay/gateway/addresses/lan/presence_checks.h"
#include "relay/gateway/flows/ending/deferred_resets.h"
#include "relay/gateway/flows/ending/flow_ending.h"
#include "relay/gateway/flows/flow.h"
#include "relay/gateway/flows/parts/relay_parts.h"
#include "relay/gateway/flows/transfer/far_findings.h"

namespace satrelay::gateway {

class FarResets {
 public:
  // All arguments must outlive this object.
  FarResets(RelayParts& parts, const RelayEnvironment& around, const PresenceChecks& arrivals,
            DeferredResets& resets, FlowEnding& ending, FarFindings& findings)
      : parts_(parts),
        claims_(around.claims),
        arrivals_(arrivals),
        orphans_(around.orphans),
        resets_(resets),
        ending_(ending),
        findings_(findings) {}

  // Handles `event`, a Kind::kReset of the flow's stream.
  void handle(Flow& f, const stp::Event& event, Instant now);

 private:
  bool take_in_arrived(Flow& f, stp::ResetReason reason, Instant now);
  [[nodiscard]] bool tell_host(const Flow& f, const stp::IcmpRefusal& refusal);

  RelayParts& parts_;
  const Claims& claims_;
  const PresenceChecks& arrivals_;
  OrphanedFlows& orphans_;
  DeferredResets& resets_;
  FlowEnding& ending_;
  FarFindings& findings_;
};

}  // namespace satrelay::gateway
