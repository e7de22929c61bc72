// Handles frames that arrive on the LAN port: finds the flow of each frame, passes segments to
// their flow, and decides about all other frames.
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
  // All arguments must outlive this object.
  LanInput(GatewayParts& parts, Bridging& bridging, DeferredWork& deferred, StationWatch& stations,
           BetweenListener& between)
      : parts_(parts),
        bridging_(bridging),
        deferred_(deferred),
        stations_(stations),
        between_(between) {}

  // Handles at most kBurstFrames frames.
  void handle_burst(std::span<const Arrived> frames, std::span<Handled> handled, Instant now);
  // Learns from a frame where hosts are. Call this for frames that another worker handles.
  void overhear(const Frame& frame, Instant now);
  // The latest connections that were bridged instead of relayed.
  const BridgedConnections& bridged() const { return bridged_; }

 private:
  // The result of look_at_segment() for a frame of the burst.
  struct Segment {
    std::optional<wire::ParsedTcp> tcp;
    FlowKey key;
    std::uint64_t hash = 0;
    // The slot of the segment's flow; kNoSlot if no flow was found.
    std::uint32_t slot = kNoSlot;
    // FlowStore::changes() when the flow was looked up.
    std::uint64_t changes = ~std::uint64_t{0};
  };
  struct Burst {
    std::array<Frame, kBurstFrames> looks;
    // The parsed frames. Each is in `looks`, or in the caller's memory if the caller has parsed it.
    std::array<Frame*, kBurstFrames> frames;
    std::array<Segment, kBurstFrames> segments;
    std::array<tcp::Segment, kBurstFrames> train;  // segments that are handled together
  };

  // Parses the TCP header of the frame into `segment`. Does not look up the flow.
  void look_at_segment(const Frame& frame, Segment& segment) const;
  // Looks up the segment's flow again if earlier frames of the burst have added or removed flows
  // since the last look-up.
  void find_again(Segment& segment) const {
    const FlowStore& flows = parts_.flows.flows();
    if (!segment.tcp || segment.changes == flows.changes()) return;
    segment.slot = flows.find(segment.key, segment.hash);
    segment.changes = flows.changes();
  }
  // Passes the segment at `begin` to its flow, together with the segments that directly follow it
  // in the burst, belong to the same flow and have similar headers. Returns the number of these
  // segments, or 0 if the first segment must be handled alone.
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
  // Learns from ARP and Neighbour Discovery where hosts are.
  void hear_told(const Frame& frame, Instant now) {
    between_.hear_own(frame, now);
    parts_.flows.moves().hear_told(frame, now);
  }
  // Whether the frame is ARP, UDP or Neighbour Discovery from the address of this gateway or of a
  // peer. Gateways use their addresses on the WAN only. So such a frame from the LAN is forged, or
  // has returned on another path.
  bool speaks_for_gateway(const Frame& frame) const;
  // Whether the frame answers an ARP request or a neighbour solicitation of this gateway.
  bool answers_gateway(const Frame& frame) const;
  // Whether the frame is for another host of this LAN. It arrives here only because a switch did
  // not know the port of that host, and has flooded the frame.
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
  // The burst that is being handled.
  const std::unique_ptr<Burst> burst_ = std::make_unique<Burst>();
};

}  // namespace satrelay::gateway
