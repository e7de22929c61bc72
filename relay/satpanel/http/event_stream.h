// The events as they happen, for one client (server-sent events of HTML).
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "relay/satpanel/http/http.h"
#include "relay/satpanel/observer.h"

namespace satrelay::panel {

class EventStream : public Stream {
 public:
  static constexpr std::chrono::hours kLongest{1};  // then the client connects again

  // `from`: position of the first event; 0: only new events. The stream ends when `may_stay`
  // returns false, and after `longest`.
  EventStream(const Observer& observer, std::uint64_t from, std::function<bool()> may_stay,
              std::chrono::nanoseconds longest = kLongest);
  std::optional<std::string> poll(std::size_t most) override;

 private:
  const Observer& observer_;
  std::uint64_t next_;
  std::function<bool()> may_stay_;
  std::chrono::steady_clock::time_point end_;
  std::string unsent_;
};

}  // namespace satrelay::panel
