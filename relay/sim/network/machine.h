// The processor that a gateway shares with other programs, and the receive rings of the gateway.
// Without a Machine, work takes no time, and the gateway does it at once unless a worker is kept
// from running.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "pep/base/time.h"
#include "relay/sim/network/frame_pool.h"

namespace satrelay::sim {

// From `when` on, for `length`, the gateway runs only in the last part of each `period`. That part
// is `runs` long.
struct Starvation {
  Instant when;
  Duration length;
  Duration period;
  Duration runs = {};

  static Starvation pause(Instant when, Duration length) { return {when, length, length, {}}; }
  Instant end() const { return when + length; }
};

// Which information the node gives to the engine about frames that wait at a port, and about frames
// that the port has dropped.
enum class Insight : std::uint8_t {
  kAll,
  kMissed,   // only the number of frames that a full ring dropped
  kNothing,  // no information, so there is nothing to report in RECEPTION frames
  kFeigned,  // False numbers: always more waiting and more missed frames than are possible.
};

// Whether the node passes frames to the engine in bursts or one by one.
enum class Verbs : std::uint8_t { kBursts, kSingle };

struct MachineSpec {
  std::vector<Starvation> starvations;  // in ascending order and disjoint
  Insight insight = Insight::kAll;
  std::size_t ring = 2048;  // number of frames that each port's ring can hold
  Duration frame_time;      // processor time to receive or send a frame
  Verbs verbs = Verbs::kBursts;
  bool is_idle() const {
    return starvations.empty() && frame_time == Duration::zero() && insight != Insight::kFeigned;
  }
};

class Machine {
 public:
  explicit Machine(const MachineSpec& spec) : spec_(spec) {}

  // Notes that the gateway worked on `frames` frames at `now`.
  void spend(std::size_t frames, Instant now) {
    if (spec_.frame_time == Duration::zero() || frames == 0) return;
    busy_since_ = now;
    busy_until_ = now + spec_.frame_time * static_cast<std::int64_t>(frames);
  }
  // The time at which the gateway runs next. `now` if it can run now.
  Instant free_at(Instant now) const;
  bool is_free(Instant now) const { return free_at(now) <= now; }
  // The time since which the gateway has not run. `now` if it can run now.
  Instant away_since(Instant now) const;
  // The time at which the processor is next given to other programs, or never().
  Instant next_absence(Instant now) const;

 private:
  struct Absence {
    Instant begin = Instant::never();
    Instant end = Instant::never();
  };
  // An absence is a time in which the gateway does not run. Returns the absence that includes
  // `now`, or the next absence if there is none now.
  Absence absence(Instant now) const;

  MachineSpec spec_;
  Instant busy_since_;
  Instant busy_until_;
};

// Frames that wait at a port for the gateway.
class Ring {
 public:
  // Returns false, and counts the frame as missed, if the ring already holds `room` frames. The
  // caller then still owns the frame.
  bool push(FrameHandle frame, std::size_t room, Instant empty_at);
  FrameHandle pop();
  bool empty() const { return frames_.empty(); }
  // The time at which the ring was last known to be empty.
  Instant empty_at() const { return empty_at_; }
  void set_empty_at(Instant now) { empty_at_ = now; }
  std::uint64_t missed() const { return missed_; }

 private:
  std::deque<FrameHandle> frames_;
  Instant empty_at_;
  std::uint64_t missed_ = 0;
};

}  // namespace satrelay::sim
