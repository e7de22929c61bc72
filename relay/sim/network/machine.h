// The processor under a gateway, which others use too, and the rings in front of it: what a gateway
// does at once unless somebody starves it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "pep/base/time.h"
#include "relay/sim/network/frame_pool.h"

namespace satrelay::sim {

// For `length` from `when` on the gateway runs only at the end of each `period`, for `runs` of it.
struct Starvation {
  Instant when;
  Duration length;
  Duration period;
  Duration runs = {};

  static Starvation pause(Instant when, Duration length) { return {when, length, length, {}}; }
  Instant end() const { return when + length; }
};

// What the owner of the gateway finds out about its machine.
enum class Insight : std::uint8_t {
  kAll,
  kMissed,   // only what has found no room
  kNothing,  // as in a build that knows no RECEPTION
  kFeigned,  // it tells of more than can be, always
};

// How the owner shows frames that wait in a ring to the gateway, and asks it for those to send.
enum class Verbs : std::uint8_t { kBursts, kSingle };

struct MachineSpec {
  std::vector<Starvation> starvations;  // ascending and disjoint
  Insight insight = Insight::kAll;
  std::size_t ring = 2048;  // frames that a port keeps
  Duration frame_time;      // that the processor spends on each frame, received or sent
  Verbs verbs = Verbs::kBursts;
  bool is_idle() const {
    return starvations.empty() && frame_time == Duration::zero() && insight != Insight::kFeigned;
  }
};

class Machine {
 public:
  explicit Machine(const MachineSpec& spec) : spec_(spec) {}

  // The gateway has worked on so many frames at `now`.
  void spend(std::size_t frames, Instant now) {
    if (spec_.frame_time == Duration::zero() || frames == 0) return;
    busy_since_ = now;
    busy_until_ = now + spec_.frame_time * static_cast<std::int64_t>(frames);
  }
  // When the gateway runs again; `now` if it does.
  Instant free_at(Instant now) const;
  bool is_free(Instant now) const { return free_at(now) <= now; }
  // Since when it has not run.
  Instant away_since(Instant now) const;
  // When it is next taken away; never() if it is not.
  Instant next_absence(Instant now) const;

 private:
  struct Absence {
    Instant begin = Instant::never();
    Instant end = Instant::never();
  };
  // The one at `now`, or the next.
  Absence absence(Instant now) const;

  MachineSpec spec_;
  Instant busy_since_;
  Instant busy_until_;
};

// What a port keeps until the gateway takes it.
class Ring {
 public:
  // False if there is no room, which is counted; the frame stays the caller's.
  bool push(FrameHandle frame, std::size_t room, Instant empty_at);
  FrameHandle pop();
  bool empty() const { return frames_.empty(); }
  // When it was last known to be empty.
  Instant empty_at() const { return empty_at_; }
  void set_empty_at(Instant now) { empty_at_ = now; }
  std::uint64_t missed() const { return missed_; }

 private:
  std::deque<FrameHandle> frames_;
  Instant empty_at_;
  std::uint64_t missed_ = 0;
};

}  // namespace satrelay::sim
