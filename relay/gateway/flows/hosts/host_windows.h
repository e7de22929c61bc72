// Divides the gateway's memory among flows: how much hosts may send, how much is queued for them,
// and whether there is memory for one more flow. It never uses memory that is promised to peers.
// Each limit applies to one part of the arena, the part of the flow's peer. If the arena is divided
// among several peers, each part keeps an amount free that is in proportion to the memory that this
// part can have.
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
  // `flows` and `hosts` must outlive this object.
  HostWindows(const MemoryPlan& plan, const FlowStore& flows, const LanHosts& hosts);

  // --- memory for one more flow, in one part of the arena ----------------------------------------
  // Whether there is enough memory for a flow to make progress, however slowly.
  bool has_place(const Arena& part) const;
  // Whether there is enough memory for a flow that a host opens. In addition to its own memory,
  // such a flow must leave enough for the streams of half-open flows. Either the memory that is
  // kept for the peer must suffice for the peer's half-open flows (`half_open`), or the free memory
  // must suffice for the half-open flows of all peers.
  bool has_place_for_host(const Arena& part, std::uint64_t half_open,
                          std::uint64_t half_open_of_all) const;
  // Whether the first window would be large enough to be worth offering.
  bool has_window(const Arena& part, LanHosts::Index host) const;
  // The largest window for a host before the link has sent any of the host's bytes.
  std::uint64_t first(const Arena& part, LanHosts::Index host) const;

  // --- bytes from a host -----------------------------------------------------------------------
  // The memory that is available for hosts now. Each segment needs these values several times, so
  // they are computed once.
  struct Means {
    std::uint64_t spare = 0;             // free bytes that are not promised to a peer
    std::uint64_t sure = 0;              // spare bytes that are kept for this part of the arena
    std::uint64_t held = 0;              // bytes that the part holds, without promised bytes
    std::uint64_t kept_for_streams = 0;  // spare bytes that must be left for streams
    std::uint64_t host_windows = 0;      // planned bytes of all windows together
    std::uint64_t flows = 0;             // flows that share the planned bytes
  };
  Means means(const Flow& f) const { return means(part_of(f)); }
  // Offers the host the window that it may have now: `ahead` bytes, or fewer if memory is short.
  void adjust(Flow& f, const Means& there, std::uint64_t ahead, Instant now);
  void adjust(Flow& f, std::uint64_t ahead, Instant now) { adjust(f, means(f), ahead, now); }
  // Whether a payload of this size would use memory that the streams need to make progress.
  bool crowds_streams(const Flow& f, const Means& there, std::size_t payload) const;
  bool crowds_streams(const Flow& f, std::size_t payload) const;

  // --- bytes to a host -------------------------------------------------------------------------
  // allowance() returns how many more bytes may be queued for the host, and memory_for_host()
  // returns for how many bytes there is memory.
  static std::uint64_t allowance(const Flow& f);
  std::uint64_t memory_for_host(const Flow& f) const;
  // Memory ran out: makes the relay visit the flow again soon.
  void retry_later(Flow& f, Instant now);

 private:
  Means means(const Arena& part) const;
  std::uint64_t first(const Means& means, LanHosts::Index host) const;
  // The number of spare bytes that one host may use. The host may always use half of the memory
  // that is kept for this part, however much it has stored with other peers. Otherwise a host's
  // flows with one peer could leave no memory for its flows with another peer.
  std::uint64_t available(const Means& means, LanHosts::Index host) const {
    const std::uint64_t stored = hosts_.stored(host);
    return std::max(half_of_rest(means.spare, stored),
                    half_of_rest(means.sure, std::min(stored, means.held)));
  }
  // The largest window that the available memory allows for the host.
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
