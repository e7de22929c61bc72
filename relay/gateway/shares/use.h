// Several users share a rate. For each user, Use has the rate that it has used recently, the rate
// that it demands and the rate that it gets, in bytes per second.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "pep/base/time.h"

namespace satrelay::gateway {

// Size of a full packet in bytes on the wire. Rates are averaged over the time of several packets.
inline constexpr double kFullPacket = 1'538;
// A user without anything to send keeps this fraction of an equal share.
inline constexpr double kReserve = 0.25;
// If users have sent more than a maximum allows, they send less until the excess is compensated,
// which takes this time in seconds.
inline constexpr double kMaximumReturn = 0.02;

struct Tick {
  Instant now;
  double passed = 0;     // seconds since the last tick
  double whole = 0;      // the rate that the users share
  double smoothing = 1;  // weight of one tick in an average

  static Tick of(Instant now, Duration passed, double whole) {
    constexpr double kAverage = 0.008, kAveragePackets = 8;
    const double seconds = std::min(passed.to_seconds(), 1.0);
    const double average = std::max(kAverage, kAveragePackets * kFullPacket / whole);
    return {now, seconds, whole, seconds / (seconds + average)};
  }
};

struct Use {
  // The demand of a user that can use any rate.
  static constexpr double kAll = std::numeric_limits<double>::infinity();

  std::uint64_t counted = 0;  // `bytes` at the last count()
  double rate = 0;
  double hosts = 0;
  double demand = 0;
  double given = 0;
  Instant hungry_until = {};

  bool is_active() const { return demand > 0; }

  // `bytes`: the number of bytes that the user has sent since its start. Returns the number since
  // the last call, or 0 if `bytes` has decreased because the user has restarted.
  double count(std::uint64_t bytes, const Tick& tick) {
    const auto sent = static_cast<double>(bytes - std::min(counted, bytes));
    counted = bytes;
    rate += tick.smoothing * (std::min(sent / tick.passed, 1e15) - rate);
    return sent;
  }
  // `hungry`: whether the user could send if it had a larger share.
  void note(bool waits, bool hungry, std::uint32_t waiting_hosts, const Tick& tick) {
    // Time for which a user counts as hungry after it was hungry, since it will probably be hungry
    // again soon.
    constexpr Duration kHunger = Duration::milliseconds(2);
    // If a waiting user uses at least the fraction kSated of its share, it is assumed that the user
    // could use any rate. Otherwise the demand of a user is kRoom times its recent rate.
    constexpr double kSated = 0.9, kRoom = 1.15;
    // A rate below this fraction of the divided rate counts as zero.
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

// Counts the bytes that several users together have sent above a maximum. One packet of excess for
// each active user is tolerated, since users send whole packets.
class Excess {
 public:
  void count(double sent, double maximum, double active, const Tick& tick) {
    bytes_ = std::clamp(bytes_ + sent - maximum * tick.passed, 0.0,
                        maximum * kMaximumReturn + (active + 2) * kFullPacket);
  }
  // The total rate for the users: the maximum, or less while an excess must be compensated.
  double most(double maximum, double active) const {
    const double beyond = std::max(0.0, bytes_ - active * kFullPacket);
    return std::max(maximum / 2, maximum - beyond / kMaximumReturn);
  }

 private:
  double bytes_ = 0;
};

// Divides a rate in proportion to the hosts that wait. If a user demands less than its part, the
// other users get the unused rate. each(f) must call f for every user.
template <typename Each>
void divide_by_hosts(double all, Each&& each) {
  double left = all;
  double hosts = 0;
  each([&](Use& use) {
    use.given = use.is_active() ? -1 : 0;  // negative until it is decided
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
