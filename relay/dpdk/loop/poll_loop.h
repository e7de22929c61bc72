// How a program that polls its ports spends the time in which nothing comes.
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

// What the idler does after a poll that found nothing, as a pure rule.
struct Pause {
  enum class Kind : std::uint8_t {
    kNone,  // poll again at once
    kNap,   // sleep for `length`, whatever comes
    kWait,  // sleep for `length`, or until a port has frames
  };
  Kind kind = Kind::kNone;
  Duration length;
};

// busy: never pauses. adaptive: short naps while there is traffic (frames gather meanwhile, which
// costs less than a wake-up each), then growing ones; and once idle, ports that can wake the
// program do so.
class IdlePolicy {
 public:
  // While there is traffic: long enough to gather frames, short beside any satellite delay.
  static constexpr Duration kShortNap = Duration::microseconds(50);

  IdlePolicy(config::Polling polling, bool ports_can_wake)
      : polling_(polling), ports_can_wake_(ports_can_wake) {}

  void on_work(Instant now) { last_work_ = now; }
  // `next_timeout`: when the program must run even if nothing comes; what is due within a short nap
  // waits for its end.
  Pause pause(Instant now, Instant next_timeout) const;

 private:
  config::Polling polling_;
  bool ports_can_wake_;
  Instant last_work_;
};

class PollLoop {
 public:
  // Of at most four ports, which must outlive the loop, the queue of that number, as far as a port
  // has so many. For the thread that calls it.
  PollLoop(config::Polling polling, std::span<Port* const> ports, unsigned queue = 0);

  // What one round of the program has done, and until when it can wait.
  struct Round {
    bool worked = false;
    Instant next_timeout = Instant::never();
  };
  // Calls round(now) until the stop signal comes or `stop` says so.
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

  // How long it has rested before this round, as it meant to: without what it overslept.
  Duration last_rest() const { return last_rest_; }
  // How long that round took; zero before the first one.
  Duration last_round() const { return last_round_; }

  // Also wakes the loop when `descriptor` becomes readable (a control socket). At most four.
  void watch(int descriptor);
  void unwatch(int descriptor);

 private:
  bool idle(Instant now, Instant next_timeout);  // whether it has rested at all
  void wait(Duration length);

  static constexpr std::size_t kMaxDescriptors = 8;
  IdlePolicy policy_;
  Duration last_rest_;
  Duration last_round_;
  std::array<pollfd, kMaxDescriptors> descriptors_{};
  std::size_t descriptor_count_ = 0;
};

}  // namespace satrelay::dpdk
