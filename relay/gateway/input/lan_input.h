// Handles frames that arrive on the LAN port: finds the flow of each, passes segments to it, and
// decides about all other frames.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "pep/tcp/endpoint.h"
#include "pep/wire/tcp.h"
#include "relay/gateway/bridging/bridging.h"
#include "relay/gateway/flows/relay/flow_relay.h"
#include "relay/gateway/frames/flow_key.h"
#include "relay/gateway/frames/frame.h"
#include "relay/gateway/frames/frame_faults.h"
#include "relay/gateway/handled_frame.h"
#include "relay/gateway/ids.h"
#include "relay/gateway/input/arrived_frame.h"
#include "relay/gateway/input/station_watch.h"
#include "relay/gateway/lanes/deferred_work.h"
#include "relay/gateway/opening/admission_control.h"
#include "relay/gateway/opening/between_listener.h"
#include "relay/gateway/opening/bridged_connections.h"
#include "relay/gateway/parts/gateway_parts.h"
#include "relay/gateway/rules/policy.h"

namespace satrelay::gateway {

class LanInput {
 public:
  // All arguments must outlive this.
  LanInput(GatewayParts& parts, Bridging& bridging, DeferredWork& deferred, StationWatch& stations,
           BetweenListener& between)
      : parts_(parts),
        bridging_(bridging),
        deferred_(deferred),
        stations_(stations),
        between_(between) {}

  // At most kBurstFrames frames.
  void handle_burst(std::span<const Arrived> frames, std::span<Handled> handled, Instant now);
  // Learns from a frame that another worker handles what handle_burst() would learn.
  void overhear(const Frame& frame, Instant now);
  // The latest connections that were bridged instead of relayed.
  const BridgedConnections& bridged() const { return bridged_; }

 private:
  // A segment, as look_at_segment() reads it before anything is done with it.
  struct Segment {
    std::optional<wire::ParsedTcp> tcp;
    FlowKey key;
    std::uint64_t hash = 0;
    // Where its flow was found.
    std::uint32_t slot = kNoSlot;
    // FlowStore::changes() at that time.
    std::uint64_t changes = ~std::uint64_t{0};
  };
  struct Burst {
    std::array<Frame, kBurstFrames> looks;
    std::array<Frame*, kBurstFrames> frames;  // in `looks`, or where the caller has looked
    std::array<Segment, kBurstFrames> segments;
    std::array<tcp::Segment, kBurstFrames> train;  // the segments that are handled at once
  };

  // Overwrites `segment`.
  void look_at_segment(const Frame& frame, Segment& segment) const;
  // Frames of the burst may have begun or ended flows since the flow of this segment was found.
  void find_again(Segment& segment) const {
    const FlowStore& flows = parts_.flows.flows();
    if (!segment.tcp || segment.changes == flows.changes()) return;
    segment.slot = flows.find(segment.key, segment.hash);
    segment.changes = flows.changes();
  }
  // Passes the segment at `begin` to its flow, and with it all that follow it in the burst and
  // whose frames are alike. Returns how many; none if the segment needs a closer look.
  std::size_t handle_train(std::size_t begin, std::size_t end, Instant now);
  void pass_to_flow(std::uint32_t slot, const Frame& frame, std::span<const tcp::Segment> segments,
                    Instant now);
  Verdict handle(const Frame& frame, const Segment& segment, ConstBytes bytes, Instant now);
  Verdict handle_tcp(const Frame& frame, const Segment& seen_segment, ConstBytes bytes,
                     Instant now);
  void begin_flow(const AdmissionControl::Segment& segment,
                  const std::optional<wire::TcpHeader>& recovered, LaneId lane, const RulePtr& rule,
                  Instant now);
  Verdict handle_fragment(const Frame& frame, ConstBytes bytes, Instant now);
  // ARP and Neighbour Discovery show where hosts are.
  void hear_told(const Frame& frame, Instant now) {
    between_.hear_own(frame, now);
    parts_.flows.moves().hear_told(frame, now);
  }
  // The sender claims to be this gateway or a peer. Gateways send on the WAN only, so such a frame
  // from the LAN is forged, or has come back by another way.
  bool speaks_for_gateway(const Frame& frame) const;
  // A host of the LAN answers a question of this gateway.
  bool answers_gateway(const Frame& frame) const;
  // The frame is for a host of this LAN. A switch that does not know where that host is has sent
  // the frame to all its ports.
  bool stays_on_lan(const Frame& frame, Instant now) const;
  bool passes_checksum(const Frame& frame) const {
    return gateway::passes_checksum(frame, parts_.counters);
  }

  GatewayParts& parts_;
  Bridging& bridging_;
  DeferredWork& deferred_;
  StationWatch& stations_;
  BetweenListener& between_;
  BridgedConnections bridged_;
  // While it is handled.
  const std::unique_ptr<Burst> burst_ = std::make_unique<Burst>();
};

}  // namespace satrelay::gateway
