// Shows the packets of all sessions to an observer, unencrypted and behind the headers of a WAN
// frame.
#pragma once

#include <memory>
#include <vector>

#include "relay/gateway/parts/gateway_parts.h"
#include "relay/gateway/plain_observer.h"

namespace satrelay::gateway {

class PlainPackets {
 public:
  explicit PlainPackets(GatewayParts& parts);
  ~PlainPackets();
  PlainPackets(const PlainPackets&) = delete;
  PlainPackets& operator=(const PlainPackets&) = delete;

  // Sets the observer, or removes it if `observer` is nullptr.
  void observe(PlainObserver* observer);

 private:
  class OfLane;

  GatewayParts& parts_;
  // One entry for each lane; empty if there is no observer.
  std::vector<std::unique_ptr<OfLane>> lanes_;
};

}  // namespace satrelay::gateway
