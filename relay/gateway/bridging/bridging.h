// Passes on frames that belong to no flow: by their rule, at once, after a wait in the uplink, or
// not at all. Bridged frames stay with the caller. Only fragments of reassembled datagrams leave
// from the reassembly's memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "config/model/schema.h"
#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "pep/schedule/class_set.h"
#include "pep/wire/tcp.h"
#include "relay/gateway/counters.h"
#include "relay/gateway/frames/fragments/reassembly.h"
#include "relay/gateway/frames/fragments/released_fragments.h"
#include "relay/gateway/frames/frame.h"
#include "relay/gateway/handled_frame.h"
#include "relay/gateway/opening/refusals.h"
#include "relay/gateway/port_id.h"
#include "relay/gateway/rules/policy.h"
#include "relay/gateway/uplink/traffic_classes.h"
#include "relay/gateway/uplink/uplink.h"

namespace satrelay::gateway {

class Bridging {
 public:
  // All arguments but the configuration must outlive this.
  Bridging(const config::Gateway& config, const Policy& policy, Uplink& uplink, Refusals& refusals,
           Reassembly& reassembly, ReleasedFragments& released, Counters& counters)
      : lan_mtu_(config.lan.mtu),
        wan_mtu_(config.wan.mtu),
        policy_(policy),
        uplink_(uplink),
        refusals_(refusals),
        reassembly_(reassembly),
        released_(released),
        counters_(counters) {}

  // For an IP packet of no flow. Does what its rule says; a rule that accelerates bridges it.
  Verdict treat(ActiveRule& rule, Counter reason, const Frame& frame, PortId from, ConstBytes bytes,
                Instant now);
  Verdict treat(Counter reason, const Frame& frame, PortId from, ConstBytes bytes, Instant now);
  // For a frame that no rule applies to.
  Verdict bridge(Counter reason, const Frame& frame, PortId from, ConstBytes bytes, Instant now) {
    return bridge(reason, TrafficClasses::kBridged, frame, from, bytes, now);
  }
  Verdict bridge_not_ip(const Frame& frame, PortId from, ConstBytes bytes, Instant now);
  Verdict drop(Counter reason) {
    counters_.add(reason);
    return Verdict::kDrop;
  }

 private:
  Verdict bridge(Counter reason, schedule::ClassId id, const Frame& frame, PortId from,
                 ConstBytes bytes, Instant now);
  // For a frame from the LAN. kBridge: it may leave now, and is booked. kQueued: it waits in the
  // uplink's held_slot().
  Verdict admit(Counter reason, schedule::ClassId id, const Frame& frame, std::size_t frame_size,
                Instant now);
  Verdict bridge_fragments(schedule::ClassId id, const Frame& frame, Instant now);
  // Answers with an RST, as the action `reset` of a rule demands.
  void refuse(const Frame& frame, const wire::ParsedTcp& tcp, PortId from, Instant now);

  std::size_t lan_mtu_, wan_mtu_;
  const Policy& policy_;
  Uplink& uplink_;
  Refusals& refusals_;
  Reassembly& reassembly_;
  ReleasedFragments& released_;
  Counters& counters_;
  struct {
    std::uint64_t frames = 0, bytes = 0;
  } fragments_bridged_;  // by the last bridge_fragments()
};

}  // namespace satrelay::gateway
