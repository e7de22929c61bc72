// Stops the threads of a worker pool between two rounds, while their leader uses their data. It
// costs each thread one read of an atomic word in each round.
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
  // How long the leader waits until all followers stand still. A round takes less than a
  // millisecond, but other threads may have the core.
  static constexpr Duration kPatience = Duration::seconds(2);
  // How long the leader waits if a follower did not stop the last time. It is short, since the
  // leader has traffic of its own to forward.
  static constexpr Duration kLittlePatience = Duration::milliseconds(5);

  // `wake`: makes a follower begin a round, even if it sleeps.
  Safepoint(unsigned followers, std::function<void(unsigned follower)> wake,
            Duration patience = kPatience);

  // --- a follower's thread, between two rounds --------------------------------------------------
  // Blocks while the leader has stopped the followers. Returns true if it has blocked.
  bool heed(unsigned follower);
  // Call this after the follower's last round. The leader no longer waits for this follower.
  void leave(unsigned follower);

  // --- the leader's thread ----------------------------------------------------------------------
  // Stops the followers. Returns true if all stand still, false if one does not stop in time. In
  // either case let_go() must follow.
  bool stop();
  void let_go();
  // True if a follower did not stop the last time.
  bool is_one_missing() const { return is_one_missing_; }

 private:
  bool all_stand() const;

  const unsigned followers_;
  std::function<void(unsigned)> wake_;
  const Duration patience_;
  // Odd while all followers must stand still.
  std::atomic<std::uint64_t> request_ = 0;
  // By follower: the last request that it has obeyed. kAll: the follower has left, and counts as
  // standing still.
  static constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();
  std::unique_ptr<std::atomic<std::uint64_t>[]> heeded_;
  bool is_one_missing_ = false;
};

}  // namespace satrelay::satrelayd
