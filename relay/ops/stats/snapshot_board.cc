#include "relay/ops/stats/snapshot_board.h"

#include <utility>

namespace satrelay::ops {

bool SnapshotBoard::answer(const LiveView& view) {
  {
    std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return false;
    if (!question_) return true;  // the reader no longer waits
    question_(view);
    question_ = nullptr;
    asked_.store(false, std::memory_order_relaxed);
  }
  answered_.notify_one();
  return true;
}

bool SnapshotBoard::run(Question question, Clock::duration patience) {
  const Clock::time_point deadline = Clock::now() + patience;
  const std::unique_lock turn(one_reader_, deadline);
  if (!turn.owns_lock()) return false;
  std::unique_lock lock(mutex_);
  question_ = std::move(question);
  asked_.store(true, std::memory_order_relaxed);
  const bool done = answered_.wait_until(lock, deadline, [this] { return !question_; });
  // Remove the query. It writes to a variable of the caller, which no longer exists after this
  // function returns.
  question_ = nullptr;
  asked_.store(false, std::memory_order_relaxed);
  return done;
}

}  // namespace satrelay::ops
