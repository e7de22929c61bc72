// TIME-WAIT (RFC 9293 section 3.10.7.4) without an endpoint. A few numbers suffice to answer a late
// segment, and to decide whether a SYN begins a new incarnation of the connection.
#pragma once

#include <cstdint>
#include <optional>

#include "pep/base/time.h"
#include "pep/tcp/challenge_limit.h"
#include "pep/tcp/counters.h"
#include "pep/wire/tcp.h"

namespace satrelay::tcp {

struct TimeWait {
  std::uint32_t send_next = 0;         // SND.NXT, after our FIN
  std::uint32_t receive_next = 0;      // RCV.NXT, after the peer's FIN
  std::uint32_t recent_timestamp = 0;  // TS.Recent
  std::uint16_t window = 0;            // the window field that was sent last
  std::uint8_t window_scale = 0;       // shift of the window field
  bool timestamps = false;             // both sides use timestamps
  ChallengeLimit challenges = {};
};

// Whether the segment is a SYN that may begin a new incarnation of the connection (RFC 6191 section
// 2).
bool admits_new_incarnation(const TimeWait& connection, const wire::TcpHeader& syn);

struct LateSegment {
  enum class Effect : std::uint8_t {
    kNone,
    kRestarts,  // the peer has missed our last ACK: TIME-WAIT starts again
    kEnds,      // a valid reset ends TIME-WAIT
  };
  Effect effect = Effect::kNone;
  bool answered = false;  // an ACK must be sent: answer_of()
};
// Handles a segment with `payload` octets of data. The caller has verified its checksum.
LateSegment handle_late_segment(TimeWait& connection, const wire::TcpHeader& header,
                                std::size_t payload, Counters& counters, Instant now);
// The answer: <SEQ=SND.NXT><ACK=RCV.NXT><CTL=ACK>. `timestamp` is the current value of our clock,
// used only if both sides use timestamps.
wire::TcpHeader answer_of(const TimeWait& connection, std::uint32_t timestamp);

}  // namespace satrelay::tcp
