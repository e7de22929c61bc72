// Logs events that concern all flows of a peer: the peer has restarted, or has closed. There may be
// very many flows, so not all flows handle an event at once. Each flow handles the event before
// anything else happens to the flow (flows/transfer/peer_epochs.h).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace satrelay::gateway {

class PeerEpochLog {
 public:
  // At each event the session drops its streams. Later streams may have the same ids.
  enum class Kind : std::uint8_t { kRestarted, kClosed };

  // The number of events so far. A flow records this number when it handles an event
  // (EventsHandled::epochs); if it has recorded a smaller number, it has missed some events.
  std::uint32_t count() const { return count_; }
  void add(Kind kind) {
    kinds_[count_ % kinds_.size()] = kind;
    ++count_;
  }
  // The event that comes first after `seen` events. For a flow that has handled `seen` events, this
  // event decides how the flow ends. Only the latest eight events are kept.
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
