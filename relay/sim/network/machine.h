// The processor that a gateway shares with other programs, and the rings in front of the gateway.
// Without a Machine, work takes no time, and the gateway does it at once unless a worker is
// starved.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "pep/base/time.h"
#include "relay/sim/network/frame_pool.h"

namespace satrelay::sim {

// From `when` on, for `length`, the gateway runs only during the last `runs` of each `period`.
struct Starvation {
  Instant when;
  Duration length;
  Duration period;
  Duration runs = {};

  static Starvation pause(Instant when, Duration length) { return {when, length, length, {}}; }
  Instant end() const { return when + length; }
};

// How much the node reports to the engine about frames that wait at a port, and about frames that a
// port has dropped.
enum class Insight : std::uint8_t {
  kAll,
  kMissed,   // only the number of frames that a full ring dropped
  kNothing,  // nothing, as a gateway that sends no RECEPTION frames
  kFeigned,  // false reports: always more waiting and more missed frames than possible
};

// How the node calls the engine: with bursts of frames, or with single ones.
enum class Verbs : std::uint8_t { kBursts, kSingle };

struct MachineSpec {
  std::vector<Starvation> starvations;  // ascending and disjoint
  Insight insight = Insight::kAll;
  std::size_t ring = 2048;  // frames that each port's ring holds
  Duration frame_time;      // processor time for each frame, received or sent
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
  // When the gateway runs next; `now` if it can run.
  Instant free_at(Instant now) const;
  bool is_free(Instant now) const { return free_at(now) <= now; }
  // Since when the gateway has not run; `now` if it can run.
  Instant away_since(Instant now) const;
  // When the processor is next taken away; never() if it is not.
  Instant next_absence(Instant now) const;

 private:
  struct Absence {
    Instant begin = Instant::never();
    Instant end = Instant::never();
  };
  // Returns the absence at `now`, or the next absence if there is none now.
  Absence absence(Instant now) const;

  MachineSpec spec_;
  Instant busy_since_;
  Instant busy_until_;
};

// Frames that wait at a port for the gateway.
class Ring {
 public:
  // Returns false and counts the frame as missed if the ring holds `room` frames already. The
  // caller then keeps the frame.
  bool push(FrameHandle frame, std::size_t room, Instant empty_at);
  FrameHandle pop();
  bool empty() const { return frames_.empty(); }
  // When the ring was last known to be empty.
  Instant empty_at() const { return empty_at_; }
  void set_empty_at(Instant now) { empty_at_ = now; }
  std::uint64_t missed() const { return missed_; }

 private:
  std::deque<FrameHandle> frames_;
  Instant empty_at_;
  std::uint64_t missed_ = 0;
};

}  // namespace satrelay::sim
