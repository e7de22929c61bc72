// A ring that passes flow records from a worker to the record writer. Each end is used by one
// thread, and neither thread waits for the other. If the ring is full, the record is lost, and the
// worker counts it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

#include "relay/gateway/flows/flow_record.h"

namespace satrelay::records {

// A record is copied byte by byte, so it must not point into the worker's memory.
static_assert(std::is_trivially_copyable_v<gateway::FlowRecord>);

class RecordRing {
 public:
  // Capacity of the ring in records. If 100,000 flows end per second and the writer is blocked, the
  // ring is full after a third of a second.
  static constexpr std::size_t kRoom = 32'768;
  static constexpr std::size_t kMemory = kRoom * sizeof(gateway::FlowRecord);

  // `room` is the number of records, a power of two. The constructor writes to all of the memory,
  // so that push() causes no page fault.
  explicit RecordRing(std::size_t room = kRoom);

  // --- the worker's side -----------------------------------------------------------------------
  // Returns false if the ring is full.
  bool push(const gateway::FlowRecord& record) {
    const std::uint64_t written = written_.load(std::memory_order_relaxed);
    if (written - taken_seen_ == room_) {
      taken_seen_ = taken_.load(std::memory_order_acquire);
      if (written - taken_seen_ == room_) return false;
    }
    records_[written & (room_ - 1)] = record;
    written_.store(written + 1, std::memory_order_release);
    return true;
  }

  // --- the writer's side -----------------------------------------------------------------------
  // Returns the oldest records that were written and not taken yet. The ring may continue at the
  // beginning of its memory. If so, this call only returns the records before the end of the
  // memory, and a call after take() returns the others.
  std::span<const gateway::FlowRecord> readable() const;
  // Frees the first `count` records that readable() has returned.
  void take(std::size_t count);
  std::size_t size() const;  // may be called from either side

 private:
  std::size_t room_;
  std::unique_ptr<gateway::FlowRecord[]> records_;
  // The variables of the worker and of the writer are in separate cache lines.
  alignas(64) std::atomic<std::uint64_t> written_ = 0;
  std::uint64_t taken_seen_ = 0;  // `taken_` as the worker last saw it
  alignas(64) std::atomic<std::uint64_t> taken_ = 0;
};

}  // namespace satrelay::records
