// Samples how long bytes of a host wait for the link. A sample measures one byte: the last byte
// that had arrived when the sample began. The sample ends when this byte was sent, and another
// sample can begin. So a flow needs only two words of memory, however many of its bytes wait.
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
  // `gone` is the number of the flow's bytes that were sent by now. If the sampled byte is among
  // them, returns how long it has waited.
  std::optional<Duration> end(std::uint64_t gone, Instant now) {
    if (gone < end_) return std::nullopt;
    end_ = kNone;
    return now - since_;
  }

  void image(Image& image) { image(end_, since_); }

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  std::uint64_t end_ = kNone;  // number of the flow's bytes up to and including the sampled byte
  Instant since_;
};

}  // namespace satrelay::gateway
