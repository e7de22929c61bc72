// Samples how long bytes of a host wait for the link. A sample watches the byte that arrived last
// until that byte was sent, and then watches the byte that is the last at that time. So a flow
// needs only two words of memory, however many of its bytes wait.
#pragma once

#include <cstdint>
#include <optional>

#include "pep/base/image/image.h"
#include "pep/base/time.h"

namespace satrelay::gateway {

class WaitSample {
 public:
  // Call this when bytes have arrived. `gone` bytes of the flow were sent before, and `waiting`
  // bytes were not.
  void begin(std::uint64_t gone, std::uint64_t waiting, Instant now) {
    if (end_ != kNone || waiting == 0) return;
    end_ = gone + waiting;
    since_ = now;
  }
  // `gone` bytes of the flow were sent by now. Returns how long the watched byte has waited, if it
  // is among those bytes.
  std::optional<Duration> end(std::uint64_t gone, Instant now) {
    if (gone < end_) return std::nullopt;
    end_ = kNone;
    return now - since_;
  }

  void image(Image& image) { image(end_, since_); }

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  std::uint64_t end_ = kNone;  // number of bytes of the flow up to and including the watched byte
  Instant since_;
};

}  // namespace satrelay::gateway
