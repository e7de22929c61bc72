// The latest events of a gateway by their numbers, for whoever asks: the stats socket reads what
// EventLog adds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "relay/ops/events/event.h"

namespace satrelay::ops {

// Any thread. Takes 9 MB at the most: its texts are cut.
class EventRing {
 public:
  static constexpr std::size_t kMostEvents = 10'000;
  static constexpr std::size_t kMostName = 64;  // characters of a subject, and of a user

  // `boot_epoch`: which run of the gateway this is (gateway::Identity). A number and it are unique.
  explicit EventRing(std::uint64_t boot_epoch) : boot_epoch_(boot_epoch) {}

  struct Numbers {
    std::uint64_t boot_epoch = 0;
    std::uint64_t oldest = 0;  // that is kept
    std::uint64_t latest = 0;  // less than the oldest: there are none
  };
  Numbers numbers() const;
  // Those from `first` on, or from the oldest if that is gone, `count` at the most; none if `first`
  // is of the future.
  std::vector<NumberedEvent> from(std::uint64_t first, std::size_t count) const;

  // Gives it its number. Of its texts printable ASCII is kept, up to kMostName or kMostEventText.
  std::uint64_t add(NumberedEvent event);

 private:
  std::uint64_t boot_epoch_;
  mutable std::mutex mutex_;  // guards what follows
  std::uint64_t latest_ = 0;
  std::deque<NumberedEvent> events_;  // without gaps, up to the latest
};

}  // namespace satrelay::ops
