// Stops the threads of a worker pool between two rounds, while the leader uses their data. In each
// round, this costs each thread one read of an atomic word.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>

#include "pep/base/time.h"

namespace satrelay::satrelayd {

class Safepoint {
 public:
  // How long the leader waits for all followers to stop. A round takes less than a millisecond, but
  // other threads may occupy the core.
  static constexpr Duration kPatience = Duration::seconds(2);
  // How long the leader waits if a follower failed to stop the last time. It is short, since the
  // leader also has traffic to forward.
  static constexpr Duration kLittlePatience = Duration::milliseconds(5);

  // `wake` makes a follower begin a round, even if it sleeps.
  Safepoint(unsigned followers, std::function<void(unsigned follower)> wake,
            Duration patience = kPatience);

  // --- a follower's thread, between two rounds --------------------------------------------------
  // Blocks for as long as the leader keeps the followers stopped. Returns true if it has blocked.
  bool heed(unsigned follower);
  // Call this after the follower's last round. The leader then no longer waits for this follower.
  void leave(unsigned follower);

  // --- the leader's thread ----------------------------------------------------------------------
  // Stops the followers. Returns true if all have stopped, and false if one does not stop in time.
  // In both cases let_go() must follow.
  bool stop();
  void let_go();
  // True if a follower failed to stop the last time.
  bool is_one_missing() const { return is_one_missing_; }

 private:
  bool all_stand() const;

  const unsigned followers_;
  std::function<void(unsigned)> wake_;
  const Duration patience_;
  // Odd while all followers must be stopped.
  std::atomic<std::uint64_t> request_ = 0;
  // For each follower, the last request that it has obeyed. kAll means that the follower has left,
  // and counts as stopped.
  static constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();
  std::unique_ptr<std::atomic<std::uint64_t>[]> heeded_;
  bool is_one_missing_ = false;
};

}  // namespace satrelay::satrelayd
