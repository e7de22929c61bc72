// The relay of flows: joins each TCP endpoint to its STP stream, from the first SYN to the last
// ACK. The relay decides how a flow begins, moves on and ends. The units that it is made of keep
// the flows, share the memory, and fill and empty the streams.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "config/model/schema.h"
#include "pep/base/arena.h"
#include "pep/base/work_budget.h"
#include "pep/base/work_count.h"
#include "pep/stp/session.h"
#include "relay/gateway/addresses/common_knowledge.h"
#include "relay/gateway/addresses/lan/lan_neighbours.h"
#include "relay/gateway/addresses/lan/presence_checks.h"
#include "relay/gateway/counters.h"
#include "relay/gateway/flows/bytes/ahead.h"
#include "relay/gateway/flows/bytes/stream_side.h"
#include "relay/gateway/flows/flow.h"
#include "relay/gateway/flows/flow_deadline.h"
#include "relay/gateway/flows/flow_ends.h"
#include "relay/gateway/flows/hosts/asked_servers.h"
#include "relay/gateway/flows/hosts/host_side.h"
#include "relay/gateway/flows/hosts/host_windows.h"
#include "relay/gateway/flows/relay/deferred_resets.h"
#include "relay/gateway/flows/relay/host_tracker.h"
#include "relay/gateway/flows/relay/relay_parts.h"
#include "relay/gateway/flows/table/flow_quotas.h"
#include "relay/gateway/flows/table/flow_store.h"
#include "relay/gateway/flows/table/time_waits.h"
#include "relay/gateway/flows/tcp_frame.h"
#include "relay/gateway/frames/frame.h"
#include "relay/gateway/opening/connection_records.h"
#include "relay/gateway/opening/flow_capacity.h"
#include "relay/gateway/peers/peer.h"
#include "relay/gateway/peers/peer_epoch_log.h"
#include "relay/gateway/recovery/flow_journal.h"
#include "relay/gateway/recovery/orphaned_flows.h"
#include "relay/gateway/rules/claims.h"
#include "relay/gateway/rules/policy.h"
#include "relay/gateway/snapshot.h"

namespace satrelay::gateway {

class FlowRelay final : public stp::StreamSource, public FlowCapacity, public LanReportReader {
 public:
  FlowRelay(const config::Gateway& config, const MemoryPlan& plan, HashKey secret,
            const RelayEnvironment& around, const Stopwatch* stopwatch, TcpFrames::Sums sums);

  // --- a flow begins ---------------------------------------------------------------------------
  // Accepts a flow: from the host's SYN, or, if a cookie answered that SYN, from the ACK in
  // `frame`, which brings back the `cookie`. The caller has checked that there is room.
  void accept(const FlowKey& key, const Frame& frame, const wire::TcpHeader& syn,
              std::optional<std::uint32_t> cookie, std::size_t peer, const RulePtr& chosen,
              Instant now);
  // One more flow of the host, with the peer of the session, finds no room. If a flow has made no
  // progress for long, it ends, so that a later flow may find room.
  void want_room(std::size_t session, const IpAddress& host);
  // The peer has opened a stream for a flow.
  void handle_opened(std::size_t peer, stp::StreamId stream, Instant now);
  // Frees the slot of a flow that has ended or is in TIME-WAIT, so that `syn` may start its 4-tuple
  // anew. False if the flow is still needed.
  bool make_way(std::uint32_t slot, const wire::TcpHeader& syn, Instant now);
  // The same for a connection that is in TIME-WAIT and no longer a flow.
  bool make_way(const FlowKey& key, const wire::TcpHeader& syn, Instant now);
  // FlowCapacity.
  std::optional<Counter> lack_of_room(std::size_t peer, const IpAddress& host) const override;
  bool may_be_half_open(std::size_t peer, const IpAddress& host) const override {
    return quotas_.may_be_half_open(configured(peer), host);
  }
  Places places(std::size_t peer, const IpAddress& host) const override;
  Handshake handshake(const config::Rule& rule, const FlowKey& key, std::size_t peer,
                      Instant now) const override;
  // How the endpoint of a flow with this key would be set up now. The window that it offers is at
  // least the flow's own reserve: with a window of zero the host would send nothing that brings its
  // SYN cookie back.
  tcp::Config endpoint_config(const FlowKey& key, std::size_t peer, Instant now) const {
    const Arena& part = arena_of(peer);
    const std::uint64_t first = std::min(windows_.first(part, quotas_.hosts().find(key.local)),
                                         first_ahead(peers_[peer]->session.share_of_new()));
    return host_side_.config_for(key, std::max<std::uint64_t>(first, part.reserve_size()), now);
  }
  void set_half_open(std::uint32_t most) { quotas_.set_half_open(most); }

  // --- a flow goes on --------------------------------------------------------------------------
  // The flow moves on when settle_unless() allows it, so that consecutive segments of one flow move
  // it on only once.
  void handle_segment(std::uint32_t slot, const Frame& frame, const wire::TcpHeader& header,
                      ConstBytes payload, Instant now);
  // The same for consecutive segments that differ as tcp::Endpoint::handle_in_order() says. Returns
  // how many of them it has handled. `frame` and `header` are those of the first segment.
  std::size_t handle_in_order(std::uint32_t slot, const Frame& frame, const wire::TcpHeader& header,
                              std::span<const ConstBytes> payloads, Instant now);
  // The same for pure ACKs, as tcp::Endpoint::handle_acknowledgments() says.
  std::size_t handle_acknowledgments(std::uint32_t slot, const Frame& frame,
                                     std::span<const wire::TcpHeader* const> headers, Instant now);
  bool is_settled() const { return moving_ == kNoSlot; }
  // Call this before anything else, except for a further segment of the flow in `slot`.
  void settle_unless(std::uint32_t slot, Instant now) {
    if (moving_ != slot && moving_ != kNoSlot) advance(std::exchange(moving_, kNoSlot), now);
  }
  // A segment belongs to no flow. Returns the flow with the SYN that the segment answers, in
  // another VLAN; kNoSlot if there is none.
  std::uint32_t asked_in_other_vlan(const FlowKey& key, const wire::TcpHeader& header) const;
  // Ends that flow.
  void handle_other_vlan(std::uint32_t slot, const wire::TcpHeader& answer, Instant now);
  // A segment of a connection that is in TIME-WAIT.
  void handle_late_segment(const FlowKey& key, const Frame& frame, const wire::TcpHeader& header,
                           std::size_t payload, Instant now);
  // An ICMP error from the host's LAN: a segment of ours did not reach the host, or was too big.
  void handle_icmp_error(std::uint32_t slot, const Frame& frame, Instant now);
  // An event of a flow's stream.
  void handle_event(std::size_t peer, const stp::Event& event, Instant now);
  // The peer asks whether the host of this stream's flow has answered at all.
  void handle_doubt(std::size_t peer, stp::StreamId stream, Instant now);
  // Hosts have moved to other MACs, as LanNeighbours knows. Each flow follows before anything else
  // happens to it.
  void note_moves() { ++epoch_log_; }
  // The peer says to which MAC its host addresses frames for a host of this LAN.
  void hear_destination(std::size_t peer, const LanDestination& told, Instant now);
  // LanNeighbours has learned how to reach `host` on the LAN.
  void hear(const IpAddress& host, const wire::EthernetHeader& towards) {
    hosts_.hear(host, towards);
  }
  void handle_timeout(Instant now);
  // stp::StreamSource: the pacer asks for the next block of a stream.
  void produce(stp::StreamId stream, std::uint32_t number, Instant now) override;
  bool is_spent() const override { return budget_.is_spent(); }
  // As Gateway::poll_frames().
  std::size_t poll_frames(std::span<const MutableBytes> rooms, std::span<Polled> polled,
                          Instant now);
  Instant next_timeout() const;

  // --- events of all flows of a peer, or of all flows (flow_relay_peer_epoch.cc) ---------------
  // From now on each flow of `peer` that had a stream counts as ended.
  void upset(std::size_t peer, PeerEpochLog::Kind kind);
  // Visits each flow soon, some flows in each go_on().
  void look_at_all() { flows_.begin_scan(); }
  void go_on(Instant now);
  // Resumes flows that were left unfinished when an earlier call had spent its budget, as far as
  // the budget of this call allows.
  void advance_unfinished(Instant now);
  // Takes over the settings that apply to flows and can change while the flows go on.
  void reconfigure(const config::Gateway& next, Instant now);
  // Tells all peers the dictionaries of the classes, and uses them for the bytes to these peers.
  void offer_dictionaries(Instant now) { streams_.offer_dictionaries(now); }
  // Resets all flows towards their hosts at once, without a limit for each call: for an orderly
  // shutdown. Their streams have already ended.
  void shut_down(Instant now);

  // nullptr: no recorder.
  void tell_ends(FlowRecorder* recorder);
  // LanReportReader.
  void handle_report(std::size_t session, const LanReport& report) override;

  // --- getters ---------------------------------------------------------------------------------
  const FlowStore& flows() const { return flows_; }
  const TimeWaits& time_waits() const { return time_waits_; }
  // The key of the flow of an open stream that has an event; nullptr if there is none.
  const FlowKey* key_of(std::size_t peer, const stp::Event& event) const;
  const FlowQuotas& quotas() const { return quotas_; }
  std::uint64_t visited() const { return work_.total(); }  // objects (pep/base/work_count.h)
  const Completions& completions() const { return ends_.completions(); }
  const compress::CodecCounters& codec_counters() const { return streams_.counters(); }
  const Histogram& block_times() const { return streams_.block_times(); }
  std::uint64_t waiting_bytes(schedule::ClassId id) const { return streams_.waiting(id); }
  const tcp::Counters& tcp_counters() const { return tcp_counters_; }  // of all flows since start
  // Events of a flow's peer reach the flow before it is described.
  std::vector<FlowSnapshot> snapshot(std::size_t first, std::size_t count, Instant now);
  std::optional<FlowSnapshot> snapshot(std::uint64_t id, Instant now);

 private:
  Polled poll_frame(MutableBytes out, Instant now);
  Polled poll_flow(std::uint32_t slot, MutableBytes out, Instant now);
  void end_turn(std::uint32_t slot, Instant now);
  Flow& flow(std::uint32_t slot) { return flows_[slot]; }
  static void note_activity(Flow& f, Instant now) {
    f.last_activity = now;
    f.trimmed = false;
  }
  void hear_far_host(const Flow& f, Instant now);
  // Notes the far host's marks, now that they are known.
  void note_far_marks(const Flow& f, Instant now) {
    const bool is_server = f.origin == Origin::kLan;
    common_.far_marks.note(f.key.remote, is_server ? f.key.remote_port : FarMarks::kNoPort,
                           f.far_marks, now);
  }
  void note_answer(const Flow& f, Instant now);
  Polled marked(std::size_t size, MutableBytes out, Instant now) const;
  void trim(Flow& f);
  stp::Session& session_of(const Flow& f) { return parts_.session_of(f); }
  // Notes that the flow has begun to wait for a silent peer, or no longer does.
  void note_owing(Flow& f, Instant now) {
    const Peer& peer = *peers_[f.peer];
    const bool owes = !peer.silence.is_never() && owes_peer(f, peer.session);
    if (owes != f.owes_since().is_never()) return;
    f.heat(now).owes_since = owes ? now : Instant::never();
  }
  std::uint64_t ahead_of(const Flow& f, Instant now) const { return parts_.ahead_of(f, now); }
  std::size_t configured(std::size_t session) const { return parts_.configured(session); }
  Arena& arena_of(std::size_t session) const { return parts_.arena_of(session); }

  void share_with_endpoints();

  std::uint64_t repeats_owed() const {
    return tcp_counters_.retransmission_timeouts + tcp_counters_.zero_window_probes;
  }

  // (flow_relay_opening.cc)
  std::uint32_t new_flow(const FlowKey& key, const RulePtr& rule, Origin origin, std::size_t peer,
                         Instant now, std::optional<std::uint32_t> initial_sequence = std::nullopt);
  void open_stream(std::uint32_t slot, Instant now);

  // For a 4-tuple that is opened again. (flow_relay_meeting.cc)
  bool meet(std::uint32_t slot, std::size_t peer, stp::StreamId stream,
            const OpenMetadata& metadata, Instant now);
  void supersede(std::uint32_t slot, std::size_t peer, Instant now);
  void send_final_segment(Flow& f, Instant now);

  // Moves a flow on after anything has happened to either half.
  void advance(std::uint32_t slot, Instant now);
  void queue(std::uint32_t slot) { flows_.ring().add(slot); }
  // For a flow that has nothing to send: arms its timer, or removes it if it has ended.
  void settle(std::uint32_t slot, Instant now);

  // (flow_relay_room.cc)
  struct WantedRoom {
    std::size_t session = 0;
    IpAddress host;
  };
  void make_room(Instant now);
  bool makes_room_for(const Flow& f, const WantedRoom& wanted, Counter lack) const;

  // Call this before anything else happens to a flow. (flow_relay_peer_epoch.cc)
  void catch_up(std::uint32_t slot, Instant now) {
    if (flow(slot).epochs_looked_at != epoch_log_) [[unlikely]]
      bring_up_to_date(slot, now);
  }
  void bring_up_to_date(std::uint32_t slot, Instant now);
  bool is_behind(const Flow& f) const { return parts_.is_behind(f); }
  void look_at(std::uint32_t slot, Instant now);
  bool has_left(const Flow& f, Instant now) const;
  void lose_stream(std::uint32_t slot, PeerEpochLog::Kind kind, Instant now);
  void end_without_stream(std::uint32_t slot, Counter reason, Instant now);
  void give_up(std::uint32_t slot, Instant now);

  // (flow_relay_ending.cc)
  bool makes_way(std::uint32_t slot, const wire::TcpHeader& header, Instant now);
  void note_refusal(const Flow& f, stp::ResetReason reason, const stp::Event& event, Instant now);
  // The same for a refusal by the peer itself, and not by its host.
  void note_refusal_of_peer(const Flow& f, stp::ResetReason reason, Instant now);
  void hand_over(Flow& f, const stp::IcmpRefusal& refusal, Instant now);
  [[nodiscard]] bool tell_host(const Flow& f, const stp::IcmpRefusal& refusal);
  void doubt(Flow& f, Instant now);
  // The flow of this open stream; kNoSlot if there is none.
  std::uint32_t find_open(std::size_t peer, stp::StreamId stream, Instant now);
  void remember(const Flow& f);  // for the peer, in case it was started anew
  void handle_closed_endpoint(Flow& f, Instant now);
  bool take_in_arrived(Flow& f, stp::ResetReason reason, Instant now);
  void abort_or_abandon(Flow& f, stp::ResetReason reason, Instant now);
  void reset_flow(std::uint32_t slot, stp::ResetReason reason, Counter counter, Instant now);
  void count_end(Flow& f, Counter counter);
  bool awaits_report(const Flow& f) const;
  FlowEnds::StreamOf stream_of(const Flow& f) const;
  void remove(std::uint32_t slot, Instant now);
  void release_slot(std::uint32_t slot, Instant now);
  void retire(std::uint32_t slot, const tcp::TimeWait& state, Instant now);
  void end_time_wait(const FlowKey& key, Instant now);
  void expire_time_waits(Instant now);

  RelayParts parts_;
  DeferredResets resets_{parts_};
  HostTracker hosts_;
  config::Limits& limits_ = parts_.limits;
  Duration& give_up_after_ = parts_.give_up_after;
  HostSide& host_side_ = parts_.host_side;
  const Policy& policy_;
  const Claims& claims_;
  LanNeighbours& lan_;
  const PresenceChecks& arrivals_;
  const PresenceChecks& departures_;
  CommonKnowledge& common_;
  StationListener far_stations_;
  std::vector<std::unique_ptr<Peer>>& peers_;
  ConnectionRecords& records_;
  FlowJournal& journal_;
  OrphanedFlows& orphans_;
  Counters& counters_;
  WorkBudget& budget_;
  WorkCount& work_ = parts_.work;
  tcp::Counters& tcp_counters_ = parts_.tcp_counters;
  std::vector<std::shared_ptr<const tcp::Common>> of_endpoints_;  // by configured peer
  FlowStore& flows_ = parts_.flows;
  AskedServers asked_;
  FlowQuotas& quotas_ = parts_.quotas;
  HostWindows& windows_ = parts_.windows;
  StreamSide& streams_ = parts_.streams;
  FlowRing& unfinished_ = parts_.unfinished;
  FlowEnds ends_;
  TimeWaits time_waits_;
  TcpFrames frames_;
  tcp::SegmentToSend last_sent_;
  std::uint32_t sending_ = kNoSlot;  // the flow of last_sent_, if that had data
  std::uint32_t moving_ = kNoSlot;   // it has had segments, and has not moved on yet
  std::uint32_t epoch_log_ = 0;      // counts epochs of all peers, and moves of hosts
  std::uint16_t configurations_ = 0;
  std::optional<WantedRoom> wanted_room_;
  std::uint32_t search_next_ = 0;  // slot
  bool is_shutting_down_ = false;
};

}  // namespace satrelay::gateway
