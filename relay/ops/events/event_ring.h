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

// Any thread. Takes at most 9 MB, since the texts are cut.
class EventRing {
 public:
  static constexpr std::size_t kMostEvents = 10'000;
  static constexpr std::size_t kMostName = 64;  // characters of a subject, and of a user

  // `boot_epoch`: identifies this run of the gateway (gateway::Identity). Together with a number it
  // is unique.
  explicit EventRing(std::uint64_t boot_epoch) : boot_epoch_(boot_epoch) {}

  struct Numbers {
    std::uint64_t boot_epoch = 0;
    std::uint64_t oldest = 0;  // oldest event that is kept
    std::uint64_t latest = 0;  // less than the oldest: no event is kept
  };
  Numbers numbers() const;
  // At most `count` events from `first` on, or from the oldest if `first` is gone. None if `first`
  // is in the future.
  std::vector<NumberedEvent> from(std::uint64_t first, std::size_t count) const;

  // Gives the event its number, and returns it. Keeps printable ASCII of its texts, up to kMostName
  // or kMostEventText characters.
  std::uint64_t add(NumberedEvent event);

 private:
  std::uint64_t boot_epoch_;
  mutable std::mutex mutex_;  // guards what follows
  std::uint64_t latest_ = 0;
  std::deque<NumberedEvent> events_;  // without gaps, ends with the latest
};

}  // namespace satrelay::ops
