// The use of a shared resource by one of several users: its recent use, its demand and its share.
// All rates are bytes a second.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "pep/base/time.h"

namespace satrelay::gateway {

// Bytes on the wire. A single packet makes no rate, so averages are over several.
inline constexpr double kFullPacket = 1'538;
// A user without anything to send keeps this part of an equal share.
inline constexpr double kReserve = 0.25;
// Bytes above a maximum are made up for within so many seconds.
inline constexpr double kMaximumReturn = 0.02;

struct Tick {
  Instant now;
  double passed = 0;     // seconds since the last tick
  double whole = 0;      // the rate that is shared
  double smoothing = 1;  // weight of one tick in an average

  static Tick of(Instant now, Duration passed, double whole) {
    constexpr double kAverage = 0.008, kAveragePackets = 8;
    const double seconds = std::min(passed.to_seconds(), 1.0);
    const double average = std::max(kAverage, kAveragePackets * kFullPacket / whole);
    return {now, seconds, whole, seconds / (seconds + average)};
  }
};

struct Use {
  // The demand of a user that uses any rate it gets.
  static constexpr double kAll = std::numeric_limits<double>::infinity();

  std::uint64_t counted = 0;  // bytes
  double rate = 0;
  double hosts = 0;
  double demand = 0;
  double given = 0;
  Instant hungry_until = {};

  bool is_active() const { return demand > 0; }

  // Returns the bytes since the last call. A user that has restarted counts from zero.
  double count(std::uint64_t bytes, const Tick& tick) {
    const auto sent = static_cast<double>(bytes - std::min(counted, bytes));
    counted = bytes;
    rate += tick.smoothing * (std::min(sent / tick.passed, 1e15) - rate);
    return sent;
  }
  // `hungry`: only the shared resource holds the user back.
  void note(bool waits, bool hungry, std::uint32_t waiting_hosts, const Tick& tick) {
    // A user that waited a moment ago will soon wait again.
    constexpr Duration kHunger = Duration::milliseconds(2);
    // A user that uses this fraction of its share would use more. Another user gets a little more
    // than it used, by this factor.
    constexpr double kSated = 0.9, kRoom = 1.15;
    // Less than this fraction of the whole counts as nothing.
    constexpr double kNothing = 1e-5;
    if (hungry || (waits && rate >= kSated * given)) hungry_until = tick.now + kHunger;
    const bool was_active = is_active();
    if (hungry_until > tick.now) {
      demand = kAll;
    } else {
      demand = rate < tick.whole * kNothing && !waits ? 0 : std::max(rate * kRoom, 1.0);
    }
    const double now_waiting = std::max<double>(waiting_hosts, 1);
    if (!was_active) {
      hosts = now_waiting;
    } else if (waits) {
      hosts += tick.smoothing * (now_waiting - hosts);
    }
  }
};

// Bytes that several users have sent above a maximum. They send whole packets, so one packet of
// each active user is allowed.
class Excess {
 public:
  void count(double sent, double maximum, double active, const Tick& tick) {
    bytes_ = std::clamp(bytes_ + sent - maximum * tick.passed, 0.0,
                        maximum * kMaximumReturn + (active + 2) * kFullPacket);
  }
  // The rate that they may have together, so that the excess is made up for.
  double most(double maximum, double active) const {
    const double beyond = std::max(0.0, bytes_ - active * kFullPacket);
    return std::max(maximum / 2, maximum - beyond / kMaximumReturn);
  }

 private:
  double bytes_ = 0;
};

// Divides by the hosts that wait. The rest of a user that wants less than its part goes to the
// others. `each` calls its argument with every user.
template <typename Each>
void divide_by_hosts(double all, Each&& each) {
  double left = all;
  double hosts = 0;
  each([&](Use& use) {
    use.given = use.is_active() ? -1 : 0;  // not yet
    if (use.is_active()) hosts += use.hosts;
  });
  for (bool again = true; again && hosts > 0;) {
    again = false;
    const double level = left / hosts;
    each([&](Use& use) {
      if (use.given >= 0 || use.demand > level * use.hosts) return;
      use.given = use.demand;
      left -= use.given;
      hosts -= use.hosts;
      again = true;
    });
  }
  each([&](Use& use) {
    if (use.given < 0) use.given = std::max(0.0, left * use.hosts / hosts);
  });
}

}  // namespace satrelay::gateway
