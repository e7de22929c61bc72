// The parts of a gateway (gateway_construction.cc) and the steps of a frame through it: from the
// LAN (gateway_lan.cc), from the WAN (gateway_wan.cc), past the flows (gateway_bridging.cc), and
// out again (gateway_output.cc). What the sessions tell is in gateway_events.cc, what the gateway
// tells in gateway_snapshots.cc; its accounts are checked in gateway_audit.cc.
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
#include "relay/gateway/opening/admission_control.h"
#include "relay/gateway/opening/bridged_connections.h"
#include "relay/gateway/peers/peer.h"
#include "relay/gateway/recovery/flow_journal.h"
#include "relay/gateway/recovery/orphaned_flows.h"
#include "relay/gateway/rules/claims.h"
#include "relay/gateway/rules/policy.h"
#include "relay/gateway/steering/flow_hash.h"
#include "relay/gateway/steering/lanes.h"
#include "relay/gateway/steering/peer_addresses.h"
#include "relay/gateway/uplink/uplink.h"

namespace satrelay::gateway {

// Puts the headers of the WAN before the packets of one peer, for somebody who looks at them.
class PlainPackets final : public stp::PacketObserver {
 public:
  PlainPackets(const WanNode& wan, const Lane& lane, PlainObserver& observer)
      : wan_(wan), lane_(lane), observer_(observer) {}
  void see(Way way, ConstBytes header, ConstBytes rest) override;

 private:
  const WanNode& wan_;
  Lane lane_;
  PlainObserver& observer_;
  std::vector<std::byte> frame_;
};

struct Gateway::Impl final : SessionPort {
  Impl(const config::Gateway& gateway_config, const Identity& gateway_identity,
       MutableBytes arena_memory, MutableBytes journal_memory, Instant now);

  // Frames that are looked at together.
  static constexpr std::size_t kBurst = 32;

  // Without data and options.
  static constexpr std::size_t kMostResetSize =
      wire::kMaxEthernetHeaderSize + wire::kIpv6HeaderSize + wire::kTcpHeaderSize;

  // --- from the LAN --------------------------------------------------------------------------
  // What is seen of a segment before anything is done with it.
  struct Segment {
    std::optional<wire::ParsedTcp> tcp;
    FlowKey key;
    std::uint64_t hash = 0;
    std::uint32_t slot = kNoSlot;               // where its flow was
    std::uint64_t changes = ~std::uint64_t{0};  // FlowStore::changes() then
  };
  struct Burst {
    std::array<Frame, kBurst> looks;
    std::array<Frame*, kBurst> frames;  // there, or where the host has looked
    std::array<Segment, kBurst> segments;
    std::array<ConstBytes, kBurst> payloads;  // of those that are dealt with at once
  };
  // In `room`, if the host has not looked at it.
  static Frame& look_at_arrived(const Arrived& arrived, Frame& room);
  static void prefetch(ConstBytes bytes);
  void look_at_segment(const Frame& frame, Segment& segment) const;  // whatever that was before
  void handle_lan_burst(std::span<const Arrived> frames, std::span<Handled> handled, Instant now);
  // Whether the i-th segment may be the next one of the train that the one at `begin` leads.
  bool follows(std::size_t begin, std::size_t i) const;
  // Segments of one flow that follow each other: where they end in the burst, and how many of them
  // were dealt with at once.
  struct Train {
    std::size_t end = 0;
    std::size_t taken = 0;
  };
  Train handle_train(std::size_t begin, std::size_t end, Instant now);
  Verdict handle_lan(const Frame& frame, const Segment& segment, ConstBytes bytes, Instant now);
  Verdict handle_lan_tcp(const Frame& frame, const Segment& seen_segment, ConstBytes bytes,
                         Instant now);
  void begin_flow(const AdmissionControl::Segment& segment,
                  const std::optional<wire::TcpHeader>& recovered, std::size_t session,
                  const RulePtr& rule, Instant now);
  Verdict handle_lan_fragment(const Frame& frame, ConstBytes bytes, Instant now);
  // The sender says that it is this gateway or a peer. They live on the WAN: from the LAN that is
  // forged, or has come round by another way.
  bool speaks_for_gateway(const Frame& frame) const;
  // A host of the LAN answers a question of the gateway's.
  bool answers_gateway(const Frame& frame) const;
  // It is for a host of this LAN: a switch that does not know where that is has sent it here, too.
  bool stays_on_lan(const Frame& frame, Instant now) const;

  // --- from the WAN --------------------------------------------------------------------------
  void handle_wan_burst(std::span<const Arrived> frames, std::span<Handled> handled, Instant now);
  Verdict handle_wan(const Frame& frame, ConstBytes bytes, Instant now);
  Verdict handle_stp(const Frame& frame, Instant now);
  // What the sessions have told by the packets since the last time.
  void settle_stp(Instant now);

  // ARP and Neighbour Discovery may show that an address is between the gateways.
  bool may_be_between(const IpAddress& address) const;
  void look_for_question(const Frame& frame, Instant now);
  void look_for_answer(const Frame& frame, Instant now);
  void overhear(PortId port, const Frame& frame, Instant now);

  // --- from either ---------------------------------------------------------------------------
  // Frames that follow each other move a flow on once, and their sessions are heard once: that is
  // put off until something else is done or asked.
  bool is_settled() const { return unsettled.packets == 0 && flows.is_settled(); }
  void settle() {
    if (is_settled()) return;
    flows.settle_unless(kNoSlot, last_call);
    settle_stp(last_call);
  }
  enum class Budget : std::uint8_t { kOfTheInstant, kRenewed };
  // What an earlier call has put off counts as this one's.
  void begin_call(Instant now, Budget which = Budget::kOfTheInstant) {
    const Work before = budget.total();
    if (which == Budget::kRenewed && timeout_spent_budget) change_the_first(now);
    settle();
    if (now != last_call || which == Budget::kRenewed) budget.renew(budget.total() - before);
    last_call = now;
    uplink.look_at_shares(now);
  }
  void change_the_first(Instant now);
  void run_peers(Instant now);
  void run_peer(std::size_t i, std::uint64_t most_settled, Instant now);
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
    if (heard) flows.hear(heard->host, heard->towards);
  }
  // A host that moves to the other site (gateway_moves.cc).
  // From the LAN: ARP or Neighbour Discovery may tell of a host of a peer's.
  void hear_told(const Frame& frame, Instant now);
  bool understands_arrivals(std::size_t configured_peer) const;
  void handle_arrival(std::size_t index, const HostArrival& arrival, Instant now);
  void settle_moves(Instant now);
  void tell_arrival(const PresenceChecks::Check& check, Instant now);
  bool concerns_relayed_flow(PortId port, const Frame& frame, std::uint32_t& slot) const;
  bool checksum_ok(const Frame& frame);
  Verdict bridge(Counter reason, schedule::ClassId id, const Frame& frame, PortId from,
                 ConstBytes bytes, Instant now);
  void count_drops();
  // From the LAN: kBridge if the frame may leave now, which is booked; kQueued if it waits in the
  // uplink's held_slot().
  Verdict admit(Counter reason, schedule::ClassId id, const Frame& frame, std::size_t frame_size,
                Instant now);
  Verdict bridge_fragments(schedule::ClassId id, const Frame& frame, Instant now);
  // What no rule is asked about.
  Verdict bridge(Counter reason, const Frame& frame, PortId from, ConstBytes bytes, Instant now) {
    return bridge(reason, TrafficClasses::kBridged, frame, from, bytes, now);
  }
  // An IP packet of no flow: whatever its rule says but to accelerate, which is to bridge it.
  Verdict treat(ActiveRule& rule, Counter reason, const Frame& frame, PortId from, ConstBytes bytes,
                Instant now);
  Verdict treat(Counter reason, const Frame& frame, PortId from, ConstBytes bytes, Instant now);
  // Answers with a RST, which the rule `reset` wants.
  void refuse(const Frame& frame, const wire::ParsedTcp& tcp, PortId from, Instant now);
  Verdict bridge_not_ip(const Frame& frame, PortId from, ConstBytes bytes, Instant now);
  Verdict drop(Counter reason) {
    counters.add(reason);
    return Verdict::kDrop;
  }

  // --- sessions ------------------------------------------------------------------------------
  // Those of `packets` at most.
  void take_events(std::size_t peer, std::size_t packets, Instant now);
  void take_events(std::size_t peer, Instant now) { take_events(peer, 1, now); }
  void handle_event(std::size_t index, const stp::Event& event, Instant now);
  void handle_opened(std::size_t index, stp::StreamId stream, Instant now);
  // The peer asks whether this LAN has an address.
  void answer(std::size_t index, const LanQuestions::Question& asked, Instant now);
  bool is_reachable(std::size_t peer) const override {
    return wan.next_hop(lanes[peer].peer).has_value();
  }
  Written write_packet(std::size_t peer, const schedule::Turn& turn, MutableBytes out,
                       Instant now) override;
  Run write_run(std::size_t peer, const schedule::Turn& turn, std::span<const MutableBytes> rooms,
                std::span<stp::RunPacket> packets, Instant now) override;
  Instant next_timeout_of(std::size_t index) const;
  // When flows are to know that the peer is silent, or no more.
  Instant silence_due(const Peer& peer) const {
    const Instant since = peer.silent_since();
    if (since == peer.silence) return Instant::never();
    return since.is_never() ? last_call : since + config.stp.suspect_after;
  }
  void let_peers_rest(Instant now);
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
  const Lanes lanes;
  const PeerAddresses peer_addresses;
  Arena arena;
  std::vector<std::unique_ptr<Arena>> parts;  // of the arena, by configured peer
  WorkBudget budget;
  Counters counters;
  Reassembly reassembly;  // of what comes from the LAN
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
  } fragments_bridged;                                             // by the last bridge_fragments()
  const std::unique_ptr<Burst> burst = std::make_unique<Burst>();  // from the LAN, while it lasts
  stp::Reception wan_reception;
  // Packets of one peer whose events have not been taken yet.
  struct {
    std::size_t peer = 0, packets = 0;
  } unsettled;
  Instant last_call;
  PortId last_port = PortId::kLan;           // of frames
  std::uint64_t calls = 0, next_audit = 0;   // of audit_at_intervals()
  std::array<StationListener, 2> listeners;  // by side
  LanNeighbours lan;
  PresenceChecks arrivals;    // of hosts that should be on the LAN of a peer
  PresenceChecks departures;  // of hosts of this LAN, which a peer has found on its own
  FlowJournal journal;
  OrphanedFlows orphans;  // of an earlier run, and of hosts that have moved here
  FlowRelay flows;
  stp::HelloBudget hello_budget;                             // of all sessions
  stp::SharedRepairs repairs;                                // the same
  std::size_t first_with_repairs = 0;                        // of the sessions, in the next call
  std::size_t first_peer = 0;                                // to be run in the next timeout
  bool timeout_spent_budget = false;                         // the last one
  bool repairs_first = false;                                // before flows, in this call
  std::vector<std::unique_ptr<PlainPackets>> plain_packets;  // by session, while somebody looks
  std::vector<std::unique_ptr<Peer>>
      peers;  // by session; these refer to flows and carriers: destroyed first
};

}  // namespace satrelay::gateway
