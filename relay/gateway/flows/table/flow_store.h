// Stores the relayed flows of a gateway, each in a slot of its own. A flow can be found by its key,
// by its number, by its deadline, by its position in the ring of flows with something to send, and
// in the order of slots. This class makes no decisions; the relay makes them. If a change of a flow
// affects the counts of this class, the relay makes the change through this class.
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
  // Gives the flow a number and a slot, and returns the slot. There must be a free slot, and no
  // other flow may have the same key.
  std::uint32_t add(std::unique_ptr<Flow> flow);
  void remove(std::uint32_t slot);
  Flow& operator[](std::uint32_t slot) { return *flows_[slot]; }
  const Flow& operator[](std::uint32_t slot) const { return *flows_[slot]; }
  // lift() takes a flow out of its slot, and put_back() puts a flow with the same key into that
  // slot. Between the two calls the flow is not counted, and the slot must not be used.
  std::unique_ptr<Flow> lift(std::uint32_t slot);
  void put_back(std::uint32_t slot, std::unique_ptr<Flow> flow);
  bool contains(std::uint32_t slot) const { return flows_[slot] != nullptr; }

  // --- finding a flow (kNoSlot if there is none) ---------------------------------------------
  std::uint64_t hash(const FlowKey& key) const { return table_.hash(key); }
  std::uint32_t find(const FlowKey& key) const { return find(key, hash(key)); }
  std::uint32_t find(const FlowKey& key, std::uint64_t hash) const {
    return table_.find(hash, [&](std::uint32_t slot) { return flows_[slot]->key == key; });
  }
  // Number of times that a flow was added or removed. While this number does not change, each flow
  // is still in the slot in which it was found.
  std::uint64_t changes() const { return changes_; }
  // prefetch_way() prefetches the memory that find() reads. prefetch() prefetches the memory that
  // is read to handle a segment of the flow.
  void prefetch_way(std::uint64_t hash) const { table_.prefetch(hash); }
  void prefetch(std::uint32_t slot) const;
  std::uint32_t find(std::uint64_t id, WorkCount& work) const;
  // The flow that has `before` flows before it in the order of slots.
  std::uint32_t nth(std::size_t before) const { return live_slots_.nth(before); }
  // The first flow in this slot or a later slot.
  std::uint32_t from(std::uint32_t slot) const { return live_slots_.from(slot); }
  FlowRing& ring() { return ring_; }
  const FlowRing& ring() const { return ring_; }

  // --- timers --------------------------------------------------------------------------------
  // Sets the flow's timer to `due`, unless the timer fires earlier anyway. If almost every segment
  // moved the timer, that would cost more than a timer that fires too early.
  void arm(std::uint32_t slot, Instant due);
  // Returns a flow with a timer that is due. Its timer is then no longer armed.
  std::optional<std::uint32_t> take_due(Instant now);
  Instant next_deadline() const { return timers_.next_deadline(); }

  // --- a scan of all flows, some in each call ------------------------------------------------
  // Begins a scan of all flows. If a scan is active already, it visits all flows once more from its
  // present position on.
  void begin_scan() { scan_left_ = slots(); }
  bool scan_active() const { return scan_left_ > 0; }
  // The next flow of the scan; kNoSlot if this step has found no flow. The scan must be active.
  std::uint32_t step_scan();

  // --- counts --------------------------------------------------------------------------------
  std::size_t size() const { return size_; }
  std::size_t unfinished() const { return size_ - over_; }  // neither ended nor in TIME-WAIT
  std::uint32_t half_open() const { return half_open_; }
  void complete_handshake(Flow& f);
  void note_over(Flow& f);  // the flow has ended or is in TIME-WAIT; no effect the second time

  // Checks the counts, and that each byte of a host is stored somewhere. Describes the first fault;
  // nullopt if there is none.
  std::optional<std::string> audit() const;
  // Adds the blocks that the flows' endpoints hold to `use`.
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
  std::size_t over_ = 0;  // flows that are over
  std::uint32_t half_open_ = 0;
  std::uint64_t flows_so_far_ = 0;
  std::uint64_t changes_ = 0;
};

}  // namespace satrelay::gateway
