// One segment that header prediction has not taken, in the order of checks of RFC 9293 section
// 3.10.7.
#pragma once

#include "pep/base/time.h"
#include "pep/tcp/block/tcb.h"
#include "pep/tcp/segments/placement.h"
#include "pep/tcp/types.h"
#include "pep/wire/tcp.h"

namespace satrelay::tcp {

class Arrival {
 public:
  // `tcb` and `segment` outlive the object.
  Arrival(Tcb& tcb, const Segment& segment, Instant now)
      : tcb_(tcb), header_(*segment.header), segment_(segment), now_(now) {}

  // Once. The acceptance is that of Endpoint::handle_segments().
  Acceptance handle();

 private:
  void handle_in_closed();
  void handle_in_syn_sent();
  void handle_in_sequence();  // in all other states
  void handle_reset();
  void handle_syn();
  bool passes_paws();
  void handle_unacceptable();
  // Each returns whether the segment may have more to say.
  bool completes_handshake();
  bool handle_acknowledgment();
  void handle_payload();

  void accept() { acceptance_ = Acceptance::kAccepted; }
  // Whether the segment acknowledges our SYN, and nothing else.
  bool acknowledges_syn() const { return header_.acknowledgment == tcb_.send_space.to_sequence(0); }
  void note_timestamps();
  void answer_within_limits();
  void challenge();

  Tcb& tcb_;
  const wire::TcpHeader& header_;
  const Segment& segment_;
  Instant now_;
  Placement placement_;  // set in states that know the peer's sequence numbers
  Acceptance acceptance_ = Acceptance::kRefused;
};

}  // namespace satrelay::tcp
