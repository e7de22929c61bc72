// Handles frames that belong to no flow. The rule and the uplink decide whether a frame is sent at
// once, after a wait in the uplink, or not at all. The caller keeps the memory of bridged frames.
// Only fragments of reassembled datagrams are sent from the reassembly's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

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
#include "relay/gateway/rules/explanation.h"
#include "relay/gateway/rules/policy.h"
#include "relay/gateway/uplink/traffic_classes.h"
#include "relay/gateway/uplink/uplink.h"

namespace satrelay::gateway {

class Bridging {
 public:
  // All arguments except the configuration must outlive this object.
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

  // Handles an IP packet that belongs to no flow, as its rule says. If the rule accelerates, the
  // packet is bridged.
  Verdict treat(ActiveRule& rule, Counter reason, const Frame& frame, PortId from, ConstBytes bytes,
                Instant now);
  Verdict treat(Counter reason, const Frame& frame, PortId from, ConstBytes bytes, Instant now);
  // Bridges a frame to which no rule applies.
  Verdict bridge(Counter reason, const Frame& frame, PortId from, ConstBytes bytes, Instant now) {
    return bridge(reason, TrafficClasses::kBridged, frame, from, bytes, now);
  }
  Verdict bridge_not_ip(const Frame& frame, PortId from, ConstBytes bytes, Instant now);
  // The fate of a packet that belongs to no flow, as treat() decides it.
  struct Prospect {
    Outcome outcome = Outcome::kBridged;
    Counter reason = Counter::kBridgedNotTcp;        // if it is bridged
    std::optional<BridgedTurn> turn = std::nullopt;  // if it is bridged and may wait
  };
  Prospect prospect(const ActiveRule& rule, bool is_tcp, PortId from) const;
  // The reason to bridge a whole packet that is not TCP and has neither IP options nor IPv6
  // extensions.
  static constexpr Counter reason_if_not_tcp(PortId from) {
    return from == PortId::kLan ? Counter::kBridgedNotTcp : Counter::kBridgedFromWan;
  }
  Verdict drop(Counter reason) {
    counters_.add(reason);
    return Verdict::kDrop;
  }

 private:
  static Outcome outcome_of(const config::Rule& rule, bool is_tcp);
  // Frames for the LAN leave at once: the LAN is never the bottleneck.
  static constexpr bool may_wait(PortId from) { return from == PortId::kLan; }
  Verdict bridge(Counter reason, schedule::ClassId id, const Frame& frame, PortId from,
                 ConstBytes bytes, Instant now);
  // Admits a frame from the LAN to the WAN. If the result is kBridge, the frame may be sent now,
  // and was charged to the carrier. If it is kQueued, the frame waits in the uplink's held_slot().
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
  } fragments_bridged_;  // the result of the last bridge_fragments()
};

}  // namespace satrelay::gateway
