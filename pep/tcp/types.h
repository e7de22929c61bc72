// What the units of a TCP endpoint and its owner share: states and limits.
#pragma once

#include <cstdint>

#include "pep/base/time.h"
#include "pep/control/window_controller.h"
#include "pep/tcp/counters.h"
#include "pep/tcp/ecn.h"
#include "pep/wire/tcp.h"

namespace satrelay::tcp {

// RFC 9293 section 3.3.2. LISTEN does not exist here: an endpoint starts from a SYN or sends one.
enum class State : std::uint8_t {
  kClosed,
  kSynSent,
  kSynReceived,
  kEstablished,
  kFinWait1,
  kFinWait2,
  kCloseWait,
  kClosing,
  kLastAck,
  kTimeWait,
};
const char* to_string(State state);

// Why an endpoint reached kClosed before both directions had finished.
enum class CloseReason : std::uint8_t {
  kNone,         // still open, or closed in order
  kResetByPeer,  // RFC 5961-valid RST
  kRefused,      // RST in SYN-SENT, or an ICMP error that says the same (PathError::kHard)
  kTimeout,      // retransmissions, SYNs or probes went unanswered
  kUnreachable,  // any other ICMP error about the SYN
  kAborted,      // abort()
};

// Whether a segment is the peer's, as far as its numbers can tell.
enum class Acceptance : std::uint8_t { kRefused, kAccepted };

// What very many endpoints have in common.
struct Profile {
  std::uint64_t send_limit = 1 << 20;  // most bytes in the send buffer
  std::uint8_t window_scale = 14;      // what we announce; fixed for life, so generous
  control::Congestion congestion = control::Congestion::kCubic;
  bool ecn = true;  // RFC 3168: agreed to if the peer asks; offered if connect() is told to
  Duration minimum_rto = Duration::milliseconds(200);
  Duration maximum_rto = Duration::seconds(60);
  Duration initial_rto = Duration::seconds(1);
  Duration delayed_ack = Duration::milliseconds(40);
  Duration time_wait = Duration::seconds(30);  // 2 MSL of a LAN
  // RFC 9293 section 3.8.3: at least three minutes for a SYN: 183 s with these. What waits for the
  // last ACK of a handshake holds a place that others want: 123 s.
  std::uint8_t syn_retries = 7;
  std::uint8_t syn_ack_retries = 6;
  // Data and probes of a closed window go on for 15 minutes, as with Linux (tcp_retries2), so that
  // a LAN that is away for minutes ends no connection that would live on without a gateway.
  std::uint8_t data_retries = 22;
  // FIN-WAIT-2 without a word from the peer: a half-closed connection whose peer fell silent.
  Duration half_closed = Duration::seconds(7200);
};

struct Config : Profile {
  std::uint16_t mss = 1460;            // what we announce: the LAN MTU less 40 (IPv4) or 60 (IPv6)
  std::uint32_t initial_sequence = 0;  // RFC 6528, computed by the owner, who knows the addresses
  std::uint32_t timestamp_offset = 0;  // added to TSval (RFC 7323 section 5.4)
  // Most bytes stored and not yet consumed. Windows are told in units of 1 << window_scale, so up
  // to one unit more may be promised and stored.
  std::uint64_t receive_limit = 1 << 20;
};

// A hard ICMP error says that the host has no such port or protocol (RFC 1122 section 4.2.3.9), a
// soft one that the segment did not reach it. The first soft one ends an attempt to
// connect, as in Linux; a passing one does not (RFC 9293 section 3.9.2.2), but is the reason if the
// attempt ends without an answer.
enum class PathError : std::uint8_t { kHard, kSoft, kPassing };

// What poll_segment() hands out. The owner writes ports and checksum, then appends
// copy_payload(payload_offset, payload_size).
struct SegmentToSend {
  wire::TcpHeader header;  // ports left zero
  std::uint64_t payload_offset = 0;
  std::uint16_t payload_size = 0;
  EcnField ecn = EcnField::kNotCapable;  // of the IP header
};

}  // namespace satrelay::tcp
