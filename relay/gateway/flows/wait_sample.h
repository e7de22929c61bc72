// How long bytes of a host wait for the link, by samples: the latest byte is watched until it has
// left, then the latest one again. So a flow costs two words, however many of its bytes wait.
#pragma once

#include <cstdint>
#include <optional>

#include "pep/base/time.h"

namespace satrelay::gateway {

class WaitSample {
 public:
  // Bytes have come, `waiting` of them are to go yet, after `gone` of the flow.
  void begin(std::uint64_t gone, std::uint64_t waiting, Instant now) {
    if (end_ != kNone || waiting == 0) return;
    end_ = gone + waiting;
    since_ = now;
  }
  // `gone` bytes of the flow are gone now: how long the one that is watched has waited, if it is
  // among them.
  std::optional<Duration> end(std::uint64_t gone, Instant now) {
    if (gone < end_) return std::nullopt;
    end_ = kNone;
    return now - since_;
  }

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  std::uint64_t end_ = kNone;  // of the bytes up to the one that is watched
  Instant since_;
};

}  // namespace satrelay::gateway
