// What becomes of all flows of a peer at once: it was started anew, it has closed, or it was silent
// for too long. As there may be very many, it reaches them one by one: each flow before anything
// else happens to it, and in any case soon (flow_relay_upheaval.cc).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace satrelay::gateway {

class Upheavals {
 public:
  enum class Kind : std::uint8_t {
    kRestarted,  // the session has dropped its streams
    kClosed,     // the same
    kLost,       // silent for too long: the session has its streams
  };

  // How many there were. A flow that began, or was looked at, at an earlier count has missed some.
  std::uint32_t count() const { return count_; }
  void add(Kind kind) {
    kinds_[count_ % kinds_.size()] = kind;
    ++count_;
    if (kind != Kind::kLost) streams_gone_ = count_;
  }
  // The first one after `seen`, which decides how the flow ends. Of very many the oldest are
  // forgotten.
  Kind first_after(std::uint32_t seen) const {
    constexpr auto kKept = static_cast<std::uint32_t>(std::tuple_size_v<decltype(kinds_)>);
    const std::uint32_t oldest = count_ - std::min(count_, kKept);
    return kinds_[std::max(seen, oldest) % kKept];
  }
  // Whether the session has dropped the streams of that time: what it has by their ids are others.
  bool streams_gone_after(std::uint32_t seen) const { return streams_gone_ > seen; }
  // The count when it did so last.
  std::uint32_t streams_gone() const { return streams_gone_; }

 private:
  std::array<Kind, 8> kinds_{};
  std::uint32_t count_ = 0;
  std::uint32_t streams_gone_ = 0;  // the count at the last one that dropped streams
};

}  // namespace satrelay::gateway
