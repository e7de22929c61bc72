// The state of a flow: how far the handshake with its host and its STP stream have come.
//
//                 handshake complete
//      kHandshake -----------------> kAwaitsPeer     no stream yet
//          |                              |
//          | open_stream()                | open_stream()
//          v      handshake complete      v
//       kOpening --------------------> kTransfer     the stream is open
//          |                              |
//          | end_stream()                 | end_stream()
//          v      handshake complete      v
//       kRefused --------------------> kReleased     the session no longer knows the stream
//
// end_stream() may also come in the first row, if the peer is gone. The halves of the connection
// that are closed, and what else is left to do before the flow is removed, are members of Flow.
#pragma once

#include <cstdint>

#include "pep/base/check.h"

namespace satrelay::gateway {

class FlowState {
 public:
  enum Value : std::uint8_t {
    kHandshake = 0,
    kAwaitsPeer = 1,
    kOpening = 2,
    kTransfer = 3,
    kRefused = 4,
    kReleased = 5,
  };

  constexpr FlowState() = default;
  constexpr FlowState(Value value) : value_(value) {}  // NOLINT(google-explicit-constructor)
  friend constexpr bool operator==(FlowState, FlowState) = default;

  // The handshake with the host was completed.
  constexpr bool is_established() const { return (value_ & kComplete) != 0; }
  constexpr bool has_stream() const { return (value_ & ~kComplete) == kOpening; }
  // The stream was released or reset, or could not be opened.
  constexpr bool has_lost_stream() const { return (value_ & ~kComplete) == kRefused; }

  void complete_handshake() { set(static_cast<Value>(value_ | kComplete)); }
  void open_stream() {
    SATRELAY_DCHECK(!has_stream() && !has_lost_stream());
    set(static_cast<Value>(kOpening | (value_ & kComplete)));
  }
  void end_stream() { set(static_cast<Value>(kRefused | (value_ & kComplete))); }

 private:
  static constexpr unsigned kComplete = 1;

  // Each change passes here.
  void set(Value next) {
    SATRELAY_DCHECK(next >= value_);  // no arrow leads back
    value_ = next;
  }

  Value value_ = kHandshake;
};

}  // namespace satrelay::gateway
