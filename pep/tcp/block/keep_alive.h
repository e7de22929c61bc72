// Asks a silent peer whether it is still there, if the owner wants to know (RFC 9293 section
// 3.8.4). This class says when to send a probe, and when to end the connection. One lost probe
// proves nothing, so start() leads to several probes. After ask_once() there is one probe, and the
// owner decides what silence means.
#pragma once

#include <cstdint>

#include "pep/base/image/image.h"
#include "pep/base/time.h"

namespace satrelay::tcp {

class KeepAlive {
 public:
  static constexpr Duration kFirst = Duration::seconds(1);
  static constexpr std::uint8_t kProbes = 6;  // intervals double: the connection ends after 63 s

  // Whether the endpoint waits for an accepted segment of the peer.
  bool asking() const { return probing() || listening_; }
  bool probing() const { return unanswered_ > 0; }
  bool listening() const { return listening_; }
  // Queues the first probe. Returns how long to wait for its answer.
  Duration start() {
    unanswered_ = 1;
    owed_ = true;
    return kFirst;
  }
  // Queues one probe, unless the probes of start() are under way. listening() holds until
  // on_heard().
  void ask_once() {
    listening_ = true;
    if (!probing()) owed_ = true;
  }
  // Any accepted segment of the peer is an answer.
  void on_heard() {
    unanswered_ = 0;
    owed_ = false;
    listening_ = false;
  }
  // The probe was not answered. Queues the next probe and returns how long to wait for its answer.
  // Zero means that all probes are used up, and that the connection must end.
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

  void image(Image& image) {
    unanswered_ = image.same(unanswered_) & 0x3fU;
    owed_ = image.same(owed_);
    listening_ = image.same(listening_);
  }

 private:
  std::uint8_t unanswered_ : 6 = 0;
  bool owed_ : 1 = false;
  bool listening_ : 1 = false;
};

}  // namespace satrelay::tcp
