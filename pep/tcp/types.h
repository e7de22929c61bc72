// States, limits and settings that the units of a TCP endpoint and its owner share.
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
  kTimeout,      // retransmissions, SYNs or probes went unanswered, or FIN-WAIT-2 was silent
  kUnreachable,  // any other ICMP error about the SYN
  kAborted,      // abort()
};

// Whether a segment comes from the peer, as far as its numbers can show.
enum class Acceptance : std::uint8_t { kRefused, kAccepted };

// Settings that very many endpoints share.
struct Profile {
  std::uint64_t send_limit = 1 << 20;  // most bytes in the send buffer
  std::uint8_t window_scale = 14;      // our announced scale; fixed for life, so generous
  control::Congestion congestion = control::Congestion::kCubic;
  bool ecn = true;  // RFC 3168: accepted if the peer offers it; offered if connect() asks for it
  Duration minimum_rto = Duration::milliseconds(200);
  Duration maximum_rto = Duration::seconds(60);
  Duration initial_rto = Duration::seconds(1);
  Duration delayed_ack = Duration::milliseconds(40);
  Duration time_wait = Duration::seconds(30);  // 2 MSL of a LAN
  // RFC 9293 section 3.8.3 asks for at least three minutes of SYNs: these values give 183 s. A
  // connection that waits for the last ACK of its handshake holds a place that others want, so it
  // gives up after 123 s.
  std::uint8_t syn_retries = 7;
  std::uint8_t syn_ack_retries = 6;
  // Data and probes of a closed window are sent again for 15 minutes, as in Linux (tcp_retries2). A
  // LAN that is down for minutes must not end a connection that would survive without a gateway.
  std::uint8_t data_retries = 22;
  // How long FIN-WAIT-2 lasts if the peer of a half-closed connection sends nothing.
  Duration half_closed = Duration::seconds(7200);
};

struct Config : Profile {
  std::uint16_t mss = 1460;            // our announced MSS: the LAN MTU less 40 (IPv4) or 60 (IPv6)
  std::uint32_t initial_sequence = 0;  // RFC 6528; the owner computes it from the addresses
  std::uint32_t timestamp_offset = 0;  // added to TSval (RFC 7323 section 5.4)
  // Most bytes stored and not yet consumed. Windows are advertised in units of 1 << window_scale,
  // so up to one unit more may be promised and stored.
  std::uint64_t receive_limit = 1 << 20;
};

// A hard ICMP error says that the host has no such port or protocol (RFC 1122 section 4.2.3.9). A
// soft error says that the segment did not reach the host. The first soft error ends an attempt to
// connect, as in Linux. A passing error does not (RFC 9293 section 3.9.2.2), but it is the reason
// if the attempt ends without an answer.
enum class PathError : std::uint8_t { kHard, kSoft, kPassing };

// A segment of the peer, addressed to the endpoint, its checksum verified. For handle_segments().
struct Segment {
  const wire::TcpHeader* header = nullptr;
  ConstBytes payload;
  EcnField ecn = EcnField::kNotCapable;  // of the IP header
};

// A segment from poll_segments(), or several that differ only in their places: each begins where
// the one before it ends. The owner writes ports and checksum, then appends the payload_size bytes
// that copy_payload() copies from payload_offset.
struct SegmentToSend {
  wire::TcpHeader header;  // of the first; ports left zero
  std::uint64_t payload_offset = 0;
  std::uint16_t payload_size = 0;        // of each
  EcnField ecn = EcnField::kNotCapable;  // of the IP header
  std::size_t count = 1;

  // The one behind this one.
  void step() {
    header.sequence += payload_size;
    payload_offset += payload_size;
    --count;
  }
};

}  // namespace satrelay::tcp
