// NewReno: growth and reduction of RFC 5681, one reduction per recovery episode (RFC 6582), initial
// window of RFC 6928. It counts bytes (RFC 3465). Its samples contain delivered bytes and the bytes
// in flight, so it needs no window inflation: the sender's pipe (RFC 6675) has the same effect.
#pragma once

#include "pep/base/image/image.h"
#include "pep/control/window_controller.h"

namespace satrelay::control {

class NewReno final : public WindowController {
 public:
  explicit NewReno(std::uint32_t segment_size);

  void on_ack(const AckSample& sample) override;
  void on_loss(const LossSample& sample) override;
  void on_recovery_exit(Instant now) override;
  void on_timeout(const LossSample& sample) override;
  void on_idle_restart() override;
  void set_segment_size(std::uint32_t segment_size) override;
  std::uint64_t window() const override { return window_; }
  std::uint64_t slow_start_threshold() const override { return threshold_; }

  void image(Image& image) override {
    image(segment_, initial_, window_, threshold_, credit_, after_timeout_);
  }

 private:
  std::uint64_t halved(std::uint64_t flight) const;
  void grow_slow_start(std::uint64_t bytes);
  void grow_avoidance(std::uint64_t bytes);

  std::uint64_t segment_;
  std::uint64_t initial_;
  std::uint64_t window_;
  std::uint64_t threshold_;
  std::uint64_t credit_ = 0;    // bytes acknowledged towards the next segment of growth
  bool after_timeout_ = false;  // in slow start after an RTO; ACKs may cover earlier data
};

}  // namespace satrelay::control
