// Decides when a gap counts as a loss. It does if the missing packet is later than the tolerance:
// 5/4 of the greatest recent lateness, but at least 5 ms (RFC 8985 has a similar reordering
// window). On a path that keeps the order, three later packets are also enough.
#pragma once

#include <algorithm>
#include <cstdint>

#include "pep/base/time.h"
#include "pep/stp/numbers/sent_ledger.h"

namespace satrelay::stp {

class ReorderTolerance {
 public:
  static constexpr std::uint64_t kPackets = 3;
  static constexpr Duration kMinimum = Duration::milliseconds(5);

  // `lateness` is how late packets of this direction have recently arrived, as measured by their
  // receiver.
  void set_lateness(Duration lateness) {
    keeps_order_ = lateness <= Duration::zero();
    time_ = std::max(kMinimum, lateness * 5 / 4);
  }
  bool keeps_order() const { return keeps_order_; }
  Duration time() const { return time_; }

  // The lowest packet number from `oldest` on that cannot be declared lost yet. The packet
  // `highest` arrived `delay` before the report was made.
  std::uint64_t first_uncertain(std::uint64_t highest, Duration delay, std::uint64_t oldest,
                                const SentLedger& ledger) const {
    const std::uint64_t counted =
        keeps_order_ && highest + 1 > kPackets ? highest + 1 - kPackets : 0;
    const SentPacket* newest = ledger.find(highest);
    if (newest == nullptr) return counted;
    const Instant limit = newest->sent + delay - time_;
    std::uint64_t low = std::max(oldest, counted);
    std::uint64_t high = highest + 1;
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      const SentPacket* packet = ledger.find(middle);
      if (packet == nullptr || packet->sent <= limit) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

 private:
  bool keeps_order_ = true;
  Duration time_ = kMinimum;
};

}  // namespace satrelay::stp
