// A link direction in virtual time, with all frames that left it.
#pragma once

#include <cstdint>
#include <vector>

#include "relay/link/link_direction.h"

namespace satrelay::link {

inline constexpr std::uint32_t kOverhead = 38;
inline constexpr std::size_t kFullFrame = 1514;  // 1500 IP bytes, 1538 on the link

struct Arrival {
  FrameHandle frame;
  Instant at;
  std::optional<std::uint64_t> corrupt_bit;
};

class Harness {
 public:
  explicit Harness(const config::LinkDirection& config, std::uint64_t seed = 1,
                   std::size_t capacity = 100'000)
      : link(config, kOverhead, seed, capacity) {}

  LinkDirection::Fate offer(FrameHandle frame, std::size_t size = kFullFrame,
                            std::uint8_t priority = 0) {
    const LinkDirection::Fate fate = link.enqueue(frame, size, now, priority);
    collect_released();
    return fate;
  }
  // Advances the clock, and collects each frame at the instant at which it is due.
  void run_until(Instant end) {
    while (link.next_delivery() <= end && !link.next_delivery().is_never()) {
      now = later(now, link.next_delivery());
      while (const auto delivery = link.poll(now)) {
        arrivals.push_back({delivery->frame, now, delivery->corrupt_bit});
      }
      collect_released();
    }
    now = end;
  }
  void run_to_the_end() { run_until(now + Duration::seconds(100)); }
  // Offers `count` frames, numbered from 0, one every `interval`.
  void offer_stream(std::uint64_t count, Duration interval) {
    for (std::uint64_t i = 0; i < count; ++i) {
      offer(i);
      run_until(now + interval);
    }
    run_to_the_end();
  }

  void collect_released() {
    while (const auto frame = link.take_released()) released.push_back(*frame);
  }

  LinkDirection link;
  Instant now = Instant::from_nanoseconds(1'000'000'000);
  std::vector<Arrival> arrivals;
  std::vector<FrameHandle> released;  // dropped or lost after they were accepted
};

}  // namespace satrelay::link
