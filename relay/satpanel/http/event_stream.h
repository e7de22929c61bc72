// The events as they happen, for one client (Server-sent events, as HTML has them).
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "relay/satpanel/http/http.h"
#include "relay/satpanel/observer.h"

namespace satrelay::panel {

class EventStream : public Stream {
 public:
  static constexpr std::chrono::hours kLongest{1};  // then the client connects anew

  // From this position on; 0: from now on. It ends once `may_stay` says no, and after `longest`.
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
