// Logs events that concern all flows of a peer: the peer has restarted, or has closed. There may be
// very many flows, so they handle an event one by one. Each flow handles it before anything else
// happens to the flow, and soon in any case (flows/transfer/peer_epochs.h).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace satrelay::gateway {

class PeerEpochLog {
 public:
  // At each event the session drops its streams. Later streams with the same ids are other streams.
  enum class Kind : std::uint8_t { kRestarted, kClosed };

  // The number of events so far. A flow records this number when it handles an event
  // (EventsHandled::epochs); if it has recorded a smaller number, it has missed some events.
  std::uint32_t count() const { return count_; }
  void add(Kind kind) {
    kinds_[count_ % kinds_.size()] = kind;
    ++count_;
  }
  // The first event after a flow has handled `seen` events. It decides how the flow ends. Only the
  // latest eight events are kept.
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
