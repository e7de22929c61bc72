// The parts of a gateway (gateway_construction.cc) and the steps of a frame through it: from the
// LAN (gateway_lan.cc), from the WAN (gateway_wan.cc), past the flows (gateway_bridging.cc), and
// out again (gateway_output.cc). gateway_events.cc handles the events of the sessions,
// gateway_snapshots.cc makes the reports, gateway_audit.cc checks the accounts.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "config/model/schema.h"
#include "pep/base/arena.h"
#include "pep/base/check.h"
#include "pep/base/work_budget.h"
#include "pep/schedule/turn.h"
#include "pep/stp/connection/hello_budget.h"
#include "pep/stp/fec/repair_budget.h"
#include "pep/wire/tcp.h"
#include "relay/gateway/addresses/common_knowledge.h"
#include "relay/gateway/addresses/lan/lan_neighbours.h"
#include "relay/gateway/addresses/lan/presence_checks.h"
#include "relay/gateway/addresses/wan_node.h"
#include "relay/gateway/counters.h"
#include "relay/gateway/flows/relay/flow_relay.h"
#include "relay/gateway/flows/table/memory_plan.h"
#include "relay/gateway/frames/flow_key.h"
#include "relay/gateway/frames/fragments/reassembly.h"
#include "relay/gateway/frames/fragments/released_fragments.h"
#include "relay/gateway/frames/frame.h"
#include "relay/gateway/gateway.h"
#include "relay/gateway/ids.h"
#include "relay/gateway/opening/admission_control.h"
#include "relay/gateway/opening/bridged_connections.h"
#include "relay/gateway/peers/far_gateway.h"
#include "relay/gateway/peers/lane.h"
#include "relay/gateway/recovery/flow_journal.h"
#include "relay/gateway/recovery/orphaned_flows.h"
#include "relay/gateway/rules/claims.h"
#include "relay/gateway/rules/policy.h"
#include "relay/gateway/steering/flow_hash.h"
#include "relay/gateway/steering/lane_addresses.h"
#include "relay/gateway/steering/peer_addresses.h"
#include "relay/gateway/uplink/uplink.h"

namespace satrelay::gateway {

// Puts the headers of the WAN before the packets of one peer, for an observer.
class PlainPackets final : public stp::PacketObserver {
 public:
  PlainPackets(const WanNode& wan, const LaneAddress& address, PlainObserver& observer)
      : wan_(wan), address_(address), observer_(observer) {}
  void see(Way way, ConstBytes header, ConstBytes rest) override;

 private:
  const WanNode& wan_;
  LaneAddress address_;
  PlainObserver& observer_;
  std::vector<std::byte> frame_;
};

struct Gateway::Impl final : SessionPort {
  Impl(const config::Gateway& gateway_config, const Identity& gateway_identity,
       MutableBytes arena_memory, MutableBytes journal_memory, Instant now);

  // Frames that are handled together.
  static constexpr std::size_t kBurst = 32;

  // Size of an RST without data and options.
  static constexpr std::size_t kMostResetSize =
      wire::kMaxEthernetHeaderSize + wire::kIpv6HeaderSize + wire::kTcpHeaderSize;

  // --- from the LAN --------------------------------------------------------------------------
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
    std::array<Frame, kBurst> looks;
    std::array<Frame*, kBurst> frames;  // in `looks`, or where the caller has looked
    std::array<Segment, kBurst> segments;
    std::array<tcp::Segment, kBurst> train;  // the segments that are handled at once
  };
  // Looks at the frame, in `room`, unless the caller has done so.
  static Frame& look_at_arrived(const Arrived& arrived, Frame& room);
  static void prefetch(ConstBytes bytes);
  // Overwrites `segment`.
  void look_at_segment(const Frame& frame, Segment& segment) const;
  void handle_lan_burst(std::span<const Arrived> frames, std::span<Handled> handled, Instant now);
  // Frames of the burst may have begun or ended flows since the flow of this segment was found.
  void find_again(Segment& segment) const {
    if (!segment.tcp || segment.changes == flows.flows().changes()) return;
    segment.slot = flows.flows().find(segment.key, segment.hash);
    segment.changes = flows.flows().changes();
  }
  // Passes the segment at `begin` to its flow, and with it all that follow it in the burst and
  // whose frames are alike. Returns how many; none if the segment needs a closer look.
  std::size_t handle_train(std::size_t begin, std::size_t end, Instant now);
  void pass_to_flow(std::uint32_t slot, const Frame& frame, std::span<const tcp::Segment> segments,
                    Instant now);
  Verdict handle_lan(const Frame& frame, const Segment& segment, ConstBytes bytes, Instant now);
  Verdict handle_lan_tcp(const Frame& frame, const Segment& seen_segment, ConstBytes bytes,
                         Instant now);
  void begin_flow(const AdmissionControl::Segment& segment,
                  const std::optional<wire::TcpHeader>& recovered, LaneId lane, const RulePtr& rule,
                  Instant now);
  Verdict handle_lan_fragment(const Frame& frame, ConstBytes bytes, Instant now);
  // The sender claims to be this gateway or a peer. Gateways send on the WAN only, so such a frame
  // from the LAN is forged, or has come back by another way.
  bool speaks_for_gateway(const Frame& frame) const;
  // A host of the LAN answers a question of this gateway.
  bool answers_gateway(const Frame& frame) const;
  // The frame is for a host of this LAN. A switch that does not know where that host is has sent
  // the frame to all its ports.
  bool stays_on_lan(const Frame& frame, Instant now) const;

  // --- from the WAN --------------------------------------------------------------------------
  void handle_wan_burst(std::span<const Arrived> frames, std::span<Handled> handled, Instant now);
  Verdict handle_wan(const Frame& frame, ConstBytes bytes, Instant now);
  Verdict handle_stp(const Frame& frame, Instant now);

  // ARP and Neighbour Discovery may show that an address is between the gateways.
  bool may_be_between(const IpAddress& address) const;
  void look_for_question(const Frame& frame, Instant now);
  void look_for_answer(const Frame& frame, Instant now);
  void overhear(PortId port, const Frame& frame, Instant now);

  // --- from either ---------------------------------------------------------------------------
  // Work that consecutive frames of one flow, or of one peer, have in common. settle() does it
  // after the last of them, before anything else happens.
  struct Deferred {
    PortId port = PortId::kLan;    // of the last frames
    std::uint32_t flow = kNoSlot;  // it has had segments, and must move on
    LaneId lane;                   // the last one that has sent packets
    std::size_t packets = 0;       // of this peer: the events that they have caused are not taken
    bool is_empty() const { return flow == kNoSlot && packets == 0; }
  };
  void settle(Instant now);
  // The next frame is a segment of `flow`, or of no flow.
  void settle_unless(std::uint32_t flow, Instant now) {
    if (deferred.flow != flow) settle(now);
  }
  enum class Budget : std::uint8_t { kOfTheInstant, kRenewed };
  // Work that an earlier call has deferred counts as work of this call.
  void begin_call(Instant now, Budget which = Budget::kOfTheInstant) {
    const Work before = budget.total();
    if (which == Budget::kRenewed && timeout_spent_budget) change_the_first(now);
    settle(last_call);
    if (now != last_call || which == Budget::kRenewed) budget.renew(budget.total() - before);
    last_call = now;
    uplink.look_at_shares(now);
  }
  void change_the_first(Instant now);
  void run_lanes(Instant now);
  void run_lane(LaneId id, std::uint64_t most_settled, Instant now);
  void work_off_repairs(Instant now);
  void hear_station(Side side, const Frame& frame, Instant now) {
    StationListener& listener = listeners[static_cast<std::size_t>(side)];
    if (listener.has_just_heard(frame.ethernet, now)) return;
    if (frame.kind == FrameKind::kMalformed || wan.is_own_mac(frame.ethernet.source)) return;
    if (listener.hear(common->stations, side, frame.ethernet, now)) {
      counters.add(Counter::kStationsOnBothSides);
    }
  }
  void hear(const std::optional<LanNeighbours::Heard>& heard) {
    if (heard) flows.hosts().hear(heard->host, heard->towards);
  }
  // A host that moves to the other site (gateway_moves.cc).
  // A frame from the LAN: ARP or Neighbour Discovery may announce a host of a peer.
  void hear_told(const Frame& frame, Instant now);
  bool understands_arrivals(FarGatewayId peer) const;
  void handle_arrival(LaneId id, const HostArrival& arrival, Instant now);
  void settle_moves(Instant now);
  void tell_arrival(const PresenceChecks::Check& check, Instant now);
  bool concerns_relayed_flow(PortId port, const Frame& frame, std::uint32_t& slot) const;
  bool checksum_ok(const Frame& frame);
  Verdict bridge(Counter reason, schedule::ClassId id, const Frame& frame, PortId from,
                 ConstBytes bytes, Instant now);
  void count_drops();
  // For a frame from the LAN. kBridge: it may leave now, and is booked. kQueued: it waits in the
  // uplink's held_slot().
  Verdict admit(Counter reason, schedule::ClassId id, const Frame& frame, std::size_t frame_size,
                Instant now);
  Verdict bridge_fragments(schedule::ClassId id, const Frame& frame, Instant now);
  // For a frame that no rule applies to.
  Verdict bridge(Counter reason, const Frame& frame, PortId from, ConstBytes bytes, Instant now) {
    return bridge(reason, TrafficClasses::kBridged, frame, from, bytes, now);
  }
  // For an IP packet of no flow. Does what its rule says; a rule that accelerates bridges it.
  Verdict treat(ActiveRule& rule, Counter reason, const Frame& frame, PortId from, ConstBytes bytes,
                Instant now);
  Verdict treat(Counter reason, const Frame& frame, PortId from, ConstBytes bytes, Instant now);
  // Answers with an RST, as the action `reset` of a rule demands.
  void refuse(const Frame& frame, const wire::ParsedTcp& tcp, PortId from, Instant now);
  Verdict bridge_not_ip(const Frame& frame, PortId from, ConstBytes bytes, Instant now);
  Verdict drop(Counter reason) {
    counters.add(reason);
    return Verdict::kDrop;
  }

  // --- sessions ------------------------------------------------------------------------------
  // Takes the events of `packets` packets at most.
  void take_events(LaneId id, std::size_t packets, Instant now);
  void take_events(LaneId id, Instant now) { take_events(id, 1, now); }
  void handle_event(LaneId id, const stp::Event& event, Instant now);
  void handle_opened(LaneId id, stp::StreamId stream, Instant now);
  // The peer asks whether this LAN has an address.
  void answer(LaneId id, const LanQuestions::Question& asked, Instant now);
  bool is_reachable(LaneId lane) const override {
    return wan.next_hop(lane_addresses[lane].peer).has_value();
  }
  Written write_packet(LaneId lane, const schedule::Turn& turn, MutableBytes out,
                       Instant now) override;
  Run write_run(LaneId lane, const schedule::Turn& turn, std::span<const MutableBytes> rooms,
                std::span<stp::RunPacket> packets, Instant now) override;
  Instant next_timeout_of(LaneId id) const;
  // When the flows must learn that the peer has become silent, or is silent no longer.
  Instant silence_due(const Lane& lane) const {
    const Instant since = lane.silent_since();
    if (since == lane.silence) return Instant::never();
    return since.is_never() ? last_call : since + config.stp.suspect_after;
  }
  void let_lanes_rest(Instant now);
  void let_few_rest(Instant now);
  Polled poll_lan_beside_flows(MutableBytes out, Instant now);
  Polled marked(std::size_t size, MutableBytes out, Instant now) const;
  Instant next_own_frame() const;
  Polled poll_wan(MutableBytes out, Instant now);

  bool is_gateway_address(const IpAddress& address) const {
    return address == config.gateway.own || peer_addresses.find(address).has_value();
  }

  config::Gateway config;
  const Identity identity;
  const Instant started;
  const MemoryPlan plan;
  const LaneAddresses lane_addresses;
  const PeerAddresses peer_addresses;
  Arena arena;
  const FarGateways peers;  // each has its part of the arena
  WorkBudget budget;
  Counters counters;
  Reassembly reassembly;  // of datagrams from the LAN
  ReleasedFragments released{reassembly, kMostHeldFrames};
  Uplink uplink;
  Policy policy;
  const Claims claims;
  const std::shared_ptr<CommonKnowledge> common;
  AdmissionControl door;
  BridgedConnections bridged;
  WanNode wan;
  struct {
    std::uint64_t frames = 0, bytes = 0;
  } fragments_bridged;  // by the last bridge_fragments()
  // From the LAN, while it is handled.
  const std::unique_ptr<Burst> burst = std::make_unique<Burst>();
  stp::Reception wan_reception;
  Deferred deferred;
  Instant last_call;
  std::uint64_t calls = 0, next_audit = 0;   // of audit_at_intervals()
  std::array<StationListener, 2> listeners;  // by side
  LanNeighbours lan;
  // For peers' hosts that seem to have arrived on this LAN.
  PresenceChecks arrivals;
  // For hosts of this LAN that a peer has found on its own LAN.
  PresenceChecks departures;
  FlowJournal journal;
  // Flows of an earlier run, and of hosts that have moved here.
  OrphanedFlows orphans;
  FlowRelay flows;
  // Shared by all sessions.
  stp::HelloBudget hello_budget;
  // Shared by all sessions.
  stp::SharedRepairs repairs;
  // The next call works off repairs of this session first.
  LaneId first_with_repairs;
  // The session that the next timeout runs first.
  LaneId first_lane;
  // By the last timeout.
  bool timeout_spent_budget = false;
  // In this call, repairs come before flows.
  bool repairs_first = false;
  // By session, while an observer is set.
  std::vector<std::unique_ptr<PlainPackets>> plain_packets;
  // Lanes refer to flows and carriers, so they are destroyed first.
  Lanes lanes;
};

}  // namespace satrelay::gateway
