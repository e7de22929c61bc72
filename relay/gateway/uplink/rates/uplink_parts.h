// The objects that all classes of the uplink use: the carriers, the lanes on them, the classes of
// traffic, and the bridged frames that wait.
#pragma once

#include <cstddef>
#include <memory>

#include "config/model/schema.h"
#include "pep/base/containers/ready_set.h"
#include "pep/base/typed_id.h"
#include "relay/gateway/ids.h"
#include "relay/gateway/uplink/carrier.h"
#include "relay/gateway/uplink/held_frames.h"
#include "relay/gateway/uplink/polled.h"
#include "relay/gateway/uplink/rates/line.h"
#include "relay/gateway/uplink/traffic_classes.h"

namespace satrelay::gateway {

using Carriers = IdVector<LinkId, std::unique_ptr<Carrier>>;

struct UplinkParts {
  UplinkParts(const config::Gateway& config, std::size_t lane_count);

  TrafficClasses classes;
  Carriers carriers;
  IdVector<LaneId, Line> lines;
  // The lanes that may have something to send. Other lanes are not polled.
  ReadySet<LaneId> ready_set;
  // True if bridged frames without a class form a class of their own.
  const bool has_bridged_share;
  HeldFrames held;
};

}  // namespace satrelay::gateway
