// Tells receivers of events, each in a thread of its own: one that is slow or away holds up neither
// the others nor who watches the gateway.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "relay/satpanel/observer.h"
#include "relay/satpanel/webhooks/hook.h"

namespace satrelay::panel {

class Webhooks {
 public:
  // Events that were a minute old when the panel started have been told by an earlier run of it, or
  // are no news: they are not sent.
  static constexpr std::uint64_t kOldestMs = 60'000;

  // `gateway`: what deliveries call it.
  Webhooks(std::vector<Hook> hooks, const std::string& gateway, const Observer& observer);
  Webhooks(const Webhooks&) = delete;
  Webhooks& operator=(const Webhooks&) = delete;
  ~Webhooks();

  // There are further events. Any thread; never waits for a receiver.
  void take_news();
  // A list with `name` and the counters of each. Any thread.
  Json counters() const;

 private:
  class Courier;

  const Observer& observer_;
  std::uint64_t since_ms_;
  std::vector<std::unique_ptr<Courier>> couriers_;
  std::mutex mutex_;        // guards what follows
  std::uint64_t next_ = 1;  // position among the observer's events
};

}  // namespace satrelay::panel
