// Pages of the listing of flows, for one client. Who asks for one after the other gets most of them
// from what the worker has told at once: each question interrupts it, and wakes whoever waits.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "relay/gateway/snapshot.h"

namespace satrelay::ops {

class FlowPages {
 public:
  using Clock = std::chrono::steady_clock;
  // Flows that the worker describes at once, of one instant, for who goes on from the page before.
  static constexpr std::size_t kAtOnce = 96;
  // A page is no older than what is told otherwise.
  static constexpr std::chrono::milliseconds kFresh{100};

  // Flows [first, first + count), as told by the worker; nullopt: it does not answer.
  using Ask = std::function<std::optional<std::vector<gateway::FlowSnapshot>>(std::size_t first,
                                                                              std::size_t count)>;

  // As many of flows [first, first + count) as are known without another question, or what `ask`
  // says. None: there are no more.
  std::optional<std::vector<gateway::FlowSnapshot>> page(std::size_t first, std::size_t count,
                                                         const Ask& ask, Clock::time_point now);

 private:
  std::size_t next_ = 0;   // behind the page before
  std::size_t first_ = 0;  // of what was told last
  std::vector<gateway::FlowSnapshot> told_;
  Clock::time_point asked_at_;
};

}  // namespace satrelay::ops
