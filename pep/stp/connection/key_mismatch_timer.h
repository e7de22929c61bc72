// Suspects that the peer has another secret, if HELLOs arrive in its name, and none of them can be
// opened. An attacker can send such HELLOs, so the suspicion is only reported to the operator.
#pragma once

#include <cstdint>

#include "pep/base/time.h"

namespace satrelay::stp {

class KeyMismatchTimer {
 public:
  // Minimum number of HELLOs in a row, none of which can be opened, that raise the suspicion. A
  // single such HELLO may be forged, or may be from before a change of the secret.
  static constexpr std::uint32_t kLeast = 3;
  // The suspicion ends after this time. For comparison: a peer that gets no answer sends one HELLO
  // per second.
  static constexpr Duration kFades = Duration::seconds(30);

  void on_unopened(Instant now) {
    if (now > last_ + kFades) count_ = 0;
    ++count_;
    last_ = now;
  }
  void on_heard() { count_ = 0; }
  bool holds(Instant now) const { return count_ >= kLeast && now <= last_ + kFades; }

 private:
  std::uint32_t count_ = 0;
  Instant last_;
};

}  // namespace satrelay::stp
