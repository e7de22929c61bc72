// The pending events about the peer, in order. Their number is limited. Events about streams are
// kept in the streams.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "pep/stp/types.h"

namespace satrelay::stp {

class PeerEvents {
 public:
  void push(Event::Kind kind) {
    // kCapacity only says that the capacity has changed, so one pending event is enough for several
    // changes. Otherwise a peer that sends many RATE frames could displace other events.
    if (kind == Event::Kind::kCapacity && holds(kind)) return;
    // The relay has not polled events for long. Drop the oldest event, as the newest matter most.
    if (count_ == kinds_.size()) pop();
    kinds_[(first_ + count_) % kinds_.size()] = kind;
    ++count_;
  }
  bool empty() const { return count_ == 0; }
  std::optional<Event> pop() {
    if (count_ == 0) return std::nullopt;
    Event event;
    event.kind = kinds_[first_];
    first_ = (first_ + 1) % kinds_.size();
    --count_;
    return event;
  }

 private:
  bool holds(Event::Kind kind) const {
    for (std::size_t i = 0; i < count_; ++i) {
      if (kinds_[(first_ + i) % kinds_.size()] == kind) return true;
    }
    return false;
  }
  std::array<Event::Kind, 16> kinds_{};
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

}  // namespace satrelay::stp
