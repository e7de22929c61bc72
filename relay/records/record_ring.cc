#include "relay/records/record_ring.h"

#include <algorithm>
#include <bit>

#include "pep/base/check.h"

namespace satrelay::records {

RecordRing::RecordRing(std::size_t room)
    : room_(room), records_(std::make_unique<gateway::FlowRecord[]>(room)) {
  SATRELAY_CHECK(std::has_single_bit(room));
}

std::span<const gateway::FlowRecord> RecordRing::readable() const {
  const std::uint64_t taken = taken_.load(std::memory_order_relaxed);
  const auto count = static_cast<std::size_t>(written_.load(std::memory_order_acquire) - taken);
  const std::size_t begin = taken & (room_ - 1);
  return {records_.get() + begin, std::min(count, room_ - begin)};
}

void RecordRing::take(std::size_t count) {
  taken_.store(taken_.load(std::memory_order_relaxed) + count, std::memory_order_release);
}

std::size_t RecordRing::size() const {
  const std::uint64_t taken = taken_.load(std::memory_order_acquire);
  return static_cast<std::size_t>(written_.load(std::memory_order_acquire) - taken);
}

}  // namespace satrelay::records
