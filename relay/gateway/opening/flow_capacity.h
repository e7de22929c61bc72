// Answers whether there is room for one more flow. The argument `host` is a host of this LAN.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "config/model/schema.h"
#include "pep/base/address.h"
#include "pep/base/time.h"
#include "relay/gateway/counters.h"
#include "relay/gateway/frames/flow_key.h"
#include "relay/gateway/ids.h"
#include "relay/gateway/rules/handshake.h"

namespace satrelay::gateway {

class FlowCapacity {
 public:
  virtual ~FlowCapacity() = default;
  // Returns why there is no room for one more flow of the host towards the peer; nullopt if there
  // is room.
  virtual std::optional<Counter> lack_of_room(LaneId lane, const IpAddress& host) const = 0;
  // Whether one more flow may be half-open, waiting for its host to complete the handshake.
  virtual bool may_be_half_open(LaneId lane, const IpAddress& host) const = 0;
  // Number of free slots in the flow table: for all flows, for flows of one peer, and for flows of
  // one host.
  struct Places {
    std::uint64_t all = 0;
    std::uint64_t of_peer = 0;
    std::uint64_t of_host = 0;
  };
  virtual Places places(LaneId lane, const IpAddress& host) const = 0;
  // Which side answers the SYN of a flow with this key to the lane's peer, under the rule.
  virtual Handshake handshake(const config::Rule& rule, const FlowKey& key, LaneId lane,
                              Instant now) const = 0;
};

}  // namespace satrelay::gateway
