#include "relay/sim/checks/minimise.h"

#include <utility>

namespace satrelay::sim {
namespace {

class Search {
 public:
  Search(const Scenario& failing, const std::function<bool(const Scenario&)>& fails,
         std::size_t most_runs)
      : best_{failing, {}, 0}, fails_(fails), most_runs_(most_runs) {}

  Minimised run() {
    while (round() && !exhausted()) {
    }
    return std::move(best_);
  }

 private:
  bool exhausted() const { return best_.runs >= most_runs_; }

  bool attempt(const Reduction& step) {
    if (exhausted()) return false;
    Scenario candidate = best_.scenario;
    if (!apply(step, candidate)) return false;
    ++best_.runs;
    if (!fails_(candidate)) return false;
    best_.scenario = std::move(candidate);
    best_.steps.push_back(step);
    return true;
  }

  // Tries the reduction at all places (such as flows), the last place first. So a removal does not
  // change the numbers of the places that have not been tried yet.
  bool everywhere(const ReductionKind& kind) {
    bool simpler = false;
    for (std::size_t place = kind.places; place > 0; --place) {
      // A reduction that worked may work at the same place again.
      while (attempt({kind.name, place - 1})) simpler = true;
    }
    return simpler;
  }

  // Tries to remove flows: first halves of all flows, then quarters, and so on down to single
  // flows.
  bool many_flows(const ReductionKind& kind) {
    bool simpler = false;
    for (std::size_t size = (kind.places + 1) / 2; size > 0; size /= 2) {
      std::size_t end = best_.scenario.flows.size();
      while (end >= size && end > 0) {
        if (attempt({kind.name, end - size, size})) simpler = true;
        end -= size;
      }
    }
    return simpler;
  }

  // Tries all kinds of reductions. Returns whether the scenario became simpler.
  bool round() {
    bool simpler = false;
    for (std::size_t i = 0; i < kinds_for(best_.scenario).size(); ++i) {
      // Compute the kinds again: a removal of flows leaves fewer places for the other kinds.
      const ReductionKind kind = kinds_for(best_.scenario)[i];
      const bool changed = kind.is_removal_of_flows ? many_flows(kind) : everywhere(kind);
      simpler = simpler || changed;
    }
    return simpler;
  }

  Minimised best_;
  const std::function<bool(const Scenario&)>& fails_;
  std::size_t most_runs_;
};

}  // namespace

Minimised minimise(const Scenario& failing, const std::function<bool(const Scenario&)>& fails,
                   std::size_t most_runs) {
  return Search(failing, fails, most_runs).run();
}

}  // namespace satrelay::sim
