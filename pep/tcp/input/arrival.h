// Handles one segment that header prediction did not take. The checks follow the order of RFC 9293
// section 3.10.7.
#pragma once

#include "pep/base/time.h"
#include "pep/tcp/block/tcb.h"
#include "pep/tcp/segments/placement.h"
#include "pep/tcp/types.h"
#include "pep/wire/tcp.h"

namespace satrelay::tcp {

class Arrival {
 public:
  // `tcb` and `segment` must outlive the object.
  Arrival(Tcb& tcb, const Segment& segment, Instant now)
      : tcb_(tcb), header_(*segment.header), segment_(segment), now_(now) {}

  // To be called once. The result has the meaning of TakenSegments::acceptance.
  Acceptance handle();

 private:
  void handle_in_closed();
  void handle_in_syn_sent();
  void handle_in_sequence();  // all states except CLOSED and SYN-SENT
  void handle_reset();
  void handle_syn();
  bool passes_paws();
  void handle_unacceptable();
  // Both return whether the segment has to be processed further.
  bool completes_handshake();
  bool handle_acknowledgment();
  void handle_payload();

  void accept() { acceptance_ = Acceptance::kAccepted; }
  // Whether the segment acknowledges our SYN, and no data.
  bool acknowledges_syn() const { return header_.acknowledgment == tcb_.send_space.to_sequence(0); }
  void note_timestamps();
  void answer_within_limits();
  void challenge();

  Tcb& tcb_;
  const wire::TcpHeader& header_;
  const Segment& segment_;
  Instant now_;
  Placement placement_;  // set only in states in which the peer's sequence numbers are known
  Acceptance acceptance_ = Acceptance::kRefused;
};

}  // namespace satrelay::tcp
