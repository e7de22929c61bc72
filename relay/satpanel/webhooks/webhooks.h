// Sends events to receivers, with one thread for each receiver. So a receiver that is slow or does
// not answer delays neither the other receivers nor the observer.
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
  // Events that were older than this when the panel started are not sent: either an earlier run of
  // the panel has sent them, or they are no longer news.
  static constexpr std::uint64_t kOldestMs = 60'000;

  // `gateway` is the gateway's name in deliveries.
  Webhooks(std::vector<Hook> hooks, const std::string& gateway, const Observer& observer);
  Webhooks(const Webhooks&) = delete;
  Webhooks& operator=(const Webhooks&) = delete;
  ~Webhooks();

  // Takes the new events from the observer, and never waits for a receiver. Any thread may call
  // this.
  void take_news();
  // Returns a list with the name and the counters of each receiver. Any thread may call this.
  Json counters() const;

 private:
  class Courier;

  const Observer& observer_;
  std::uint64_t since_ms_;
  std::vector<std::unique_ptr<Courier>> couriers_;
  std::mutex mutex_;        // guards the following member
  std::uint64_t next_ = 1;  // position of the next event to take from the observer
};

}  // namespace satrelay::panel
