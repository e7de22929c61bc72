// Shares the gateway's memory between flows: how much hosts may send, how much is queued for them,
// and whether there is room for one more flow. It never touches memory that is promised to peers.
// All of this applies to the peer's part of the arena, in which its flows lie. If several peers
// have parts, the amounts that are kept are in proportion to what the part can have.
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

  // --- room for one more flow, in this part of the arena ----------------------------------------
  bool has_place(const Arena& part) const;  // enough for a flow that goes on, however slowly
  // The same for a flow from a host, which must leave room for the streams of half-open flows.
  // Either the memory that is kept for the peer has room for those of the peer (`half_open`), or
  // the free memory has room for those of all peers.
  bool has_place_for_host(const Arena& part, std::uint64_t half_open,
                          std::uint64_t half_open_of_all) const;
  // Whether there is a window that is worth offering.
  bool has_window(const Arena& part, LanHosts::Index host) const;
  // The largest window for a host while the link has not taken its bytes yet.
  std::uint64_t first(const Arena& part, LanHosts::Index host) const;

  // --- bytes from a host -----------------------------------------------------------------------
  // The memory that is there for hosts now. Each segment needs it several times, so it is computed
  // once.
  struct Means {
    std::uint64_t spare = 0;             // bytes that are not promised to a peer
    std::uint64_t sure = 0;              // of the spare bytes: those kept for the part
    std::uint64_t held = 0;              // by the part, beside promised bytes
    std::uint64_t kept_for_streams = 0;  // of the spare bytes
    std::uint64_t host_windows = 0;      // as planned
    std::uint64_t flows = 0;             // that share it
  };
  Means means(const Flow& f) const { return means(part_of(f)); }
  // Offers the host the window that it may have now: `ahead`, as far as there is memory for it.
  void adjust(Flow& f, const Means& there, std::uint64_t ahead, Instant now);
  void adjust(Flow& f, std::uint64_t ahead, Instant now) { adjust(f, means(f), ahead, now); }
  // Whether a payload of this size would take the room that the streams need to drain.
  bool crowds_streams(const Flow& f, const Means& there, std::size_t payload) const;
  bool crowds_streams(const Flow& f, std::size_t payload) const;

  // --- bytes to a host -------------------------------------------------------------------------
  // How many more bytes may be queued for the host, and the memory for them.
  static std::uint64_t allowance(const Flow& f);
  std::uint64_t memory_for_host(const Flow& f) const;
  // Memory ran out: visits the flow again soon.
  void retry_later(Flow& f, Instant now);

 private:
  Means means(const Arena& part) const;
  std::uint64_t first(const Means& means, LanHosts::Index host) const;
  // How much of the spare memory one host may take. It may also take half of the memory that is
  // kept for the part, whatever it has stored with other peers. Otherwise one peer could keep
  // another peer from a host that both use.
  std::uint64_t available(const Means& means, LanHosts::Index host) const {
    const std::uint64_t stored = hosts_.stored(host);
    return std::max(half_of_rest(means.spare, stored),
                    half_of_rest(means.sure, std::min(stored, means.held)));
  }
  // The host's window, as far as there is memory for it.
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
