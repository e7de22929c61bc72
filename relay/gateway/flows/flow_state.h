// The state of a flow: the progress of the handshake with its host, of its STP stream, and of the
// ends of its two directions.
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
//          |                              |
//          | note_over()                  | note_over()
//          v                              v
//       kFailed                         kOver        only TIME-WAIT is left, or nothing
//
// end_stream() may also be called in the first row, if the peer is gone. The ends of the two
// directions (HostEnd, FarEnd) progress independently of this diagram. FlowStore counts flows by
// their state, so FlowStore itself makes the changes of state that affect its counts.
#pragma once

#include <cstdint>

#include "pep/base/check.h"
#include "pep/base/image/image.h"
#include "relay/gateway/counters.h"

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
    kFailed = 6,
    kOver = 7,
  };
  // How far the end of our host's bytes has progressed.
  enum class HostEnd : std::uint8_t {
    kOpen,       // the host may send more
    kInStream,   // session.streams().finish() was called
    kDelivered,  // the peer's session has all bytes and the end
  };
  // Progress of the end of the far host's bytes, and then of the end of our host's connection.
  enum class FarEnd : std::uint8_t {
    kOpen,    // the far host may send more
    kPassed,  // endpoint.close() was called
    kClosed,  // the endpoint has closed, and the relay has handled that
  };

  constexpr FlowState() = default;
  constexpr FlowState(Value value) : value_(value) {}  // NOLINT(google-explicit-constructor)
  friend constexpr bool operator==(FlowState, FlowState) = default;

  // --- handshake and stream --------------------------------------------------------------------
  // The handshake with our host was completed.
  constexpr bool is_established() const { return (value_ & kComplete) != 0; }
  constexpr bool awaits_peer() const { return value_ == kAwaitsPeer; }
  constexpr bool has_stream() const { return (value_ & ~kComplete) == kOpening; }
  // The stream was released or reset, or could not be opened.
  constexpr bool has_lost_stream() const { return value_ >= kRefused; }
  constexpr bool is_over() const { return value_ >= kFailed; }

  void complete_handshake() { go_on(value_, static_cast<Value>(value_ | kComplete)); }
  void open_stream() {
    SATRELAY_DCHECK(!has_stream() && !has_lost_stream());
    enter(kOpening);
  }
  void end_stream() {
    if (!has_lost_stream()) enter(kRefused);
  }
  void note_over() { enter(kFailed); }

  // --- ends ------------------------------------------------------------------------------------
  constexpr HostEnd host_end() const { return host_end_; }
  void set_host_end(HostEnd next) { go_on(host_end_, next); }
  constexpr FarEnd far_end() const { return far_end_; }
  void set_far_end(FarEnd next) { go_on(far_end_, next); }
  constexpr bool has_passed_far_end() const { return far_end_ != FarEnd::kOpen; }
  // Why the flow has ended; kCount if it has not ended.
  constexpr Counter reason() const { return reason_; }
  void set_reason(Counter reason) { reason_ = reason; }

  // --- memory ----------------------------------------------------------------------------------
  // The flow has freed all memory that only an active flow needs.
  constexpr bool is_trimmed() const { return is_trimmed_; }
  void note_trimmed() { is_trimmed_ = true; }
  void note_active() { is_trimmed_ = false; }

  void image(Image& image) {
    image(is_trimmed_);
    image.at_most(kOver, value_);
    image.at_most(HostEnd::kDelivered, host_end_);
    image.at_most(FarEnd::kClosed, far_end_);
    image.at_most(Counter::kCount, reason_);
  }

 private:
  static constexpr unsigned kComplete = 1;

  void enter(Value row) { go_on(value_, static_cast<Value>(row | (value_ & kComplete))); }
  // Every change of a state or an end is made here.
  template <typename Phase>
  static void go_on(Phase& phase, Phase next) {
    SATRELAY_DCHECK(next >= phase);  // no state leads back to an earlier one
    phase = next;
  }

  Value value_ = kHandshake;
  HostEnd host_end_ = HostEnd::kOpen;
  FarEnd far_end_ = FarEnd::kOpen;
  Counter reason_ = Counter::kCount;
  bool is_trimmed_ = true;
};

}  // namespace satrelay::gateway
