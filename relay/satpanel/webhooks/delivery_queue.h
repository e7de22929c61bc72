// The events that wait for one receiver, and when the next is tried. Knows no clock, no network and
// no thread.
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

// One event on its way. It stays the same for all its tries, so that a receiver that has taken it
// without our knowledge knows it again by its key.
struct Delivery {
  std::string key;   // "BOOT_EPOCH-NUMBER"
  std::string body;  // JSON
};

// What came of a try.
struct Answer {
  enum class Kind : std::uint8_t {
    kTaken,
    kRefused,  // and it would be the same the next time
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
  // An event that is never taken does not hold up the others for ever.
  static constexpr std::chrono::hours kLongestTrying{24};

  // `gateway`: what its deliveries call it. `seed`: of the jitter.
  DeliveryQueue(std::string gateway, std::uint64_t seed)
      : gateway_(std::move(gateway)), backoff_(seed) {}

  // An event as the gateway tells it, with its boot epoch. If too many wait, the oldest of them is
  // dropped: the latest say how things stand.
  void push(nlohmann::ordered_json event);
  // So many were dropped before they came here.
  void miss(std::uint64_t count);

  // What is to be tried now; nullptr: nothing. It is valid up to handle_answer(), which must follow
  // before the next one.
  const Delivery* poll_delivery(Instant now);
  void handle_answer(const Answer& answer, Instant now);
  // When to poll again; Instant::max(): not before push().
  Instant next_timeout() const;

  metrics::WebhookCounters counters() const;

 private:
  void compose();
  void end_delivery();

  std::string gateway_;
  Backoff backoff_;
  std::deque<nlohmann::ordered_json> waiting_;
  std::optional<Delivery> current_;
  std::uint64_t left_out_ = 0;             // dropped since the last delivery that has told so
  std::uint64_t left_out_of_current_ = 0;  // that the current one tells of
  Instant next_try_ = Instant::min();
  std::optional<Instant> first_failure_;  // of the current one
  metrics::WebhookCounters counters_;
};

}  // namespace satrelay::panel
