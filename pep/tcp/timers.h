// The timers of one endpoint: an enum and a fixed table.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "pep/base/time.h"

namespace satrelay::tcp {

enum class Timer : std::uint8_t {
  kRetransmission,  // RFC 6298; SYN, data and FIN
  kProbe,           // RFC 8985: tail loss probe
  kReordering,      // RFC 8985: what is late may be lost
  kPersist,         // zero-window probes and the silly-window override
  kDelayedAck,
  kKeepAlive,
  kClose,  // TIME-WAIT, and a silent peer in FIN-WAIT-2
  kCount,
};

class Timers {
 public:
  Timers() { deadlines_.fill(Instant::never()); }

  void arm(Timer timer, Instant deadline) { at(timer) = deadline; }
  void cancel(Timer timer) { at(timer) = Instant::never(); }
  void cancel_all() { deadlines_.fill(Instant::never()); }
  bool armed(Timer timer) const { return !deadline(timer).is_never(); }
  Instant deadline(Timer timer) const { return deadlines_[static_cast<std::size_t>(timer)]; }
  // Whether `timer` is due; if so it is disarmed.
  bool expire(Timer timer, Instant now) {
    if (deadline(timer) > now) return false;
    cancel(timer);
    return true;
  }
  Instant next() const { return *std::min_element(deadlines_.begin(), deadlines_.end()); }

 private:
  Instant& at(Timer timer) { return deadlines_[static_cast<std::size_t>(timer)]; }
  std::array<Instant, static_cast<std::size_t>(Timer::kCount)> deadlines_;
};

}  // namespace satrelay::tcp
