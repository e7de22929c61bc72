// Samples how long bytes of a host wait for the link. A sample watches the latest byte until it has
// left, and then the byte that is the latest. So a flow needs two words, however many of its bytes
// wait.
#pragma once

#include <cstdint>
#include <optional>

#include "pep/base/image/image.h"
#include "pep/base/time.h"

namespace satrelay::gateway {

class WaitSample {
 public:
  // Bytes have come. `gone` bytes of the flow have left before, and `waiting` bytes have not.
  void begin(std::uint64_t gone, std::uint64_t waiting, Instant now) {
    if (end_ != kNone || waiting == 0) return;
    end_ = gone + waiting;
    since_ = now;
  }
  // `gone` bytes of the flow have left by now. Returns how long the watched byte has waited, if it
  // is one of them.
  std::optional<Duration> end(std::uint64_t gone, Instant now) {
    if (gone < end_) return std::nullopt;
    end_ = kNone;
    return now - since_;
  }

  void image(Image& image) { image(end_, since_); }

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  std::uint64_t end_ = kNone;  // bytes of the flow up to the watched byte, included
  Instant since_;
};

}  // namespace satrelay::gateway
