// The rates of links and lanes. Updates sessions and carriers if one of these changes: the limits
// of the operator, the rates that peers announce, and the rates that the controllers of the
// sessions find.
#pragma once

#include <string_view>
#include <vector>

#include "config/model/schema.h"
#include "pep/base/time.h"
#include "pep/base/units.h"
#include "relay/gateway/ids.h"
#include "relay/gateway/uplink/carrier.h"
#include "relay/gateway/uplink/command_result.h"
#include "relay/gateway/uplink/link_way.h"
#include "relay/gateway/uplink/rates/class_turns.h"
#include "relay/gateway/uplink/rates/uplink_parts.h"
#include "relay/gateway/uplink/rates/worker_shares.h"

namespace satrelay::gateway {

class LaneRates {
 public:
  // All arguments must outlive this object.
  LaneRates(UplinkParts& parts, ClassTurns& turns, WorkerShares& shares)
      : parts_(parts), turns_(turns), shares_(shares) {}

  CapacityResult set_capacity(std::string_view link, LinkWay way, BitRate capacity, Instant now);
  // Limits the rate of the lane; zero removes the limit.
  void set_most_rate(LaneId lane, BitRate most, Instant now);
  // The limits that set_capacity() and set_most_rate() have set; zero if there is no limit, or no
  // such link.
  BitRate commanded_capacity(std::string_view link, LinkWay way) const;
  BitRate most_rate(LaneId lane) const { return parts_.lines[lane].most_rate; }
  // The rate that the operator allows on the lane, if it is below the configured rate; otherwise
  // zero.
  BitRate commanded(LaneId lane) const;
  // Call this when the peer has announced another capacity.
  void handle_capacity(LaneId lane, Instant now) { apply_capacity(lane, now); }
  // Updates the lane if its controller has found that the link carries another rate.
  void follow(LaneId lane, Instant now);
  // Applies the settings of links that can change at run time.
  void reconfigure(const std::vector<config::Link>& links, Instant now);

  // Sessions may measure the link by a packet train (control::RateController::train()). Returns the
  // size of the longest train; zero if there is none.
  ByteCount train(LinkId link) const;

 private:
  Carrier* find(std::string_view link) const;
  void apply_rate(Carrier& carrier, Instant now);
  void apply_capacity(Carrier& carrier, Instant now);
  void apply_capacity(LaneId lane, Instant now);

  UplinkParts& parts_;
  ClassTurns& turns_;
  WorkerShares& shares_;
};

}  // namespace satrelay::gateway
