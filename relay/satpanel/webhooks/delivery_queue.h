// The events that wait for one receiver, and the time of the next try. Knows no clock, no network
// and no thread.
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

// One event on its way. It stays the same in all tries. If a receiver took it, but the sender did
// not learn that, the receiver recognizes the next try by its key.
struct Delivery {
  std::string key;   // "BOOT_EPOCH-NUMBER"
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
  std::string reason = {};  // for the log: "HTTP 503"
  std::optional<std::chrono::milliseconds> retry_after = {};
};

class DeliveryQueue {
 public:
  using Instant = std::chrono::steady_clock::time_point;

  static constexpr std::size_t kMostWaiting = 1000;
  // After this time an event is given up, so that it does not block the others for ever.
  static constexpr std::chrono::hours kLongestTrying{24};

  // `gateway`: the gateway's name in deliveries. `seed`: for the jitter.
  DeliveryQueue(std::string gateway, std::uint64_t seed)
      : gateway_(std::move(gateway)), backoff_(seed) {}

  // Adds an event as the gateway reports it, with its boot epoch. If too many events wait, the
  // oldest is dropped: the latest events describe the state best.
  void push(nlohmann::ordered_json event);
  // `count` events were dropped before they came here.
  void miss(std::uint64_t count);

  // Returns the delivery to try now; nullptr if there is none. It is valid until handle_answer(),
  // which must be called before the next poll.
  const Delivery* poll_delivery(Instant now);
  void handle_answer(const Answer& answer, Instant now);
  // When to poll again; Instant::max(): not before the next push().
  Instant next_timeout() const;

  metrics::WebhookCounters counters() const;

 private:
  void compose();
  void end_delivery();

  std::string gateway_;
  Backoff backoff_;
  std::deque<nlohmann::ordered_json> waiting_;
  std::optional<Delivery> current_;
  std::uint64_t left_out_ = 0;             // dropped, and not reported by a delivery yet
  std::uint64_t left_out_of_current_ = 0;  // of these, reported by the current one
  Instant next_try_ = Instant::min();
  std::optional<Instant> first_failure_;  // of the current delivery
  metrics::WebhookCounters counters_;
};

}  // namespace satrelay::panel
