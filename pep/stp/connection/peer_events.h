// Events about the peer, in order and bounded. Events about streams wait in the streams themselves.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "pep/stp/types.h"

namespace satrelay::stp {

class PeerEvents {
 public:
  void push(Event::Kind kind) {
    // kCapacity says that the capacity has changed, but not to which value. So one waiting event
    // stands for all. A peer that sends many RATE frames pushes no other event out.
    if (kind == Event::Kind::kCapacity && holds(kind)) return;
    if (count_ == kinds_.size()) pop();  // the host does not poll; the newest events matter most
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
