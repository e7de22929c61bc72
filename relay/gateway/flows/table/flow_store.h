// The relayed flows of a gateway, each in a slot of its own. A flow is found by its key, by its
// number, by its deadline, by its turn, and in the order of slots. This class decides nothing: the
// relay does. Changes of a flow that affect the counts here go through this class.
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
  // Gives the flow its number and a slot, and returns the slot. A slot must be free, and no flow
  // may have this key.
  std::uint32_t add(std::unique_ptr<Flow> flow);
  void remove(std::uint32_t slot);
  Flow& operator[](std::uint32_t slot) { return *flows_[slot]; }
  const Flow& operator[](std::uint32_t slot) const { return *flows_[slot]; }
  // lift() takes a flow out of its slot, and put_back() puts a flow with the same key there.
  // Between the calls the flow is in no count, and the slot must not be used.
  std::unique_ptr<Flow> lift(std::uint32_t slot);
  void put_back(std::uint32_t slot, std::unique_ptr<Flow> flow);
  bool contains(std::uint32_t slot) const { return flows_[slot] != nullptr; }

  // --- to find a flow; kNoSlot: there is none ------------------------------------------------
  std::uint64_t hash(const FlowKey& key) const { return table_.hash(key); }
  std::uint32_t find(const FlowKey& key) const { return find(key, hash(key)); }
  std::uint32_t find(const FlowKey& key, std::uint64_t hash) const {
    return table_.find(hash, [&](std::uint32_t slot) { return flows_[slot]->key == key; });
  }
  // As long as this number stays the same, each flow is where it was found.
  std::uint64_t changes() const { return changes_; }
  // Prefetch the memory that find() reads, and the memory that a segment of the flow needs.
  void prefetch_way(std::uint64_t hash) const { table_.prefetch(hash); }
  void prefetch(std::uint32_t slot) const;
  std::uint32_t find(std::uint64_t id, WorkCount& work) const;
  // The flow with `before` flows before it in the order of slots.
  std::uint32_t nth(std::size_t before) const { return live_slots_.nth(before); }
  // The first flow from this slot on.
  std::uint32_t from(std::uint32_t slot) const { return live_slots_.from(slot); }
  FlowRing& ring() { return ring_; }
  const FlowRing& ring() const { return ring_; }

  // --- timers --------------------------------------------------------------------------------
  // Sets the flow's timer to `due`, unless it comes earlier already. A timer that comes too early
  // costs less than a timer that is moved with almost every segment.
  void arm(std::uint32_t slot, Instant due);
  // A flow with a timer that is due. The timer is no longer armed.
  std::optional<std::uint32_t> take_due(Instant now);
  Instant next_deadline() const { return timers_.next_deadline(); }

  // --- a scan of all flows, some in each call ------------------------------------------------
  // If a scan is active, it goes once round all flows from where it is.
  void begin_scan() { scan_left_ = slots(); }
  bool scan_active() const { return scan_left_ > 0; }
  // The next flow of the scan; kNoSlot if this step has found none. The scan must be active.
  std::uint32_t step_scan();

  // --- counts --------------------------------------------------------------------------------
  std::size_t size() const { return size_; }
  std::size_t unfinished() const { return size_ - over_; }  // neither ended nor in TIME-WAIT
  std::uint32_t half_open() const { return half_open_; }
  void complete_handshake(Flow& f);
  void note_over(Flow& f);  // ended, or in TIME-WAIT; no effect the second time

  // Checks the counts, and where each host's bytes lie. Returns the first fault, in words.
  std::optional<std::string> audit() const;
  // Adds the blocks that the flows' endpoints hold.
  void add_held(ArenaUse& use) const;

 private:
  void count(const Flow& f);
  void count_back(const Flow& f);

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
  std::size_t over_ = 0;  // of these
  std::uint32_t half_open_ = 0;
  std::uint64_t flows_so_far_ = 0;
  std::uint64_t changes_ = 0;
};

}  // namespace satrelay::gateway
