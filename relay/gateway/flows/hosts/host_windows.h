// How the gateway's memory is shared between flows: what hosts may send, what is queued for them,
// and whether there is place for one flow more. What is promised to peers is never touched. All of
// it is about a peer's part of the arena, in which its flows lie; where several peers have one,
// what is kept of it is in proportion to what the part can have.
#pragma once

#include <algorithm>
#include <cstdint>

#include "pep/base/arena.h"
#include "pep/base/time.h"
#include "relay/gateway/flows/flow.h"
#include "relay/gateway/flows/hosts/lan_hosts.h"
#include "relay/gateway/flows/hosts/retry_pace.h"
#include "relay/gateway/flows/table/flow_store.h"
#include "relay/gateway/flows/table/memory_plan.h"

namespace satrelay::gateway {

class HostWindows {
 public:
  // `flows` and `hosts` must outlive it.
  HostWindows(const MemoryPlan& plan, const FlowStore& flows, const LanHosts& hosts);

  // --- for one more flow, in this part of the arena ---------------------------------------------
  bool has_place(const Arena& part) const;  // however slow it is
  // With what the streams of those will need whose hosts have yet to answer: the peer's own, of
  // what is kept for it, or of what is for who comes first, those of all peers.
  bool has_place_for_host(const Arena& part, std::uint64_t half_open,
                          std::uint64_t half_open_of_all) const;
  // That is worth offering.
  bool has_window(const Arena& part, LanHosts::Index host) const;
  // To offer a host whose bytes the link has yet to take, at most.
  std::uint64_t first(const Arena& part, LanHosts::Index host) const;

  // --- from a host -----------------------------------------------------------------------------
  // One segment asks several things about what there is for hosts now: it looks once.
  struct Means {
    std::uint64_t spare = 0;             // bytes: that nobody was promised
    std::uint64_t sure = 0;              // of that, what is kept for the part
    std::uint64_t held = 0;              // by the part, beside what was promised
    std::uint64_t kept_for_streams = 0;  // of that
    std::uint64_t host_windows = 0;      // as planned
    std::uint64_t flows = 0;             // that share it
  };
  Means means(const Flow& f) const { return means(part_of(f)); }
  // Offers its host what it may send now: `ahead`, as far as there is memory for it.
  void adjust(Flow& f, const Means& there, std::uint64_t ahead, Instant now);
  void adjust(Flow& f, std::uint64_t ahead, Instant now) { adjust(f, means(f), ahead, now); }
  // A payload of this size would take the room that the streams need to drain.
  bool crowds_streams(const Flow& f, const Means& there, std::size_t payload) const;
  bool crowds_streams(const Flow& f, std::size_t payload) const;

  // --- to a host -------------------------------------------------------------------------------
  // Bytes that may be queued for it beside those that are, and the memory for them.
  static std::uint64_t allowance(const Flow& f);
  std::uint64_t memory_for_host(const Flow& f) const;
  // Memory ran out: the flow is looked at again soon.
  void retry_later(Flow& f, Instant now);

 private:
  Means means(const Arena& part) const;
  std::uint64_t first(const Means& means, LanHosts::Index host) const;
  // Of what is spare, what one host may take. Of what is kept for the part it may take half,
  // whatever is stored of it and for it with other peers: else one peer could keep another from a
  // host of both.
  std::uint64_t available(const Means& means, LanHosts::Index host) const {
    const std::uint64_t stored = hosts_.stored(host);
    return std::max(half_of_rest(means.spare, stored),
                    half_of_rest(means.sure, std::min(stored, means.held)));
  }
  // Of its host's window, as far as there is memory for it.
  std::uint64_t limit(const Flow& f, const Means& there) const;
  static const Arena& part_of(const Flow& f) { return f.endpoint.received().arena(); }

  const FlowStore& flows_;
  const LanHosts& hosts_;
  const std::uint64_t host_window_;
  const std::uint64_t host_windows_;
  RetryPace reopening_;
  RetryPace retrying_;
};

}  // namespace satrelay::gateway
