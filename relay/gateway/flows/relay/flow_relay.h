// The relay of flows: connects each TCP endpoint with its STP stream, from the first SYN to the
// last ACK. The relay passes frames, events and timers to the flow that they concern. Its units
// decide how a flow begins (FlowOpening), makes progress (FlowTransfer) and ends (FlowEnding).
// RelayParts contains the parts that these units share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "config/model/schema.h"
#include "pep/base/time.h"
#include "pep/base/work_budget.h"
#include "pep/stp/session.h"
#include "relay/gateway/flows/ending/deferred_resets.h"
#include "relay/gateway/flows/ending/end_reports.h"
#include "relay/gateway/flows/ending/flow_ending.h"
#include "relay/gateway/flows/ending/late_segments.h"
#include "relay/gateway/flows/flow.h"
#include "relay/gateway/flows/opening/awaited_servers.h"
#include "relay/gateway/flows/opening/flow_opening.h"
#include "relay/gateway/flows/opening/flow_reopening.h"
#include "relay/gateway/flows/opening/flow_room.h"
#include "relay/gateway/flows/opening/room_maker.h"
#include "relay/gateway/flows/parts/relay_parts.h"
#include "relay/gateway/flows/tcp_frame.h"
#include "relay/gateway/flows/transfer/far_findings.h"
#include "relay/gateway/flows/transfer/far_resets.h"
#include "relay/gateway/flows/transfer/flow_transfer.h"
#include "relay/gateway/flows/transfer/host_moves.h"
#include "relay/gateway/flows/transfer/host_tracker.h"
#include "relay/gateway/flows/transfer/peer_epochs.h"
#include "relay/gateway/frames/frame.h"
#include "relay/gateway/ids.h"
#include "relay/gateway/peers/lan_report.h"
#include "relay/gateway/snapshot.h"

namespace satrelay::gateway {

class FlowRelay final : public stp::StreamSource, public LanReportReader {
 public:
  FlowRelay(const config::Gateway& config, const MemoryPlan& plan, HashKey secret,
            const RelayEnvironment& around, const Stopwatch* stopwatch, TcpFrames::Sums sums);

  // --- units that the gateway calls directly -----------------------------------------------------
  FlowOpening& opening() { return opening_; }
  FlowReopening& reopening() { return reopening_; }
  AwaitedServers& servers() { return servers_; }
  LateSegments& late() { return late_; }
  PeerEpochs& epochs() { return epochs_; }
  HostTracker& hosts() { return hosts_; }
  HostMoves& moves() { return moves_; }
  const HostMoves& moves() const { return moves_; }
  FlowTransfer& transfer() { return transfer_; }
  RoomMaker& room_maker() { return maker_; }
  const FlowRoom& room() const { return room_; }

  // --- input of a flow -------------------------------------------------------------------------
  // Handles consecutive segments of the flow's host. `frame` is the frame of the first segment. The
  // other frames have the same Ethernet header, traffic class and hop limit. `visit` is kGoesOn if
  // the flow has had segments since it was last advanced. If the result is true, the caller must
  // call transfer().advance() after the flow's last segment, and before anything else happens. The
  // caller must also call it before an RST of the flow, since the segments before the RST may have
  // completed the handshake.
  enum class Visit : std::uint8_t { kBegins, kGoesOn };
  [[nodiscard]] bool handle_segments(std::uint32_t slot, const Frame& frame,
                                     std::span<const tcp::Segment> segments, Visit visit,
                                     Instant now);
  // Handles an ICMP error from the host's LAN: a segment of ours did not reach the host, or was too
  // big.
  void handle_icmp_error(std::uint32_t slot, const Frame& frame, Instant now);
  // Handles an event of a flow's stream.
  void handle_event(LaneId lane, const stp::Event& event, Instant now);
  // Handles the peer's report on the MAC to which a far host addresses its frames for a host of
  // this LAN.
  void hear_destination(LaneId lane, const LanDestination& told, Instant now);
  void handle_timeout(Instant now);
  // Implements stp::StreamSource. The pacer asks for the next block of a stream.
  void produce(stp::StreamId stream, std::uint32_t number, Instant now) override;
  bool is_spent() const override { return budget_.is_spent(); }
  // The same as Gateway::poll_frames().
  std::size_t poll_frames(std::span<const MutableBytes> rooms, std::span<Polled> polled,
                          Instant now);
  Instant next_timeout() const;

  // Continues work on many flows that earlier calls have left unfinished, for some flows in each
  // call.
  void go_on(Instant now) {
    epochs_.go_on(now);
    hosts_.go_on(now);
  }
  // Continues with flows that an earlier call left unfinished because it had spent its budget.
  // Stops when the budget of this call is spent.
  void advance_unfinished(Instant now);
  // Continues the checks of hosts that may have moved to the other LAN.
  void settle_moves(Instant now) {
    if (moves_.handle_timeout(now)) epochs_.look_at_all();
  }

  // --- all flows -------------------------------------------------------------------------------
  // Applies the settings for flows that can change while flows exist.
  void reconfigure(const config::Gateway& next, Instant now);
  // Offers the dictionaries of the classes to all peers. Blocks to a peer are compressed with the
  // dictionaries that the peer also has.
  void offer_dictionaries(Instant now) { parts_.streams.offer_dictionaries(now); }
  void set_half_open(std::uint32_t most) { parts_.quotas.set_half_open(most); }
  // Resets all flows towards their hosts at once, without a limit for each call, for an orderly
  // shutdown. Their streams have already ended.
  void shut_down(Instant now);

  // Sets the recorder of ended flows; nullptr removes it.
  void tell_ends(FlowRecorder* recorder) { reports_.tell(recorder); }
  // Implements LanReportReader.
  void handle_report(LaneId lane, const LanReport& report) override {
    reports_.handle_report(lane, report);
  }

  // --- getters ---------------------------------------------------------------------------------
  const FlowStore& flows() const { return parts_.flows; }
  const FlowQuotas& quotas() const { return parts_.quotas; }
  const StreamSide& streams() const { return parts_.streams; }
  const TimeWaits& time_waits() const { return late_.connections(); }
  const Completions& completions() const { return reports_.completions(); }
  const tcp::Counters& tcp_counters() const { return parts_.tcp_counters; }  // since the start
  std::uint64_t visited() const { return parts_.work.total(); }  // objects (pep/base/work_count.h)
  // The key of the flow to which an event of an open stream belongs; nullptr if there is none.
  const FlowKey* key_of(LaneId lane, const stp::Event& event) const;
  // Before a flow is described, it handles the events of its peer.
  std::vector<FlowSnapshot> snapshot(std::size_t first, std::size_t count, Instant now);
  std::optional<FlowSnapshot> snapshot(std::uint64_t id, Instant now);

 private:
  friend class FlowImages;  // flow_images.h

  std::size_t take_segments(Flow& f, const Frame& frame, std::span<const tcp::Segment> segments,
                            Visit visit, Instant now);
  std::size_t poll_some(std::span<const MutableBytes> rooms, std::span<Polled> polled, Instant now);
  std::size_t poll_flow(std::uint32_t slot, std::span<const MutableBytes> rooms,
                        std::span<Polled> polled, Instant now);
  void end_turn(std::uint32_t slot, Instant now);
  static void note_activity(Flow& f, Instant now) {
    f.timers.last_activity = now;
    f.state.note_active();
  }

  RelayParts parts_;
  // The units in the order of their use: each unit uses only units above it.
  DeferredResets resets_{parts_};
  FarFindings findings_{parts_};
  HostTracker hosts_;
  HostMoves moves_;
  LateSegments late_;
  EndReports reports_;
  FlowEnding ending_{parts_, resets_, late_, reports_};
  FarResets far_resets_;
  FlowTransfer transfer_{parts_, hosts_, resets_, reports_, ending_, findings_};
  PeerEpochs epochs_;
  AwaitedServers servers_;
  FlowRoom room_{parts_};
  RoomMaker maker_{parts_, room_, resets_, ending_, epochs_};
  FlowReopening reopening_{parts_, resets_, ending_, transfer_, epochs_};
  FlowOpening opening_;
  WorkBudget& budget_;
  TcpFrames frames_;
  bool is_shutting_down_ = false;
};

}  // namespace satrelay::gateway
