// The share of our packets that the path loses, measured over about the last 10,000 packets.
#pragma once

#include <algorithm>
#include <cstdint>

namespace satrelay::stp {

class LossRate {
 public:
  // Number of packets in the average. The weight of older packets fades.
  static constexpr double kWindow = 10'000;

  void on_delivered(std::uint64_t packets) {
    packets_ += static_cast<double>(packets);
    if (packets_ <= kWindow) return;
    losses_ *= kWindow / packets_;
    packets_ = kWindow;
  }
  void on_lost(std::uint64_t packets) {
    packets_ += static_cast<double>(packets);
    losses_ += static_cast<double>(packets);
  }
  // Reduces the count of losses by `packets`, as these packets were not lost by the path.
  void on_excused(std::uint64_t packets) {
    losses_ = std::max(0.0, losses_ - static_cast<double>(packets));
  }
  // Counts `packets` packets that the path lost, and that were recovered with repairs.
  // on_delivered() also counts them as delivered, before or after this call.
  void on_repaired(std::uint64_t packets) { losses_ += static_cast<double>(packets); }

  // Whether at least one packet was counted.
  bool known() const { return packets_ > 0; }
  // From 0 to 1.
  double ratio() const { return known() ? std::min(1.0, losses_ / packets_) : 0; }

 private:
  double packets_ = 0;
  double losses_ = 0;
};

}  // namespace satrelay::stp
