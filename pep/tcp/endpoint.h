// One TCP endpoint (RFC 9293) without addresses, clock or socket: a spoofed server towards a client
// or a spoofed client towards a server.
//
// Verbs: handle_* feed input, mutators act for the application (the relay), poll_* take output,
// getters look. After any handle_* or mutator, call poll_segment() until it answers nullopt, then
// poll again no later than next_timeout(). `now` must never go backwards.
//
// Stream offsets are 64-bit and count payload bytes from 0, for each direction; SYN and FIN take no
// offset. Sequence numbers appear only in wire::TcpHeader.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "pep/base/arena.h"
#include "pep/base/byte_queue.h"
#include "pep/base/bytes.h"
#include "pep/base/reassembler.h"
#include "pep/base/time.h"
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
  kRefused,      // RST in SYN-SENT
  kTimeout,      // retransmissions, SYNs or probes went unanswered
  kAborted,      // abort()
};

struct Config {
  std::uint16_t mss = 1460;            // what we announce: the LAN MTU less 40 (IPv4) or 60 (IPv6)
  std::uint32_t initial_sequence = 0;  // RFC 6528, computed by the owner, who knows the addresses
  std::uint32_t timestamp_offset = 0;  // added to TSval (RFC 7323 section 5.4)
  std::uint64_t send_limit = 1 << 20;  // most bytes in the send buffer
  std::uint64_t receive_limit = 1 << 20;  // most bytes stored and not yet consumed
  std::uint8_t window_scale = 14;         // what we announce; fixed for life, so generous
  Duration minimum_rto = Duration::milliseconds(200);
  Duration maximum_rto = Duration::seconds(60);
  Duration initial_rto = Duration::seconds(1);
  Duration delayed_ack = Duration::milliseconds(40);
  Duration time_wait = Duration::seconds(30);  // 2 MSL of a LAN
  std::uint8_t syn_retries = 6;
  std::uint8_t data_retries = 10;
  // FIN-WAIT-2 without a word from the peer once the owner reads no more.
  Duration fin_wait_2 = Duration::seconds(60);
};

// What poll_segment() hands out. The owner writes ports and checksum, then appends
// copy_payload(payload_offset, payload_size).
struct SegmentToSend {
  wire::TcpHeader header;  // ports left zero
  std::uint64_t payload_offset = 0;
  std::uint16_t payload_size = 0;
};

// Monotonic counts, for the stats socket; kept per endpoint and summed by the owner.
struct Counters {
  std::uint64_t segments_in = 0;
  std::uint64_t segments_out = 0;
  std::uint64_t bytes_in = 0;   // new payload stored
  std::uint64_t bytes_out = 0;  // payload sent, retransmissions included
  std::uint64_t retransmitted_segments = 0;
  std::uint64_t retransmission_timeouts = 0;
  std::uint64_t fast_recoveries = 0;
  std::uint64_t duplicate_bytes_in = 0;
  std::uint64_t out_of_order_segments_in = 0;
  std::uint64_t out_of_window_segments_in = 0;  // answered with an ACK, not used
  std::uint64_t paws_rejected = 0;
  std::uint64_t challenge_acks = 0;
  std::uint64_t zero_window_probes = 0;
};

class Endpoint {
 public:
  Endpoint(const Config& config, Arena& arena);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  // --- opening: exactly one of these, once, first -------------------------------------------
  // Answers a SYN: enters SYN-RECEIVED and has a SYN-ACK to send.
  void accept(const wire::TcpHeader& syn, Instant now);
  // Opens towards a server: enters SYN-SENT. `offer` holds the options that the far client sent in
  // its SYN (MSS, window scale presence, SACK, timestamps): no option is offered that it did not.
  void connect(const wire::TcpOptions& offer, Instant now);

  // --- input ---------------------------------------------------------------------------------
  // A segment addressed to this endpoint, its checksum verified.
  void handle_segment(const wire::TcpHeader& header, ConstBytes payload, Instant now);
  // Runs every timer due at `now`.
  void handle_timeout(Instant now);

  // --- mutators: the application ---------------------------------------------------------------
  // Stores bytes to send; returns how many fitted send_limit and the arena. Allowed from
  // construction on, until close().
  std::size_t write(ConstBytes bytes);
  // No more write(): FIN follows the last byte.
  void close();
  // Sends RST (if synchronised) and closes at once. Everything stored is dropped.
  void abort(Instant now);
  // The application takes `count` of the readable bytes; may cause a window update.
  void consume(std::uint64_t count);
  // Changes how much may be stored; a window once advertised is not taken back (RFC 9293 3.8.6).
  void set_receive_limit(std::uint64_t bytes);

  // --- output --------------------------------------------------------------------------------
  std::optional<SegmentToSend> poll_segment(Instant now);
  void copy_payload(std::uint64_t offset, MutableBytes out) const;
  // The earliest timer; never() if none is armed.
  Instant next_timeout() const;

  // --- getters -------------------------------------------------------------------------------
  State state() const;
  CloseReason close_reason() const;
  bool is_synchronised() const;  // the handshake is complete (ESTABLISHED or later, not CLOSED)
  bool is_closed() const { return state() == State::kClosed; }
  const Reassembler& received() const;   // readable(), front(), copy_front()
  bool peer_finished() const;            // FIN received and every byte before it readable/consumed
  std::uint64_t writable() const;        // what write() would take now, by send_limit
  std::uint64_t unacknowledged() const;  // bytes written and not yet acknowledged by the peer
  bool finished_sending() const;         // close() called, and data and FIN acknowledged
  const wire::TcpOptions& peer_options() const;  // from the peer's SYN
  std::uint16_t send_mss() const;                // largest payload of a segment
  std::uint64_t receive_window() const;          // last advertised, bytes
  std::uint64_t peer_window() const;             // bytes
  std::uint64_t congestion_window() const;
  Duration smoothed_rtt() const;  // zero before the first sample
  const Counters& counters() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace satrelay::tcp
