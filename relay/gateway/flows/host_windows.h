// How the gateway's memory is shared between flows: what hosts may send, what is queued for them,
// and whether there is place for one flow more. What is promised to peers is never touched.
#pragma once

#include <cstdint>

#include "pep/base/arena.h"
#include "pep/base/time.h"
#include "relay/gateway/flows/flow.h"
#include "relay/gateway/flows/flow_store.h"
#include "relay/gateway/flows/memory_plan.h"

namespace satrelay::gateway {

class HostWindows {
 public:
  // `arena` and `flows` must outlive it.
  HostWindows(const MemoryPlan& plan, const Arena& arena, const FlowStore& flows);

  // Where the sessions sum up what they store: each byte of it is memory that is promised no more.
  std::uint64_t* stored_of_peers() { return &stored_of_peers_; }

  // --- for one more flow -----------------------------------------------------------------------
  bool has_place() const;  // however slow it is
  // With what the streams of those will need whose hosts have yet to answer.
  bool has_place_for_host() const;
  bool has_window() const;      // that is worth offering
  std::uint64_t first() const;  // to offer a host whose bytes the link has yet to take

  // --- from a host -----------------------------------------------------------------------------
  // Offers its host what it may send now: a flight, so that when it ends all that a loss could make
  // late is still here, to be sent with repairs. `round_trip`: of the satellite link.
  void adjust(Flow& f, Duration round_trip, Instant now) const;
  // The link has taken so many bytes of the flow's host.
  static void note_drained(Flow& f, std::uint64_t bytes, Instant now);
  // A payload of this size would take the room that the streams need to drain.
  bool crowds_streams(std::size_t payload) const;

  // --- to a host -------------------------------------------------------------------------------
  // Bytes that may be queued for it beside those that are, and the memory for them.
  static std::uint64_t allowance(const Flow& f);
  std::uint64_t memory_for_host() const;
  // Memory ran out: the flow is looked at again soon.
  static void retry_later(Flow& f, Instant now);

 private:
  std::uint64_t spare() const;
  std::uint64_t kept_for_streams() const;
  std::uint64_t limit(Flow& f, Duration round_trip, Instant now) const;  // of its host's window
  // What each store of a flow can hold however little memory there is.
  std::uint64_t own_store() const { return arena_.reserve_size(); }

  const Arena& arena_;
  const FlowStore& flows_;
  const std::uint64_t host_window_;
  const std::uint64_t host_windows_;
  const std::uint64_t promised_to_peers_;
  std::uint64_t stored_of_peers_ = 0;
};

}  // namespace satrelay::gateway
