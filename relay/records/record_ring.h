// A ring of flow records from a worker to the writer. Each end has one thread, and neither waits
// for the other. If there is no room, the record is lost, and the worker counts it.
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
  // The number of records: enough for a third of a second if 100,000 flows end each second.
  static constexpr std::size_t kRoom = 32'768;
  static constexpr std::size_t kMemory = kRoom * sizeof(gateway::FlowRecord);

  // `room`: the number of records, a power of two. The constructor touches all of the memory, so
  // that no record pays for a page fault.
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
  // The records that were written and not taken, up to the end of the memory. take() frees the
  // first `count` records of them.
  std::span<const gateway::FlowRecord> readable() const;
  void take(std::size_t count);
  std::size_t size() const;  // for either side

 private:
  std::size_t room_;
  std::unique_ptr<gateway::FlowRecord[]> records_;
  // The variables of each side have a cache line of their own.
  alignas(64) std::atomic<std::uint64_t> written_ = 0;
  std::uint64_t taken_seen_ = 0;  // `taken_` as the worker last saw it
  alignas(64) std::atomic<std::uint64_t> taken_ = 0;
};

}  // namespace satrelay::records
