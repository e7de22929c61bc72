// The state of one connection (RFC 9293 section 3.3.2), and why it has closed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "pep/base/image/image.h"
#include "pep/tcp/types.h"

namespace satrelay::tcp {

// Whether the state diagram (lifecycle.cc) leads from `from` to `to` in one step.
bool is_transition(State from, State to);

class Lifecycle {
 public:
  State state() const { return state_; }
  // kNone unless the connection closed before both directions had finished.
  CloseReason reason() const { return reason_; }
  // The handshake is complete, and the state is not CLOSED.
  bool is_synchronised() const {
    return state_ != State::kClosed && state_ != State::kSynSent && state_ != State::kSynReceived;
  }
  bool has_begun() const { return trace_size_ > 0; }
  bool is_over() const { return state_ == State::kClosed && has_begun(); }
  // The states that the connection has been in, oldest first, for messages and tests.
  std::span<const State> trace() const { return std::span(trace_).first(trace_size_); }

  // `next` must follow the current state in the diagram, or be kClosed.
  void set_state(State next);
  void close(CloseReason reason) {
    set_state(State::kClosed);
    reason_ = reason;
  }

  void image(Image& image) {
    image(reason_, trace_);
    image.at_most(State::kTimeWait, state_);
    image.at_most(kTraceSize, trace_size_);
  }

 private:
  static constexpr std::size_t kTraceSize = 10;  // no path through the state diagram is longer

  State state_ = State::kClosed;
  CloseReason reason_ = CloseReason::kNone;
  std::uint8_t trace_size_ = 0;
  std::array<State, kTraceSize> trace_{};
};

}  // namespace satrelay::tcp
