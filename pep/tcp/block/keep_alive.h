// Keep-alive probes to a silent peer (RFC 9293 section 3.8.4). This class decides when to send a
// probe, and when to end the connection. start() sends several probes before the connection ends,
// because a single probe may be lost. ask_once() sends one probe, and the owner decides what to do
// if the peer does not answer.
#pragma once

#include <cstdint>

#include "pep/base/image/image.h"
#include "pep/base/time.h"

namespace satrelay::tcp {

class KeepAlive {
 public:
  static constexpr Duration kFirst = Duration::seconds(1);
  static constexpr std::uint8_t kProbes = 6;  // intervals double: the connection ends after 63 s

  // Whether the endpoint waits for an accepted segment of the peer, as the answer to a probe.
  bool asking() const { return probing() || listening_; }
  bool probing() const { return unanswered_ > 0; }
  bool listening() const { return listening_; }
  // Queues the first probe. Returns how long to wait for its answer.
  Duration start() {
    unanswered_ = 1;
    owed_ = true;
    return kFirst;
  }
  // Queues one probe, unless start() is already sending probes. listening() is true until
  // on_heard() is called.
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
