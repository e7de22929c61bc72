// Shows the packets of all sessions to an observer, with the headers of the WAN in front of them.
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

  // Sets the observer; nullptr: none.
  void observe(PlainObserver* observer);

 private:
  class OfLane;

  GatewayParts& parts_;
  // One for each lane, while there is an observer.
  std::vector<std::unique_ptr<OfLane>> lanes_;
};

}  // namespace satrelay::gateway
