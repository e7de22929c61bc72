// CUBIC (RFC 9438): the window is a cubic function of the time since the last reduction, and is
// never smaller than the window that Reno would have reached (section 4.3). Windows are bytes; the
// cubic itself counts segments, as the RFC does. HyStart++ is not used, because the LAN is short
// and slow start ends at the host's window.
#pragma once

#include "pep/base/image/image.h"
#include "pep/control/window_controller.h"

namespace satrelay::control {

class Cubic final : public WindowController {
 public:
  explicit Cubic(std::uint32_t segment_size);

  void on_ack(const AckSample& sample) override;
  void on_loss(const LossSample& sample) override;
  void on_recovery_exit(Instant now) override;
  void on_timeout(const LossSample& sample) override;
  void on_idle_restart() override;
  void set_segment_size(std::uint32_t segment_size) override;
  std::uint64_t window() const override { return window_; }
  std::uint64_t slow_start_threshold() const override { return threshold_; }

  void image(Image& image) override {
    image(segment_, initial_, window_, threshold_, prior_window_, largest_window_, credit_, epoch_,
          last_ack_, after_timeout_);
  }

 private:
  // The congestion avoidance stage since the last reduction, in segments and seconds.
  struct Epoch {
    bool begun = false;
    Duration length;      // time in which the window was in use
    double k = 0;         // seconds until the cubic reaches `origin`
    double origin = 0;    // W_max
    double friendly = 0;  // W_est
    void image(Image& image) { image(begun, length, k, origin, friendly); }
  };
  std::uint64_t reduced(std::uint64_t flight) const;
  void begin_epoch();
  void grow_avoidance(std::uint64_t bytes, Duration rtt);
  double segments(std::uint64_t bytes) const {
    return static_cast<double>(bytes) / static_cast<double>(segment_);
  }

  std::uint64_t segment_;
  std::uint64_t initial_;
  std::uint64_t window_;
  std::uint64_t threshold_;
  std::uint64_t prior_window_ = 0;    // cwnd_prior
  std::uint64_t largest_window_ = 0;  // W_max; 0 before the first reduction and after a timeout
  double credit_ = 0;                 // growth that is not yet a whole byte
  Epoch epoch_;
  Instant last_ack_ = Instant::never();
  bool after_timeout_ = false;  // in slow start after an RTO; ACKs may cover earlier data
};

}  // namespace satrelay::control
