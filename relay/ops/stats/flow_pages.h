// Pages of the listing of flows, for one client. Each query interrupts the worker, or wakes it. So
// a client that reads page after page gets several pages from one answer of the worker.
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
  // If a client reads consecutive pages, the worker describes this many flows in one answer.
  static constexpr std::size_t kAtOnce = 96;
  // The largest age of a page. Other data of the stats socket has the same limit.
  static constexpr std::chrono::milliseconds kFresh{100};

  // Asks the worker for flows [first, first + count). Returns nullopt if the worker does not
  // answer.
  using Ask = std::function<std::optional<std::vector<gateway::FlowSnapshot>>(std::size_t first,
                                                                              std::size_t count)>;

  // Returns up to `count` flows, beginning with position `first`. They come from the worker's last
  // answer, or from `ask` if that answer does not have them. An empty page means that there are no
  // more flows. Returns nullopt if the worker does not answer.
  std::optional<std::vector<gateway::FlowSnapshot>> page(std::size_t first, std::size_t count,
                                                         const Ask& ask, Clock::time_point now);

 private:
  std::size_t next_ = 0;   // position after the last flow of the last page
  std::size_t first_ = 0;  // position of the first flow in `told_`
  std::vector<gateway::FlowSnapshot> told_;
  Clock::time_point asked_at_;
};

}  // namespace satrelay::ops
