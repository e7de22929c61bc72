#include "relay/ops/stats/flow_pages.h"

#include <algorithm>
#include <utility>

namespace satrelay::ops {

std::optional<std::vector<gateway::FlowSnapshot>> FlowPages::page(std::size_t first,
                                                                  std::size_t count, const Ask& ask,
                                                                  Clock::time_point now) {
  const bool goes_on = first != 0 && first == next_;
  const bool is_told = goes_on && first - first_ < told_.size() && now - asked_at_ < kFresh;
  if (!is_told) {
    auto told = ask(first, goes_on ? std::max(count, kAtOnce) : count);
    if (!told) return std::nullopt;
    told_ = std::move(*told);
    first_ = first;
    asked_at_ = now;
  }
  const auto begin = told_.begin() + static_cast<std::ptrdiff_t>(first - first_);
  const std::size_t size =
      std::min(count, static_cast<std::size_t>(std::distance(begin, told_.end())));
  next_ = first + size;
  return std::vector(begin, begin + static_cast<std::ptrdiff_t>(size));
}

}  // namespace satrelay::ops
