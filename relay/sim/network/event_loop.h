// Virtual time: actors say when they want to run next, and time jumps to the earliest of them. The
// same actors with the same inputs run in the same order on every machine.
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
  // When run() is wanted next if nothing else happens; asked after each run().
  virtual Instant next_timeout() const = 0;
};

using ActorId = std::size_t;

class EventLoop {
 public:
  ActorId add(Actor& actor, std::string name);
  Instant now() const { return now_; }
  // The actor has work: it runs at now(), after those that were woken or due with a smaller id.
  void wake(ActorId id) { deadlines_[id] = now_; }
  // Calls `action` at `when`, before the actors that are due then.
  void at(Instant when, std::function<void()> action);

  // Runs until `done` answers true (checked between runs) or until `limit`; whether it was `done`.
  // Throws std::runtime_error if an actor keeps wanting to run without time moving on.
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
  std::vector<Action> actions_;  // a heap, earliest in front
  std::uint64_t action_order_ = 0;
  std::uint64_t runs_ = 0;
};

}  // namespace satrelay::sim
