// Records for which packets repairs were sent, and when the last repair was sent. A packet that a
// report calls missing is not lost yet if a repair for it may still have been in flight.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "pep/base/containers/range_set.h"
#include "pep/base/time.h"

namespace satrelay::stp {

class RepairHistory {
 public:
  void on_repair(const Range& packets, Instant now) {
    if (store_ == nullptr) store_ = std::make_unique<Store>();
    const bool goes_on = count_ > 0 && newest().packets.begin == packets.begin;
    if (!goes_on) ++count_;
    newest() = {packets, now};
  }
  // The packets with repairs that may still have been in flight at `then`, when the receiver wrote
  // a report. The ranges are ascending. Valid until the next call.
  std::span<const Range> repairable(Instant then) {
    if (count_ == 0) return {};
    std::size_t begin = kKept;
    const std::size_t oldest = count_ > kKept ? count_ - kKept : 0;
    for (std::size_t i = count_; i > oldest; --i) {
      const Sent& sent = store_->sent[(i - 1) % kKept];
      if (sent.last_repair <= then) break;
      store_->repairable[--begin] = sent.packets;
    }
    return std::span(store_->repairable).subspan(begin);
  }
  void clear() {
    count_ = 0;
    store_.reset();
  }

 private:
  // Enough for windows of 64 packets during a round trip at 1 Gbit/s.
  static constexpr std::size_t kKept = 1024;
  struct Sent {
    Range packets;
    Instant last_repair;
  };
  Sent& newest() { return store_->sent[(count_ - 1) % kKept]; }

  struct Store {
    std::array<Sent, kKept> sent;  // a ring
    std::array<Range, kKept> repairable;
  };
  std::unique_ptr<Store> store_;  // allocated for the first repair
  std::size_t count_ = 0;
};

}  // namespace satrelay::stp
