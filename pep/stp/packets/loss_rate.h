// The share of our packets that the path loses, over about the last 10,000.
#pragma once

#include <algorithm>
#include <cstdint>

namespace satrelay::stp {

class LossRate {
 public:
  // Packets that count; what is older fades.
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
  // Of those lost, so many were not lost by the path.
  void on_excused(std::uint64_t packets) {
    losses_ = std::max(0.0, losses_ - static_cast<double>(packets));
  }
  // Of those delivered, or about to be: so many were lost and calculated from repairs.
  void on_repaired(std::uint64_t packets) { losses_ += static_cast<double>(packets); }

  // Whether anything is known of what became of them.
  bool known() const { return packets_ > 0; }
  // 0 to 1.
  double ratio() const { return known() ? std::min(1.0, losses_ / packets_) : 0; }

 private:
  double packets_ = 0;
  double losses_ = 0;
};

}  // namespace satrelay::stp
