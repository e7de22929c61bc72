// Where the threads of a crew stand still between two rounds while their leader uses what is
// theirs. Costs each of them one read of a word a round.
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
  // A round takes less than a millisecond; others may have the core meanwhile.
  static constexpr Duration kPatience = Duration::seconds(2);
  // With one that did not come the last time: the leader has traffic of its own to carry.
  static constexpr Duration kLittlePatience = Duration::milliseconds(5);

  // `wake`: makes a follower begin a round, even if it sleeps.
  Safepoint(unsigned followers, std::function<void(unsigned follower)> wake,
            Duration patience = kPatience);

  // --- a follower's thread, between two rounds --------------------------------------------------
  // Returns when it may go on; whether it stood meanwhile.
  bool heed(unsigned follower);
  // Its last round is over: nobody waits for it any more.
  void leave(unsigned follower);

  // --- the leader's thread ----------------------------------------------------------------------
  // Whether all stand. Whatever it says, let_go() must follow.
  bool stop();
  void let_go();
  // One of them did not come, the last time.
  bool is_one_missing() const { return is_one_missing_; }

 private:
  bool all_stand() const;

  const unsigned followers_;
  std::function<void(unsigned)> wake_;
  const Duration patience_;
  // Odd: all are to stand.
  std::atomic<std::uint64_t> request_ = 0;
  // The last request that each has heeded; of who has left, all that may come.
  static constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();
  std::unique_ptr<std::atomic<std::uint64_t>[]> heeded_;
  bool is_one_missing_ = false;
};

}  // namespace satrelay::satrelayd
