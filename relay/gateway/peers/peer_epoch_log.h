// What becomes of all flows of a peer at once: it was started anew, or it has closed. As there may
// be very many, it reaches them one by one: each flow before anything else happens to it, and in
// any case soon (flow_relay_peer_epoch.cc).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace satrelay::gateway {

class PeerEpochLog {
 public:
  // With each the session has dropped its streams: what it has by their ids are others.
  enum class Kind : std::uint8_t { kRestarted, kClosed };

  // How many there were. A flow that began, or was looked at, at an earlier count has missed some.
  std::uint32_t count() const { return count_; }
  void add(Kind kind) {
    kinds_[count_ % kinds_.size()] = kind;
    ++count_;
  }
  // The first one after `seen`, which decides how the flow ends. Of very many the oldest are
  // forgotten.
  Kind first_after(std::uint32_t seen) const {
    constexpr auto kKept = static_cast<std::uint32_t>(std::tuple_size_v<decltype(kinds_)>);
    const std::uint32_t oldest = count_ - std::min(count_, kKept);
    return kinds_[std::max(seen, oldest) % kKept];
  }

 private:
  std::array<Kind, 8> kinds_{};
  std::uint32_t count_ = 0;
};

}  // namespace satrelay::gateway
