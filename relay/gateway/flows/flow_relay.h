// All relayed flows of this gateway: their slots, timers and the queue of those with something to
// say to their host. Joins each TCP endpoint to its STP stream from the first SYN to the last ACK.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/schema.h"
#include "pep/base/arena.h"
#include "pep/base/work_count.h"
#include "pep/stp/session.h"
#include "pep/wire/icmp.h"
#include "pep/wire/tcp.h"
#include "relay/gateway/addresses/lan_neighbours.h"
#include "relay/gateway/counters.h"
#include "relay/gateway/flows/flow.h"
#include "relay/gateway/flows/flow_store.h"
#include "relay/gateway/flows/host_side.h"
#include "relay/gateway/flows/memory_plan.h"
#include "relay/gateway/flows/splice.h"
#include "relay/gateway/flows/unheard_flows.h"
#include "relay/gateway/frames/frame.h"
#include "relay/gateway/frames/segment_queue.h"
#include "relay/gateway/opening/connection_records.h"
#include "relay/gateway/opening/room_for_flows.h"
#include "relay/gateway/peers/dictionaries.h"
#include "relay/gateway/peers/peer.h"
#include "relay/gateway/peers/stream_context.h"
#include "relay/gateway/peers/upheavals.h"
#include "relay/gateway/recovery/flow_journal.h"
#include "relay/gateway/recovery/orphaned_flows.h"
#include "relay/gateway/rules/claims.h"
#include "relay/gateway/rules/policy.h"
#include "relay/gateway/snapshot.h"

namespace satrelay::gateway {

class FlowRelay final : public stp::StreamSource, public RoomForFlows {
 public:
  // What of the gateway flows have to do with; all of it outlives the relay.
  struct Surroundings {
    const Policy& policy;
    const Claims& claims;
    const TrafficClasses& classes;
    LanNeighbours& lan;
    Arena& arena;
    // Filled after construction, as each session needs the relay as its source.
    std::vector<std::unique_ptr<Peer>>& peers;
    ConnectionRecords& records;
    FlowJournal& journal;
    OrphanedFlows& orphans;
    Counters& counters;
  };
  FlowRelay(const config::Gateway& config, const MemoryPlan& plan, HashKey secret,
            const Surroundings& around, const Stopwatch* stopwatch);

  // --- input ---------------------------------------------------------------------------------
  std::uint32_t find(const FlowKey& key) const { return flows_.find(key); }
  // Takes a new flow from its SYN, or, if that was answered by a cookie, from the `frame` of the
  // ACK that brings back its `cookie`. There is room for it.
  void accept(const FlowKey& key, const Frame& frame, const wire::TcpHeader& syn,
              std::optional<std::uint32_t> cookie, std::size_t peer, const RulePtr& chosen,
              Instant now);
  // RoomForFlows.
  std::optional<Counter> lack_of_room(std::size_t peer) const override;
  std::size_t free_slots() const override { return flows_.free_slots(); }
  std::uint32_t half_open() const override { return flows_.half_open(); }
  // How the endpoint of a flow with this key would be set up now.
  tcp::Config endpoint_config(const FlowKey& key, Instant now) const {
    return host_side_.config_for(key, first_window(), now);
  }
  // Frees the slot of a flow that is over but for its TIME-WAIT, so that `syn` may start its
  // 4-tuple anew; false if the flow is still needed.
  bool make_way(std::uint32_t slot, const wire::TcpHeader& syn, Instant now);
  void handle_segment(std::uint32_t slot, const Frame& frame, const wire::TcpHeader& header,
                      ConstBytes payload, Instant now);
  // The host's LAN says that a segment of ours did not reach it, or was too big.
  void handle_icmp_error(std::uint32_t slot, const Frame& frame, Instant now);
  void handle_event(std::size_t peer, const stp::Event& event, Instant now);
  // How `host` is reached on the LAN has become known.
  void hear(const IpAddress& host, const wire::EthernetHeader& towards);
  void handle_timeout(Instant now);
  // The peer is silent for too long: resets its flows towards their hosts, and their streams.
  void give_up(std::size_t peer) { upset(peer, Upheavals::Kind::kLost); }
  // Some more of what was begun with all flows and is done to them one by one.
  void go_on(Instant now);
  // What of the configuration holds for flows and can change while they go on.
  void reconfigure(const config::Gateway& next, Instant now);
  // The dictionaries of the classes, to all peers and for what is sent to them.
  void offer_dictionaries(const std::vector<config::TrafficClass>& classes, Instant now);
  // Resets every flow towards its host at once, and sends no less at once: for an end in order.
  // Their streams are gone already.
  void shut_down(Instant now);

  // Where the sessions sum up what they store: each byte of it is memory that is promised no more.
  std::uint64_t* stored_of_peers() { return &stored_of_peers_; }

  // stp::StreamSource: the pacer asks for the next block of a stream.
  void produce(stp::StreamId stream, std::uint32_t number, Instant now) override;

  // --- output --------------------------------------------------------------------------------
  std::size_t poll_frame(MutableBytes out, Instant now);
  Instant next_timeout() const;

  // --- getters -------------------------------------------------------------------------------
  const FlowStore& flows() const { return flows_; }
  // Of the flow that an event of an open stream is about; nullptr if there is none.
  const FlowKey* key_of(std::size_t peer, const stp::Event& event) const {
    const StreamContext context(event.context);
    if (context.kind() != StreamContext::Kind::kFlow || !flows_.contains(context.index())) {
      return nullptr;
    }
    const Flow& f = flows_[context.index()];
    const bool same = f.stream_state == StreamState::kOpen && f.stream == event.stream;
    return same && f.peer == peer && !is_behind(f) ? &f.key : nullptr;
  }
  std::uint64_t visited() const { return work_.total(); }  // objects (pep/base/work_count.h)
  const compress::CodecCounters& codec_counters() const { return splice_.counters(); }
  const tcp::Counters& tcp_counters() const { return tcp_counters_; }  // of all flows since start
  // What has happened to all flows of a peer happens to these before they are described.
  std::vector<FlowSnapshot> snapshot(std::size_t first, std::size_t count, Instant now);
  std::optional<FlowSnapshot> snapshot(std::uint64_t id, Instant now);

  // As Gateway's (gateway_audit.cc).
  std::optional<std::string> audit() const;
  void add_held(ArenaUse& use) const;

 private:
  Flow& flow(std::uint32_t slot) { return flows_[slot]; }
  stp::Session& session_of(const Flow& f) { return peers_[f.peer]->session; }
  std::uint32_t new_flow(const FlowKey& key, const RulePtr& rule, Origin origin, std::size_t peer,
                         Instant now, std::optional<std::uint32_t> initial_sequence = std::nullopt);
  void handle_peer_event(std::size_t peer, const stp::Event& event, Instant now);
  void remember(const Flow& f);  // for the peer, should it have been started anew
  void write_down(Flow& f);      // for ourselves
  void handle_opened(std::size_t peer, const stp::Event& event, Instant now);
  bool makes_way(std::uint32_t slot, const wire::TcpHeader& header, Instant now);
  void doubt(Flow& f, Instant now);
  void handle_doubt(std::size_t peer, stp::StreamId stream, Instant now);

  // What concerns all flows of a peer, or all there are. (flow_relay_upheaval.cc)
  void upset(std::size_t peer, Upheavals::Kind kind);
  void look_at(std::uint32_t slot, Instant now);
  bool is_behind(const Flow& f) const;
  // To be called before anything else is done with a flow.
  void catch_up(std::uint32_t slot, Instant now);
  void lose_stream(std::uint32_t slot, Upheavals::Kind kind, Instant now);
  void end_without_stream(std::uint32_t slot, Counter reason, Instant now);
  void give_up(std::uint32_t slot, bool stream_gone, Instant now);

  // Moves a flow on after anything happened to either half.
  void advance(std::uint32_t slot, Instant now);
  void supersede(std::uint32_t slot, std::size_t peer, Instant now);
  void bid_farewell(Flow& f, Instant now);
  bool meet(std::uint32_t slot, std::size_t peer, stp::StreamId stream,
            const OpenMetadata& metadata, Instant now);
  void reset_streams(Flow& f, stp::ResetReason reason, Instant now);
  void open_stream(std::uint32_t slot, Instant now);
  void join_class(Flow& f);  // its stream
  std::size_t largest_block(const Flow& f);
  void feed_stream(Flow& f);
  void feed_host(Flow& f, Instant now);
  void release_stream_if_done(Flow& f, Instant now);
  void handle_closed_endpoint(Flow& f, Instant now);
  void abort_or_abandon(Flow& f, stp::ResetReason reason, Instant now);
  void reset_flow(std::uint32_t slot, stp::ResetReason reason, Counter counter, Instant now);
  void count_end(Flow& f, Counter counter);
  // After polling: arms the timer, or removes a flow that is over.
  void settle(std::uint32_t slot, Instant now);
  void remove(std::uint32_t slot, Instant now);
  void queue(std::uint32_t slot) { flows_.ring().add(slot); }
  void retry_later(Flow& f, Instant now);

  // Memory beyond what is promised to peers.
  // (flow_relay_memory.cc)
  std::uint64_t spare_memory() const;
  std::uint64_t kept_for_streams() const;
  // What each store of a flow can hold in blocks of its own, wherever in a block it begins.
  std::uint64_t own_store() const { return (kOwnBlocks - 1) * arena_.block_size() + 1; }
  bool has_place() const;              // for one more flow, however slow
  std::uint64_t first_window() const;  // to offer a host whose bytes the link has yet to take
  std::uint64_t window_limit(Flow& f, Instant now) const;  // to offer a host now
  static std::uint64_t host_allowance(const Flow& f);
  void adjust_window(Flow& f, Instant now);
  bool only_owes(const Flow& f) const;
  Duration quiet_limit(const Flow& f) const;  // silence after which the flow is given up
  Instant deadline(const Flow& f) const;

  // Over this time a flow's rate is taken; a window of twice what it carries leaves it room to
  // grow.
  static constexpr Duration kPace = Duration::milliseconds(100);

  config::Limits limits_;
  HostSide host_side_;
  const MemoryPlan plan_;
  const std::uint64_t promised_to_peers_;
  std::uint64_t stored_of_peers_ = 0;
  const Policy& policy_;
  const Claims& claims_;
  const TrafficClasses& classes_;
  const config::FairHosts fair_hosts_;
  const HashKey host_key_;
  LanNeighbours& lan_;
  Arena& arena_;
  std::vector<std::unique_ptr<Peer>>& peers_;
  ConnectionRecords& records_;
  FlowJournal& journal_;
  OrphanedFlows& orphans_;
  Counters& counters_;
  WorkCount work_;
  Dictionaries dictionaries_;
  Splice splice_;
  static constexpr std::size_t kMostFarewells = 256;
  SegmentQueue farewells_{kMostFarewells};  // resets that were owed when a flow had to make room
  FlowStore flows_;
  UnheardFlows unheard_;         // those that wait for hear()
  std::uint64_t upheavals_ = 0;  // of all peers
  std::uint64_t configurations_ = 0;
  bool is_shutting_down_ = false;
  tcp::Counters tcp_counters_;
};

}  // namespace satrelay::gateway
