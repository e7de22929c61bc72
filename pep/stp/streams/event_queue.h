// Events about the peer, in order and bounded; those about streams wait in the streams themselves.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "pep/stp/types.h"

namespace satrelay::stp {

class PeerEvents {
 public:
  void push(Event::Kind kind) {
    // It says that something else is so now, not what: one that waits says it for all. A peer that
    // sends many drives nothing out, and is dealt with once.
    if (kind == Event::Kind::kCapacity && holds(kind)) return;
    if (count_ == kinds_.size()) pop();  // the host does not poll: the newest matter most
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
