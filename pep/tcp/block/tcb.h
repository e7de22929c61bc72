// The control block of one connection (TCB, RFC 9293 section 3.3.1), which holds all its state.
// Each part guards its own state. The functions in the other folders (opening/, input/, output/
// ...) do the work that concerns several parts. They get the block as an argument, and keep no
// state.
#pragma once

#include <cstdint>
#include <utility>

#include "pep/base/arena.h"
#include "pep/base/image/image.h"
#include "pep/base/time.h"
#include "pep/tcp/block/lifecycle.h"
#include "pep/tcp/block/opening.h"
#include "pep/tcp/block/questions.h"
#include "pep/tcp/block/reset.h"
#include "pep/tcp/challenge_limit.h"
#include "pep/tcp/ecn.h"
#include "pep/tcp/environment.h"
#include "pep/tcp/negotiation.h"
#include "pep/tcp/receiving/receiver.h"
#include "pep/tcp/sending/sender.h"
#include "pep/tcp/sequence_space.h"
#include "pep/tcp/timestamps.h"
#include "pep/tcp/types.h"

namespace satrelay::tcp {

struct Tcb {
  Tcb(const Config& config, Environment environment)
      : around(std::move(environment)),
        sender(*around.common),
        receiver(config, around.arena()),
        timestamps(config.timestamp_offset),
        send_space(config.initial_sequence) {}

  const Profile& profile() const { return around.profile(); }
  Counters& counters() const { return around.counters(); }
  Timers& timers() { return around.timers; }
  Announced announced() const { return {around.mss, profile().window_scale}; }
  State state() const { return lifecycle.state(); }
  // The timestamps of a segment: the value of our clock, and the value of the peer's clock that we
  // echo.
  wire::TcpTimestamps stamp(Instant now) const {
    return {timestamps.value(now), timestamps.recent()};
  }
  // The window that we advertised last, less the bytes received since, in bytes.
  std::uint64_t receive_window() const {
    const std::uint64_t told = receiver.window().told();
    return told > receiver.next() ? told - receiver.next() : 0;
  }

  void image(Image& image) {
    image(around, sender, receiver, opening, negotiation, last_ack_sent, questions, lifecycle,
          timestamps, send_space, receive_space, reset, challenges, ecn, last_ack_is_ours);
  }

  Environment around;
  Sender sender;
  Receiver receiver;
  // The attribute lets the member after `opening`, and the member after `questions`, use the tail
  // padding of these two.
  [[no_unique_address]] Opening opening;
  Negotiation negotiation;
  std::uint64_t last_ack_sent = 0;  // the stream position of the last ACK number sent
  [[no_unique_address]] Questions questions;
  Lifecycle lifecycle;
  Timestamps timestamps;
  SequenceSpace send_space;
  SequenceSpace receive_space;
  Reset reset;  // the reset to send next, if any
  ChallengeLimit challenges;
  Ecn ecn;
  // We held back the ACK of the peer's FIN until after our own FIN. So this ACK is the last segment
  // of the connection, and TIME-WAIT must follow.
  bool last_ack_is_ours = false;
};

}  // namespace satrelay::tcp
