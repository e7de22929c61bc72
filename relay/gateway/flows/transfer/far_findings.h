// Records what flows show about far hosts. All workers use these findings for later connections
// (addresses/common_knowledge.h).
#pragma once

#include "pep/base/time.h"
#include "pep/stp/session.h"
#include "relay/gateway/addresses/filtering_database.h"
#include "relay/gateway/flows/flow.h"
#include "relay/gateway/flows/parts/relay_parts.h"

namespace satrelay::gateway {

class FarFindings {
 public:
  // `parts` must outlive this object.
  explicit FarFindings(RelayParts& parts) : parts_(parts) {}

  // Records that the far host is on the WAN side. No frame on the WAN port shows that, since the
  // far host's frames end at the far gateway.
  void note_place(const Flow& f, Instant now);
  // Records the far host's DSCP and TTL when they become known.
  void note_marks(const Flow& f, Instant now);
  // Records that the server has accepted the connection: the far gateway has reported that, or
  // sends the server's bytes.
  void note_answer(const Flow& f, Instant now);
  // The peer has reset the stream. `reason` is the reason as this gateway counts it.
  void note_reset(const Flow& f, stp::ResetReason reason, const stp::Event& event, Instant now);

 private:
  void note_refusal(const Flow& f, stp::ResetReason reason, const stp::Event& event, Instant now);
  void note_refusal_of_peer(const Flow& f, stp::ResetReason reason, Instant now);

  RelayParts& parts_;
  StationListener far_stations_;
};

}  // namespace satrelay::gateway
