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

// Any thread may use the ring. It takes at most 11 MB, since it cuts long texts.
class EventRing {
 public:
  static constexpr std::size_t kMostEvents = 10'000;
  // The largest length of a subject or of a user's name, in characters.
  static constexpr std::size_t kMostName = 64;

  // `boot_epoch` identifies this run of the gateway (gateway::Identity). Numbers begin with 1 in
  // each run, but the pair of boot epoch and number is unique.
  explicit EventRing(std::uint64_t boot_epoch) : boot_epoch_(boot_epoch) {}

  struct Numbers {
    std::uint64_t boot_epoch = 0;
    std::uint64_t oldest = 0;  // number of the oldest event that is kept
    std::uint64_t latest = 0;  // number of the latest event; less than `oldest` if no event is kept
  };
  Numbers numbers() const;
  // Returns up to `count` events, beginning with number `first`. If that event is no longer kept,
  // begins with the oldest event. Returns an empty list if no event has the number `first` yet.
  std::vector<NumberedEvent> from(std::uint64_t first, std::size_t count) const;

  // Adds the event, and returns its number. Replaces the characters of its texts that are not
  // printable ASCII, and cuts the texts to kMostName or kMostEventText characters.
  std::uint64_t add(NumberedEvent event);

 private:
  std::uint64_t boot_epoch_;
  mutable std::mutex mutex_;  // guards all members below
  std::uint64_t latest_ = 0;
  std::deque<NumberedEvent> events_;  // have consecutive numbers; the last one is latest_
};

}  // namespace satrelay::ops
