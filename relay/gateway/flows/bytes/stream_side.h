// The STP half of flows: opens the stream of a flow, writes the host's bytes into it, and passes
// the stream's bytes to the host. It uses the flow's class and the dictionary of that class.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "config/model/schema.h"
#include "pep/base/stopwatch.h"
#include "pep/base/time.h"
#include "pep/base/work_budget.h"
#include "pep/stp/session.h"
#include "relay/gateway/flows/bytes/ahead.h"
#include "relay/gateway/flows/bytes/splice.h"
#include "relay/gateway/flows/flow.h"
#include "relay/gateway/flows/hosts/host_windows.h"
#include "relay/gateway/flows/table/memory_plan.h"
#include "relay/gateway/frames/keyed_hash.h"
#include "relay/gateway/ids.h"
#include "relay/gateway/peers/dictionaries.h"
#include "relay/gateway/peers/lane.h"
#include "relay/gateway/uplink/traffic_classes.h"

namespace satrelay::gateway {

class StreamSide {
 public:
  enum class Opening : std::uint8_t {
    kOpen,
    // The peer has restarted, and grants credit only when its handshake is complete: try again
    // later.
    kLater,
    kPeerGone,
    kNoResources,
  };

  // `classes`, `lanes` and `budget` must outlive this object; `lanes` may be filled later.
  StreamSide(const config::Gateway& config, const MemoryPlan& plan, HashKey secret,
             TrafficClasses& classes, const Lanes& lanes, WorkBudget& budget,
             const Stopwatch* stopwatch);

  stp::Session& session_of(const Flow& f) const { return lanes_[f.lane]->session; }
  // Offers the dictionaries of the classes to all peers. Blocks to a peer are compressed with the
  // dictionaries that the peer also has.
  void offer_dictionaries(Instant now);

  // --- a flow in `slot` ------------------------------------------------------------------------
  [[nodiscard]] Opening open(std::uint32_t slot, Flow& f, Instant now);
  // The peer has opened `stream` for the flow, and the flow already has that stream's id.
  void adopt(std::uint32_t slot, Flow& f, stp::StreamId stream);
  void join_class(Flow& f);  // joins the class as it is configured now
  void reset(Flow& f, stp::ResetReason reason, Instant now);
  // Call this only if the flow's session has agreed on icmp_refusals().
  void reset(Flow& f, const stp::IcmpRefusal& refusal, Instant now);
  void release_if_done(Flow& f, Instant now);
  void leave(Flow& f) { count_waiting(f, 0); }  // the flow's bytes no longer count as waiting

  // --- a flow with an open stream --------------------------------------------------------------
  // Call this when bytes of the host, or its FIN, may have arrived.
  void feed(Flow& f, Instant now);
  // Writes one block of the host's bytes into the stream.
  void produce(Flow& f, HostWindows& windows, Instant now);
  enum class Delivery : std::uint8_t {
    kDone,
    kSpent,  // the call's budget of work is spent: go on in the next call
    kMalformed,
    kReset,  // the far host has reset its connection, and our host has all bytes before the reset
  };
  // Passes the bytes that have arrived to the host.
  [[nodiscard]] Delivery deliver(Flow& f, HostWindows& windows, Instant now);
  // Drops the bytes that have arrived for a host that has reset its connection.
  [[nodiscard]] Delivery drop(Flow& f, Instant now);

  const compress::CodecCounters& counters() const { return splice_.counters(); }
  const Histogram& block_times() const { return splice_.block_times(); }
  // Bytes of hosts that wait for the link in the class, in all its flows. Bytes that were already
  // written into blocks and STP packets do not count.
  std::uint64_t waiting(schedule::ClassId id) const { return waiting_[id]; }

 private:
  Splice::Largest largest_blocks(const Flow& f, const Outlook& outlook, Instant now) const;
  void tell_rest(Flow& f, Instant now);
  void note_wait(Flow& f, Instant now);
  void count_waiting(Flow& f, std::uint64_t bytes);

  const IdVector<LaneId, std::uint64_t> lane_receive_limit_;  // credit of a lane, in bytes
  const IdVector<LaneId, std::uint64_t> flow_receive_limit_;  // credit of one flow, in bytes
  const config::FairHosts fair_hosts_;
  const HashKey host_key_;
  TrafficClasses& classes_;
  const Lanes& lanes_;
  Dictionaries dictionaries_;
  Splice splice_;
  std::array<std::uint64_t, schedule::kClasses> waiting_{};
};

}  // namespace satrelay::gateway
