// If several workers share a link, its rate is divided among them (relay/gateway/shares). This
// class writes the demands of this worker, and takes over its shares.
#pragma once

#include "pep/base/time.h"
#include "relay/gateway/shares/link_share.h"
#include "relay/gateway/uplink/carrier.h"
#include "relay/gateway/uplink/rates/uplink_parts.h"
#include "relay/gateway/uplink/session_port.h"

namespace satrelay::gateway {

class WorkerShares {
 public:
  // All arguments must outlive this object.
  WorkerShares(UplinkParts& parts, const SessionPort& port) : parts_(parts), port_(port) {}

  void write_demands(Demands& demands, Instant now) const;
  void take(const Shares& shares, Instant now);
  // Handles shares that have expired at `now`. Call this before all other calls at `now`.
  void look(Instant now) {
    if (now >= until_) expire(now);
  }
  // Call this when the share of the carrier has expired. Limits the lanes on the carrier to the
  // rates that they may use without a share.
  void fall_back(Carrier& carrier, Instant now);

 private:
  void expire(Instant now);

  UplinkParts& parts_;
  const SessionPort& port_;
  // The earliest time at which a share expires.
  Instant until_ = Instant::never();
};

}  // namespace satrelay::gateway
