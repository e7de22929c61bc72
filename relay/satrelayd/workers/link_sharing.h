// The workers of a gateway share its links (relay/gateway/shares/division.h): each thread leaves
// what it has to send where the first one finds it, which divides, and takes what it has got.
// Nobody waits for anybody. While nothing is sent nobody ticks. Who hangs has nothing to send.
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
  // Who waits ticks each millisecond, unless others have its core: longer than that it hangs.
  static constexpr Duration kSilence = Duration::milliseconds(100);
  // And nothing of what its peers announce: one that has nothing to do ticks four times a second.
  static constexpr Duration kDeafAfter = Duration::seconds(1);

  // `wake_first`: the first worker rests, and is to tick.
  LinkSharing(const config::Gateway& config, const Engines& engines,
              std::function<void()> wake_first, Instant now);

  // Once a round, by the thread of the worker.
  void tick(unsigned worker, Instant now);
  // When that is to be called again at the latest, by the same.
  Instant next_timeout(unsigned worker) const;

 private:
  struct Member {
    Member(gateway::Gateway& gateway, std::size_t links, std::size_t lanes)
        : engine(gateway), slot(links, lanes), demands(links, lanes), shares(links, lanes) {}
    gateway::Gateway& engine;
    ShareSlot slot;
    std::atomic<std::uint64_t> ticks = 0;
    // Of its own thread.
    gateway::Demands demands;
    gateway::Shares shares;
    std::uint64_t sent = 0;
    bool is_busy = false;
    Instant next;
  };
  // What the first one knows of each.
  struct Heard {
    Heard(std::size_t links, std::size_t lanes, Instant now) : demands(links, lanes), at(now) {}
    gateway::Demands demands;  // read, and perhaps not whole
    std::uint64_t ticks = 0;
    Instant at;
  };
  static bool is_busy(Member& member);
  void hear(unsigned worker, Instant now);
  void divide(Instant now);

  std::vector<std::unique_ptr<Member>> members_;
  std::function<void()> wake_first_;
  // Of the first worker's thread.
  std::optional<gateway::Division> division_;  // nullopt: nothing is shared
  std::vector<Heard> heard_;
  std::atomic<bool> first_rests_ = false;
};

}  // namespace satrelay::satrelayd
