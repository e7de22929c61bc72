// Asking a silent peer whether it is still there, when the owner wants to know (RFC 9293 section
// 3.8.4): how often, and when to give up. One lost probe proves nothing.
#pragma once

#include <cstdint>

#include "pep/base/time.h"

namespace satrelay::tcp {

class KeepAlive {
 public:
  static constexpr Duration kFirst = Duration::seconds(1);
  static constexpr std::uint8_t kProbes = 6;  // with doubled waits: 63 s

  bool asking() const { return unanswered_ > 0; }
  // The first probe; how long to wait for its answer.
  Duration start() {
    unanswered_ = 1;
    owed_ = true;
    return kFirst;
  }
  // Anything from the peer is an answer.
  void on_heard() {
    unanswered_ = 0;
    owed_ = false;
  }
  // No answer came. The next probe, and how long to wait for its answer; zero: give up.
  Duration on_timeout() {
    if (unanswered_ == kProbes) return Duration::zero();
    owed_ = true;
    return kFirst * (1 << unanswered_++);
  }
  bool owed() const { return owed_; }
  bool take_owed() {
    const bool owed = owed_;
    owed_ = false;
    return owed;
  }

 private:
  std::uint8_t unanswered_ = 0;
  bool owed_ = false;
};

}  // namespace satrelay::tcp
