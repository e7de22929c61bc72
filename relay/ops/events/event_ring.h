// The latest events of a gateway, by their numbers. EventLog adds them, and the stats socket reads
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "relay/ops/events/event.h"

namespace satrelay::ops {

// Any thread may use it. It takes at most 9 MB, since it cuts the texts.
class EventRing {
 public:
  static constexpr std::size_t kMostEvents = 10'000;
  // The largest length of a subject or a user, in characters.
  static constexpr std::size_t kMostName = 64;

  // `boot_epoch`: identifies this run of the gateway (gateway::Identity). The pair of boot epoch
  // and number is unique.
  explicit EventRing(std::uint64_t boot_epoch) : boot_epoch_(boot_epoch) {}

  struct Numbers {
    std::uint64_t boot_epoch = 0;
    std::uint64_t oldest = 0;  // oldest event that is kept
    std::uint64_t latest = 0;  // less than `oldest` if no event is kept
  };
  Numbers numbers() const;
  // Returns up to `count` events from number `first` on, or from the oldest event if `first` is no
  // longer kept. Returns none if no event has the number `first` yet.
  std::vector<NumberedEvent> from(std::uint64_t first, std::size_t count) const;

  // Adds the event, and returns its number. Replaces characters of its texts that are not printable
  // ASCII, and cuts the texts to kMostName or kMostEventText characters.
  std::uint64_t add(NumberedEvent event);

 private:
  std::uint64_t boot_epoch_;
  mutable std::mutex mutex_;  // guards what follows
  std::uint64_t latest_ = 0;
  std::deque<NumberedEvent> events_;  // with consecutive numbers up to latest_
};

}  // namespace satrelay::ops
