#include "relay/sim/network/event_loop.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace satrelay::sim {
namespace {

// The largest number of times that actors may run at one instant. No correct program needs as many.
constexpr std::uint64_t kMostRunsAtOneInstant = 2'000'000;

}  // namespace

ActorId EventLoop::add(Actor& actor, std::string name) {
  actors_.push_back(&actor);
  names_.push_back(std::move(name));
  deadlines_.push_back(now_);
  return actors_.size() - 1;
}

void EventLoop::at(Instant when, std::function<void()> action) {
  actions_.push_back({later(when, now_), action_order_++, std::move(action)});
  std::push_heap(actions_.begin(), actions_.end(), [](const Action& a, const Action& b) {
    return a.when != b.when ? a.when > b.when : a.order > b.order;
  });
}

void EventLoop::run_actions() {
  while (!actions_.empty() && actions_.front().when <= now_) {
    std::pop_heap(actions_.begin(), actions_.end(), [](const Action& a, const Action& b) {
      return a.when != b.when ? a.when > b.when : a.order > b.order;
    });
    const Action action = std::move(actions_.back());
    actions_.pop_back();
    action.call();
  }
}

bool EventLoop::run_until(Instant limit, const std::function<bool()>& done) {
  std::uint64_t runs_at_now = 0;
  while (true) {
    run_actions();
    if (done()) return true;
    std::size_t next = 0;
    for (std::size_t i = 1; i < deadlines_.size(); ++i) {
      if (deadlines_[i] < deadlines_[next]) next = i;
    }
    Instant when = deadlines_.empty() ? Instant::never() : deadlines_[next];
    const bool action_first = !actions_.empty() && actions_.front().when < when;
    if (action_first) when = actions_.front().when;
    if (when > limit) {
      if (!limit.is_never()) now_ = later(now_, limit);
      return false;
    }
    if (when > now_) {
      now_ = when;
      runs_at_now = 0;
    }
    if (action_first) continue;
    if (++runs_at_now > kMostRunsAtOneInstant) {
      throw std::runtime_error("time stands still at " + std::to_string(now_.to_nanoseconds()) +
                               " ns: " + names_[next] + " keeps wanting to run");
    }
    ++runs_;
    deadlines_[next] = Instant::never();
    actors_[next]->run(now_);
    deadlines_[next] = earlier(deadlines_[next], actors_[next]->next_timeout());
  }
}

void EventLoop::run_until(Instant limit) {
  run_until(limit, [] { return false; });
}

}  // namespace satrelay::sim
