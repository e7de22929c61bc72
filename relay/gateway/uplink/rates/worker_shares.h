// The uplink's side of the division of links among workers (relay/gateway/shares): what this worker
// demands, and the shares that it has.
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
  // Call this before any other call at `now`, since a share may have expired.
  void look(Instant now) {
    if (now >= until_) expire(now);
  }
  // Call this when the carrier's share has expired. Limits each of its lanes to the rate that the
  // lane may use without a share.
  void fall_back(Carrier& carrier, Instant now);

 private:
  void expire(Instant now);

  UplinkParts& parts_;
  const SessionPort& port_;
  // The earliest time at which a share expires.
  Instant until_ = Instant::never();
};

}  // namespace satrelay::gateway
