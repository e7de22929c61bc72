// Pages of the listing of flows, for one client. A client that asks for page after page gets most
// of them from one answer of the worker: each question interrupts the worker, and wakes it if it
// waits.
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
  // Flows that the worker describes in one answer, at one instant, for a client that continues from
  // the page before.
  static constexpr std::size_t kAtOnce = 96;
  // Greatest age of a page, as for other data of the socket.
  static constexpr std::chrono::milliseconds kFresh{100};

  // Asks the worker for flows [first, first + count). nullopt: it does not answer.
  using Ask = std::function<std::optional<std::vector<gateway::FlowSnapshot>>(std::size_t first,
                                                                              std::size_t count)>;

  // Returns flows [first, first + count), as many as are known without another question, or as
  // `ask` returns. An empty page: there are no more.
  std::optional<std::vector<gateway::FlowSnapshot>> page(std::size_t first, std::size_t count,
                                                         const Ask& ask, Clock::time_point now);

 private:
  std::size_t next_ = 0;   // first flow behind the page before
  std::size_t first_ = 0;  // first flow of the worker's last answer
  std::vector<gateway::FlowSnapshot> told_;
  Clock::time_point asked_at_;
};

}  // namespace satrelay::ops
