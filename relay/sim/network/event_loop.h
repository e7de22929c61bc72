// Virtual time. Actors say when they want to run next, and time jumps to the earliest of these
// instants. The same actors with the same inputs run in the same order on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "pep/base/time.h"

namespace satrelay::sim {

class Actor {
 public:
  virtual ~Actor() = default;
  // Does everything that is due at `now`.
  virtual void run(Instant now) = 0;
  // Returns when run() must be called next if nothing else happens. The loop asks this after each
  // run().
  virtual Instant next_timeout() const = 0;
};

using ActorId = std::size_t;

class EventLoop {
 public:
  ActorId add(Actor& actor, std::string name);
  Instant now() const { return now_; }
  // Makes the actor run at now(). Actors that are due at one instant run in the order of their ids.
  void wake(ActorId id) { deadlines_[id] = now_; }
  // Calls `action` at `when`, or at now() if `when` has passed. If actors are due at `when`, one of
  // them may run before the action.
  void at(Instant when, std::function<void()> action);

  // Runs until `done` returns true or `limit` is reached, and returns whether `done` returned true.
  // Calls `done` before each run of an actor. Throws std::runtime_error if actors keep asking to
  // run while time does not advance.
  bool run_until(Instant limit, const std::function<bool()>& done);
  void run_until(Instant limit);

  std::uint64_t runs() const { return runs_; }

 private:
  struct Action {
    Instant when;
    std::uint64_t order;
    std::function<void()> call;
  };
  void run_actions();
  Instant now_;
  std::vector<Actor*> actors_;
  std::vector<std::string> names_;
  std::vector<Instant> deadlines_;
  std::vector<Action> actions_;  // a heap with the earliest action in front
  std::uint64_t action_order_ = 0;
  std::uint64_t runs_ = 0;
};

}  // namespace satrelay::sim
