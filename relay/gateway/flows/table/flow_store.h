// The relayed flows of a gateway, each in a slot of its own, and the ways to one: by its key, by
// its number, by its deadline, by its turn, and from one to the next. Decides nothing: the relay
// does, and what it changes of a flow that is counted here goes through this class.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pep/base/containers/timer_heap.h"
#include "pep/base/work_count.h"
#include "relay/gateway/flows/flow.h"
#include "relay/gateway/flows/table/flow_ring.h"
#include "relay/gateway/flows/table/flow_table.h"
#include "relay/gateway/flows/table/live_slots.h"
#include "relay/gateway/flows/table/slot_index.h"
#include "relay/gateway/snapshot.h"

namespace satrelay::gateway {

class FlowStore {
 public:
  FlowStore(std::uint32_t most_flows, HashKey secret);

  // --- slots ---------------------------------------------------------------------------------
  std::uint32_t slots() const { return static_cast<std::uint32_t>(flows_.size()); }
  std::size_t free_slots() const { return free_slots_.size(); }
  // Gives the flow its number, and its slot, which is returned. There is a free one, and no flow
  // with this key.
  std::uint32_t add(std::unique_ptr<Flow> flow);
  void remove(std::uint32_t slot);
  Flow& operator[](std::uint32_t slot) { return *flows_[slot]; }
  const Flow& operator[](std::uint32_t slot) const { return *flows_[slot]; }
  bool contains(std::uint32_t slot) const { return flows_[slot] != nullptr; }

  // --- ways to one; kNoSlot: there is none ---------------------------------------------------
  std::uint64_t hash(const FlowKey& key) const { return table_.hash(key); }
  std::uint32_t find(const FlowKey& key) const { return find(key, hash(key)); }
  std::uint32_t find(const FlowKey& key, std::uint64_t hash) const {
    return table_.find(hash, [&](std::uint32_t slot) { return flows_[slot]->key == key; });
  }
  // While it is the same, each flow is where it was found.
  std::uint64_t changes() const { return changes_; }
  // Bring on its way what find() looks at, and what a segment of the flow does.
  void prefetch_way(std::uint64_t hash) const { table_.prefetch(hash); }
  void prefetch(std::uint32_t slot) const;
  std::uint32_t find(std::uint64_t id, WorkCount& work) const;
  // The one before which `before` others stand in the order of slots.
  std::uint32_t nth(std::size_t before) const { return live_slots_.nth(before); }
  // The first from this slot on.
  std::uint32_t from(std::uint32_t slot) const { return live_slots_.from(slot); }
  FlowRing& ring() { return ring_; }
  const FlowRing& ring() const { return ring_; }

  // --- timers --------------------------------------------------------------------------------
  // The flow is due then, or earlier: a timer that comes too early is cheaper than one that is
  // moved with almost every segment.
  void arm(std::uint32_t slot, Instant due);
  // One that is due; its timer is not armed any more.
  std::optional<std::uint32_t> take_due(Instant now);
  Instant next_deadline() const { return timers_.next_deadline(); }

  // --- once round all flows, some in each call -----------------------------------------------
  // Begun again under way, it goes once round from where it is.
  void begin_scan() { scan_left_ = slots(); }
  bool scan_active() const { return scan_left_ > 0; }
  // The next flow of the lap; kNoSlot if this step has found none. Only under way.
  std::uint32_t step_scan();

  // --- counts --------------------------------------------------------------------------------
  std::size_t size() const { return size_; }
  std::size_t unfinished() const { return size_ - over_; }  // without those in TIME-WAIT
  std::uint32_t half_open() const { return half_open_; }
  void count_half_open(Flow& f);
  void count_answered(Flow& f);  // half open no more; no effect if it was not
  void count_over(Flow& f);      // but for its TIME-WAIT; once

  // The counts, and where each host's bytes lie, looked at anew: the first thing that is wrong, in
  // words.
  std::optional<std::string> audit() const;
  // The blocks that the flows' endpoints hold.
  void add_held(ArenaUse& use) const;

 private:
  std::vector<std::unique_ptr<Flow>> flows_;  // by slot
  std::vector<std::uint32_t> free_slots_;
  LiveSlots live_slots_;
  FlowTable table_;
  SlotIndex by_id_;
  TimerHeap timers_;
  FlowRing ring_;
  std::uint32_t scan_next_ = 0;  // slot
  std::uint32_t scan_left_ = 0;  // slots
  std::size_t size_ = 0;
  std::size_t over_ = 0;  // of them
  std::uint32_t half_open_ = 0;
  std::uint64_t flows_so_far_ = 0;
  std::uint64_t changes_ = 0;
};

}  // namespace satrelay::gateway
