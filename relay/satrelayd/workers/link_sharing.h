// Divides the links of a gateway among its workers (relay/gateway/shares/division.h). Each worker's
// thread publishes its demands, the first worker's thread divides the links, and each thread reads
// its shares. No thread waits for another. While no worker sends, no worker is woken to divide
// links. A worker that hangs is treated as if it had nothing to send.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "config/model/schema.h"
#include "pep/base/time.h"
#include "relay/gateway/gateway.h"
#include "relay/gateway/shares/division.h"
#include "relay/satrelayd/workers/engines.h"
#include "relay/satrelayd/workers/share_board.h"

namespace satrelay::satrelayd {

class LinkSharing {
 public:
  // A worker with data to send calls tick() each millisecond, unless other threads use its core. A
  // worker that has not called tick() for this long is assumed to hang.
  static constexpr Duration kSilence = Duration::milliseconds(100);
  // If a worker has not called tick() for this long, its published link rates are ignored: the
  // peers may have announced other rates since. Even an idle worker calls tick() four times a
  // second.
  static constexpr Duration kDeafAfter = Duration::seconds(1);

  // `wake_first` wakes the first worker from its rest, so that it calls tick().
  LinkSharing(const config::Gateway& config, const Engines& engines,
              std::function<void()> wake_first, Instant now);

  // Call this once a round, on the worker's thread.
  void tick(unsigned worker, Instant now);
  // Returns the latest time at which the same thread must call tick() again.
  Instant next_timeout(unsigned worker) const;

 private:
  struct Member {
    Member(gateway::Gateway& gateway, std::size_t links, std::size_t lanes)
        : engine(gateway), slot(links, lanes), demands(links, lanes), shares(links, lanes) {}
    gateway::Gateway& engine;
    ShareSlot slot;
    std::atomic<std::uint64_t> ticks = 0;
    // Used only by the worker's own thread.
    gateway::Demands demands;
    gateway::Shares shares;
    std::uint64_t sent = 0;
    bool is_busy = false;
    Instant next;
  };
  // The first worker's copy of another worker's demands, and the age of the copy.
  struct Heard {
    Heard(std::size_t links, std::size_t lanes, Instant now) : demands(links, lanes), at(now) {}
    // Buffer for ShareSlot::read(). A failed read leaves it incomplete.
    gateway::Demands demands;
    std::uint64_t ticks = 0;
    Instant at;
  };
  static bool is_busy(Member& member);
  void hear(unsigned worker, Instant now);
  void divide(Instant now);

  std::vector<std::unique_ptr<Member>> members_;
  std::function<void()> wake_first_;
  // Used only by the first worker's thread.
  std::optional<gateway::Division> division_;  // nullopt if nothing is shared
  std::vector<Heard> heard_;
  std::atomic<bool> first_rests_ = false;
};

}  // namespace satrelay::satrelayd
