// The queue of events for one receiver, with the time of the next try. Uses no clock, no network
// and no threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "relay/metrics/webhook_counters.h"
#include "relay/satpanel/webhooks/backoff.h"

namespace satrelay::panel {

// One event on its way to the receiver. All tries send the same key and body. If the receiver
// accepted a try but its answer was lost, the receiver recognizes the next try by the key.
struct Delivery {
  std::string key;   // in the form "BOOT_EPOCH-NUMBER"
  std::string body;  // JSON
};

// The result of a try.
struct Answer {
  enum class Kind : std::uint8_t {
    kTaken,
    kRefused,  // another try would have the same result
    kFailed,
  };
  Kind kind = Kind::kFailed;
  std::string reason = {};  // reason for the log, such as "HTTP 503"
  std::optional<std::chrono::milliseconds> retry_after = {};
};

class DeliveryQueue {
 public:
  using Instant = std::chrono::steady_clock::time_point;

  static constexpr std::size_t kMostWaiting = 1000;
  // If an event could not be delivered for this long, it is dropped, so that it does not block
  // other events forever.
  static constexpr std::chrono::hours kLongestTrying{24};

  // `gateway` is the gateway's name in deliveries. `seed` is the seed of the random part of the
  // waits.
  DeliveryQueue(std::string gateway, std::uint64_t seed)
      : gateway_(std::move(gateway)), backoff_(seed) {}

  // Adds an event as the gateway reports it, with its boot epoch. If too many events wait, drops
  // the oldest, since the latest events describe the present state best.
  void push(nlohmann::ordered_json event);
  // Counts `count` events that were dropped before they reached this queue.
  void miss(std::uint64_t count);

  // Returns the delivery to try now, or nullptr if there is none. It stays valid until
  // handle_answer(), which must be called before the next poll.
  const Delivery* poll_delivery(Instant now);
  void handle_answer(const Answer& answer, Instant now);
  // Returns when to poll again, or Instant::max() if there is nothing to do before the next push().
  Instant next_timeout() const;

  metrics::WebhookCounters counters() const;

 private:
  void compose();
  void end_delivery();

  std::string gateway_;
  Backoff backoff_;
  std::deque<nlohmann::ordered_json> waiting_;
  std::optional<Delivery> current_;
  std::uint64_t left_out_ = 0;  // dropped events that no delivery has reported yet
  // The part of left_out_ that the current delivery reports.
  std::uint64_t left_out_of_current_ = 0;
  Instant next_try_ = Instant::min();
  std::optional<Instant> first_failure_;  // time of the first failed try of the current delivery
  metrics::WebhookCounters counters_;
};

}  // namespace satrelay::panel
