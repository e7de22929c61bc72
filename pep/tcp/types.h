// States, limits and settings that the parts of a TCP endpoint and its owner share.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "pep/control/window_controller.h"
#include "pep/tcp/counters.h"
#include "pep/tcp/ecn.h"
#include "pep/wire/tcp.h"

namespace satrelay::tcp {

// The states of RFC 9293 section 3.3.2 without LISTEN: an endpoint starts from a received SYN, or
// sends one.
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
  kResetByPeer,  // a reset that RFC 5961 considers valid
  // RST during the handshake of connect(), or an ICMP error with that meaning (PathError::kHard).
  kRefused,
  // The peer did not answer retransmissions, SYNs or probes, or was silent in FIN-WAIT-2.
  kTimeout,
  kUnreachable,  // any other ICMP error about the SYN
  kAborted,      // abort() or abandon()
};

// Whether a segment comes from the peer, as far as its sequence numbers can show.
enum class Acceptance : std::uint8_t { kRefused, kAccepted };

// Settings that many endpoints share.
struct Profile {
  std::uint64_t send_limit = 1 << 20;  // maximum number of bytes in the send buffer
  // Window scale that we announce. It is large, because it cannot change during a connection.
  std::uint8_t window_scale = 14;
  control::Congestion congestion = control::Congestion::kCubic;
  // RFC 3168: accepted if the peer offers it, and offered if connect() asks for it.
  bool ecn = true;
  Duration minimum_rto = Duration::milliseconds(200);
  Duration maximum_rto = Duration::seconds(60);
  Duration initial_rto = Duration::seconds(1);
  Duration delayed_ack = Duration::milliseconds(40);
  Duration time_wait = Duration::seconds(30);  // 2 MSL of a LAN
  // RFC 9293 section 3.8.3 asks for SYNs during at least three minutes: with these values a SYN
  // times out after 183 s. A SYN-ACK times out earlier, after 123 s, as a half-open connection
  // occupies a slot that other connections need.
  std::uint8_t syn_retries = 7;
  std::uint8_t syn_ack_retries = 6;
  // Data and probes of a closed window are retransmitted for 15 minutes, as in Linux
  // (tcp_retries2). If the LAN is down for minutes, a connection that would survive without a
  // gateway must not end.
  std::uint8_t data_retries = 22;
  // How long FIN-WAIT-2 lasts while the peer of a half-closed connection is silent.
  Duration half_closed = Duration::seconds(7200);
};

struct Config : Profile {
  std::uint16_t mss = 1460;            // our announced MSS: the LAN MTU less 40 (IPv4) or 60 (IPv6)
  std::uint32_t initial_sequence = 0;  // RFC 6528: the owner computes it from the addresses
  std::uint32_t timestamp_offset = 0;  // added to TSval (RFC 7323 section 5.4)
  // Maximum number of bytes that are stored and not yet consumed. Windows are advertised in units
  // of 1 << window_scale, so up to one unit more may be promised and stored.
  std::uint64_t receive_limit = 1 << 20;
};

// The kinds of ICMP errors. kHard: the host has no such port or protocol (RFC 1122 section
// 4.2.3.9). kSoft: the segment did not reach the host. As in Linux, the first soft error ends an
// attempt to connect. kPassing does not end the attempt (RFC 9293 section 3.9.2.2). But if the
// attempt gets no answer, it ends as unreachable.
enum class PathError : std::uint8_t { kHard, kSoft, kPassing };

// A segment from the peer for handle_segments(). Its addresses and checksum have been verified.
struct Segment {
  const wire::TcpHeader* header = nullptr;
  ConstBytes payload;
  EcnField ecn = EcnField::kNotCapable;  // from the IP header
};

// A segment from poll_segments(), or several that differ only in their positions: each begins where
// the previous one ends. The owner writes ports and checksum, then appends the payload_size bytes
// that copy_payload() copies from payload_offset.
struct SegmentToSend {
  wire::TcpHeader header;  // header of the first segment; the ports are zero
  std::uint64_t payload_offset = 0;
  std::uint16_t payload_size = 0;        // bytes in each segment
  EcnField ecn = EcnField::kNotCapable;  // for the IP header
  std::size_t count = 1;

  // Steps to the next segment.
  void step() {
    header.sequence += payload_size;
    payload_offset += payload_size;
    --count;
  }
};

}  // namespace satrelay::tcp
