// Window control of one direction: how much data may be in flight in the network. A controller of
// pep/control computes the congestion window (RFC 5681, RFC 9438). This class decides when the
// controller is created and freed, when an idle time restarts the window (RFC 5681 section 4.1),
// and when to tell the peer of a reduction (CWR, RFC 3168 section 6.1.2).
//
// This class gets samples, and knows neither segments nor timers. LossRecovery decides which
// signals of congestion count. Sizes are in bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "pep/base/image/image.h"
#include "pep/base/time.h"
#include "pep/control/window_controller.h"

namespace satrelay::tcp {

class WindowControl {
 public:
  void image(Image& image) {
    image(last_sent_, segment_size_, congestion_, reduction_to_tell_);
    image.owned(controller_,
                [this] { return control::make_window_controller(congestion_, segment_size_); });
  }
  // `segment_size` is the usual payload of a segment.
  void establish(control::Congestion congestion, std::uint32_t segment_size) {
    congestion_ = congestion;
    segment_size_ = segment_size;
  }
  bool is_established() const { return segment_size_ > 0; }
  std::uint32_t segment_size() const { return segment_size_; }
  // Frees the controller of an idle sender if there was no loss, as a new controller would be
  // equal.
  void trim() {
    if (controller_ && controller_->slow_start_threshold() == control::kNoThreshold) {
      controller_.reset();
    }
  }

  // The congestion window; 0 before establish().
  std::uint64_t window() const {
    return controller_ ? controller_->window() : control::initial_window(segment_size_);
  }
  // Whether `size` more bytes may be sent while `pipe` bytes are in the network.
  bool allows(std::uint64_t pipe, std::uint64_t size) const {
    return pipe == 0 || pipe + size <= window();
  }

  // To be called before new data is sent while nothing is outstanding. Returns to the initial
  // window if nothing was sent for longer than `rto`.
  void on_restart(Duration rto, Instant now) {
    if (last_sent_ + rto < now && controller_) controller_->on_idle_restart();
  }
  void on_sent(Instant now) { last_sent_ = now; }

  // --- the path, as acknowledgments and timers show it -------------------------------------------
  void on_ack(const control::AckSample& sample) { controller().on_ack(sample); }
  // Call for a loss, or for another signal of congestion with the same weight.
  void on_loss(const control::LossSample& sample) {
    controller().on_loss(sample);
    reduction_to_tell_ = true;
  }
  // Call for an ECN echo. If `in_recovery`, the window has already been reduced for the same
  // congestion.
  void on_congestion_echo(const control::LossSample& sample, bool in_recovery) {
    if (!in_recovery) controller().on_loss(sample);
    reduction_to_tell_ = true;
  }
  void on_timeout(const control::LossSample& sample) {
    controller().on_timeout(sample);
    reduction_to_tell_ = true;
  }
  void on_recovery_exit(Instant now) { controller().on_recovery_exit(now); }
  // Call when the path carries only smaller segments from now on.
  void set_segment_size(std::uint32_t segment_size) {
    controller().set_segment_size(segment_size);
    segment_size_ = segment_size;
  }

  // The window was reduced, and the peer must be told by the CWR flag on the next new data.
  bool has_reduction_to_tell() const { return reduction_to_tell_; }
  bool take_reduction_to_tell() { return std::exchange(reduction_to_tell_, false); }

 private:
  control::WindowController& controller() {
    if (!controller_) [[unlikely]]
      controller_ = control::make_window_controller(congestion_, segment_size_);
    return *controller_;
  }

  // Created when it is first needed, usually for the first ACK of data.
  std::unique_ptr<control::WindowController> controller_;
  Instant last_sent_;
  std::uint32_t segment_size_ = 0;
  control::Congestion congestion_ = control::Congestion::kCubic;
  bool reduction_to_tell_ = false;
};

}  // namespace satrelay::tcp
