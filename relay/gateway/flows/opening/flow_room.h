// Decides whether there is room for one more flow, and whether the gateway or the server answers
// its SYN.
#pragma once

#include <cstdint>
#include <optional>

#include "pep/base/time.h"
#include "relay/gateway/flows/parts/relay_parts.h"
#include "relay/gateway/ids.h"
#include "relay/gateway/opening/flow_capacity.h"

namespace satrelay::gateway {

class FlowRoom final : public FlowCapacity {
 public:
  // `parts` must outlive this object.
  explicit FlowRoom(const RelayParts& parts) : parts_(parts) {}

  std::optional<Counter> lack_of_room(LaneId lane, const IpAddress& host) const override;
  bool may_be_half_open(LaneId lane, const IpAddress& host) const override {
    return parts_.quotas.may_be_half_open(parts_.peer_of(lane), host);
  }
  Places places(LaneId lane, const IpAddress& host) const override;
  Handshake handshake(const config::Rule& rule, const FlowKey& key, LaneId lane,
                      Instant now) const override;

 private:
  const RelayParts& parts_;
};

}  // namespace satrelay::gateway
