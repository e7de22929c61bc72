// The loop of a program that polls its ports, and its pauses while no frames arrive.
#pragma once

#include <poll.h>

#include <array>
#include <cstddef>
#include <span>

#include "config/model/schema.h"
#include "pep/base/time.h"
#include "relay/dpdk/loop/clock.h"
#include "relay/dpdk/loop/stop_signal.h"

namespace satrelay::dpdk {

class Port;

// The pause after a poll that found nothing.
struct Pause {
  enum class Kind : std::uint8_t {
    kNone,  // poll again at once
    kNap,   // sleep for `length`, even if frames arrive
    kWait,  // sleep for `length`, or until a port has frames
  };
  Kind kind = Kind::kNone;
  Duration length;
};

// Chooses the pause, without system calls. With `busy` polling there is never a pause. With
// `adaptive` polling there are short naps while there is traffic: to handle several frames after a
// nap costs less than to wake up for each frame. Without traffic, the program waits until a port
// wakes it. If some port cannot wake it, it takes longer naps.
class IdlePolicy {
 public:
  // Length of a nap while there is traffic. It is long enough for several frames to arrive, and
  // short compared with the delay of any satellite.
  static constexpr Duration kShortNap = Duration::microseconds(50);

  IdlePolicy(config::Polling polling, bool ports_can_wake)
      : polling_(polling), ports_can_wake_(ports_can_wake) {}

  void on_work(Instant now) { last_work_ = now; }
  // `next_timeout`: when the program must run even if no frames arrive. If that is within a short
  // nap, it runs after the nap.
  Pause pause(Instant now, Instant next_timeout) const;

 private:
  config::Polling polling_;
  bool ports_can_wake_;
  Instant last_work_;
};

class PollLoop {
 public:
  // The loop of the calling thread. It uses queue `queue` of each port that has such a queue. There
  // may be at most four `ports`, which must outlive the loop.
  PollLoop(config::Polling polling, std::span<Port* const> ports, unsigned queue = 0);

  // The result of one round: whether the program did any work, and how long it can wait.
  struct Round {
    bool worked = false;
    Instant next_timeout = Instant::never();
  };
  // Calls round(now) until a stop is requested.
  template <typename RoundFunction>
  void run(RoundFunction&& round) {
    Instant start = now();
    while (!StopSignal::requested()) {
      const Round result = round(start);
      const Instant end = now();
      last_round_ = end - start;
      last_rest_ = Duration::zero();
      if (result.worked) {
        policy_.on_work(start);
        start = end;
      } else if (idle(end, result.next_timeout)) {
        start = now();
      } else {
        start = end;
      }
    }
  }

  // How long the loop paused before this round. If the kernel has woken the loop late, the delay is
  // not included.
  Duration last_rest() const { return last_rest_; }
  // How long the last round took; zero before the first one.
  Duration last_round() const { return last_round_; }

  // Also wakes the loop when `descriptor` becomes readable (a control socket). At most four
  // descriptors.
  void watch(int descriptor);
  void unwatch(int descriptor);

 private:
  bool idle(Instant now, Instant next_timeout);  // returns true if the loop has paused
  void wait(Duration length);

  static constexpr std::size_t kMaxDescriptors = 8;
  IdlePolicy policy_;
  Duration last_rest_;
  Duration last_round_;
  std::array<pollfd, kMaxDescriptors> descriptors_{};
  std::size_t descriptor_count_ = 0;
};

}  // namespace satrelay::dpdk
