// Lets the threads of a worker pool stand still between two rounds while their leader uses their
// data. Costs each thread one read of a word a round.
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
  // How long the leader waits. A round takes less than a millisecond, but other threads may have
  // the core.
  static constexpr Duration kPatience = Duration::seconds(2);
  // How long it waits if a follower did not stop the last time: the leader has traffic of its own.
  static constexpr Duration kLittlePatience = Duration::milliseconds(5);

  // `wake`: makes a follower begin a round, even if it sleeps.
  Safepoint(unsigned followers, std::function<void(unsigned follower)> wake,
            Duration patience = kPatience);

  // --- a follower's thread, between two rounds --------------------------------------------------
  // Stands still while the leader has stopped all. True if the follower stood still.
  bool heed(unsigned follower);
  // The follower's last round is over: the leader no longer waits for it.
  void leave(unsigned follower);

  // --- the leader's thread ----------------------------------------------------------------------
  // Stops the followers. True if all stand still. In either case let_go() must follow.
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
  // The last request that each follower has heeded. kAll for a follower that has left: it heeds
  // every request.
  static constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();
  std::unique_ptr<std::atomic<std::uint64_t>[]> heeded_;
  bool is_one_missing_ = false;
};

}  // namespace satrelay::satrelayd
