// The timers of one endpoint: an enum and a fixed table. The table is allocated only while it is
// needed.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "pep/base/image/image.h"
#include "pep/base/time.h"

namespace satrelay::tcp {

enum class Timer : std::uint8_t {
  kRetransmission,  // RFC 6298; for SYN, data and FIN
  kProbe,           // RFC 8985: tail loss probe
  kReordering,      // RFC 8985: check whether a late segment now counts as lost
  kPersist,         // zero-window probes and the silly-window override
  kDelayedAck,
  kKeepAlive,
  kClose,  // ends TIME-WAIT, and FIN-WAIT-2 if the peer is silent
  kCount,
};

// Whether the connection continues after a timer has expired, or must end.
enum class TimeoutOutcome : std::uint8_t { kContinues, kGivesUp };

class Timers {
 public:
  void arm(Timer timer, Instant deadline) {
    if (!deadlines_) {
      if (deadline.is_never()) return;
      deadlines_ = std::make_unique<Deadlines>();
      cancel_all();
    }
    at(timer) = deadline;
  }
  void cancel(Timer timer) {
    if (deadlines_) at(timer) = Instant::never();
  }
  void cancel_all() {
    if (deadlines_) deadlines_->fill(Instant::never());
  }
  bool armed(Timer timer) const { return !deadline(timer).is_never(); }
  Instant deadline(Timer timer) const {
    return deadlines_ ? (*deadlines_)[static_cast<std::size_t>(timer)] : Instant::never();
  }
  // Whether `timer` is due. If so, disarms it.
  bool expire(Timer timer, Instant now) {
    if (deadline(timer) > now) return false;
    cancel(timer);
    return true;
  }
  Instant next() const {
    return deadlines_ ? *std::min_element(deadlines_->begin(), deadlines_->end())
                      : Instant::never();
  }
  // Frees the table if no timer is armed.
  void trim() {
    if (next().is_never()) deadlines_.reset();
  }

  void image(Image& image) { image(deadlines_); }

 private:
  using Deadlines = std::array<Instant, static_cast<std::size_t>(Timer::kCount)>;
  Instant& at(Timer timer) { return (*deadlines_)[static_cast<std::size_t>(timer)]; }
  std::unique_ptr<Deadlines> deadlines_;  // allocated when the first timer is armed
};

}  // namespace satrelay::tcp
