#include "relay/ops/snapshot_board.h"

#include <utility>

namespace satrelay::ops {

bool SnapshotBoard::publish(Snapshot snapshot) {
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return false;
  if (!snapshot_) {
    snapshot_.emplace(std::move(snapshot));
  } else {
    // Swapped, so that the old one is freed after the lock is.
    std::swap(*snapshot_, snapshot);
  }
  published_at_ = Clock::now();
  return true;
}

std::optional<FlowRequest> SnapshotBoard::flow_request() {
  if (!wanted_.load(std::memory_order_relaxed)) return std::nullopt;
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || !wanted_.load(std::memory_order_relaxed)) return std::nullopt;
  return request_;
}

bool SnapshotBoard::answer(const FlowRequest& request, std::vector<gateway::FlowSnapshot> flows) {
  {
    std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return false;
    // The reader of an older request has given up already.
    if (!wanted_.load(std::memory_order_relaxed) || request.id != request_.id) return true;
    answer_ = std::move(flows);
    wanted_.store(false, std::memory_order_relaxed);
  }
  answered_.notify_one();
  return true;
}

std::optional<SnapshotBoard::Published> SnapshotBoard::latest() const {
  const std::lock_guard lock(mutex_);
  if (!snapshot_) return std::nullopt;
  return Published{*snapshot_, Clock::now() - published_at_};
}

std::optional<std::vector<gateway::FlowSnapshot>> SnapshotBoard::flows(std::size_t first,
                                                                       std::size_t count,
                                                                       Clock::duration patience) {
  return ask({.id = 0, .first = first, .count = count, .only = std::nullopt}, patience);
}

std::optional<std::vector<gateway::FlowSnapshot>> SnapshotBoard::flow(std::uint64_t number,
                                                                      Clock::duration patience) {
  return ask({.id = 0, .first = 0, .count = 1, .only = number}, patience);
}

std::optional<std::vector<gateway::FlowSnapshot>> SnapshotBoard::ask(FlowRequest request,
                                                                     Clock::duration patience) {
  const Clock::time_point deadline = Clock::now() + patience;
  const std::unique_lock turn(one_reader_, deadline);
  if (!turn.owns_lock()) return std::nullopt;
  std::unique_lock lock(mutex_);
  request.id = request_.id + 1;
  request_ = request;
  answer_.reset();
  wanted_.store(true, std::memory_order_relaxed);
  answered_.wait_until(lock, deadline, [this] { return answer_.has_value(); });
  wanted_.store(false, std::memory_order_relaxed);
  return std::exchange(answer_, std::nullopt);
}

}  // namespace satrelay::ops
