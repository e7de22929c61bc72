// Sends events to one client as they happen, as server-sent events (HTML standard).
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "relay/satpanel/http/http.h"
#include "relay/satpanel/observer.h"

namespace satrelay::panel {

class EventStream : public Stream {
 public:
  // How long a stream lasts before the client must connect again.
  static constexpr std::chrono::hours kLongest{1};

  // `from` is the position of the first event; 0 means only new events. The stream ends when
  // `may_stay` returns false, or after `longest`.
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
