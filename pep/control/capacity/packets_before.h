// The last packets before a train, with which the train is compared.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "pep/base/time.h"
#include "pep/base/units.h"
#include "pep/control/rate_controller.h"

namespace satrelay::control {

class PacketsBefore {
 public:
  // Adds the newest packet of a report. `is_new` is false if an earlier report had the same packet.
  void add(const FeedbackSample& sample, bool is_new) {
    if (is_new) delays_[known_++ % delays_.size()] = sample.arrived - sample.sent;
    if (known_ >= 2 * delays_.size()) known_ -= delays_.size();
    number_ = sample.number;
    received_ = sample.received;
  }
  // Forgets all packets, and adds this one, which was sent after a train.
  void restart(const FeedbackSample& sample) {
    known_ = 0;
    add(sample, true);
  }
  bool empty() const { return known_ == 0; }
  // The median delay of the last three packets. At least one packet must be known.
  Duration usual_delay() const {
    std::array<Duration, 3> sorted = delays_;
    const std::size_t known = std::min(known_, sorted.size());
    std::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(known));
    return sorted[(known - 1) / 2];
  }
  std::uint64_t number() const { return number_; }
  ByteCount received() const { return received_; }

 private:
  std::array<Duration, 3> delays_{};  // a ring
  std::size_t known_ = 0;
  std::uint64_t number_ = 0;
  ByteCount received_;
};

}  // namespace satrelay::control
