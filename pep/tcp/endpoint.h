// One TCP endpoint (RFC 9293) without addresses, clock or socket: a spoofed server towards a client
// or a spoofed client towards a server.
//
// Verbs: handle_* feed input, mutators act for the application (the relay), poll_* take output,
// getters look. After any handle_* or mutator, call poll_segments() until it answers nullopt, then
// poll again no later than next_timeout(). `now` must never go backwards.
//
// Stream offsets are 64-bit and count payload bytes from 0, for each direction; SYN and FIN take no
// offset. Sequence numbers appear only in wire::TcpHeader.
//
// The state is in the control block (block/tcb.h), and the rooms of this folder have the work. This
// class is what the owner may do, and see, of them. It passes each call on without cost.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "pep/base/arena.h"
#include "pep/base/bytes.h"
#include "pep/base/containers/reassembler.h"
#include "pep/base/image/image.h"
#include "pep/base/time.h"
#include "pep/tcp/block/tcb.h"
#include "pep/tcp/ending/ending.h"
#include "pep/tcp/environment.h"
#include "pep/tcp/input/input.h"
#include "pep/tcp/input/path_errors.h"
#include "pep/tcp/opening/handshake.h"
#include "pep/tcp/output/output.h"
#include "pep/tcp/questions/own_questions.h"
#include "pep/tcp/time_wait.h"
#include "pep/tcp/types.h"
#include "pep/tcp/urgent_marks.h"
#include "pep/tcp/views/memory.h"
#include "pep/tcp/views/receiving_view.h"
#include "pep/tcp/views/sending_view.h"
#include "pep/wire/tcp.h"

namespace satrelay::tcp {

class Endpoint {
 public:
  // Counters and settings that many endpoints share. `common` takes the place of the arena and of
  // the profile in `config`; `counters` count only without `common`. An endpoint without either has
  // counters of its own. Shared counters must outlive the endpoints.
  struct Shared {
    Counters* counters = nullptr;
    std::shared_ptr<const Common> common;
  };
  Endpoint(const Config& config, Arena& arena) : Endpoint(config, arena, {}) {}
  Endpoint(const Config& config, Arena& arena, Shared shared);
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  // --- opening: exactly one of these, once, first -------------------------------------------
  // Answers a SYN: enters SYN-RECEIVED and owes a SYN-ACK.
  void accept(const wire::TcpHeader& syn, Instant now, Answer when = Answer::kAtOnce) {
    tcp::accept(tcb_, syn, now, when);
  }
  // Opens towards a server: enters SYN-SENT. `offer` holds the options of the far client's SYN
  // (MSS, window scale presence, SACK, timestamps): the endpoint offers no other option. `ecn` says
  // whether the far client offered ECN.
  void connect(const wire::TcpOptions& offer, Instant now, EcnOffer ecn = EcnOffer::kNo) {
    tcp::connect(tcb_, offer, now, ecn);
  }

  // --- input ---------------------------------------------------------------------------------
  // Takes segments from the front: all that bring nothing but the next bytes of an established
  // connection, or all pure ACKs that say nothing but to acknowledge more. If the first segment is
  // neither, takes it alone, so that the owner can look at its effect. The effect is that of one
  // segment after the other. `segments` is not empty. A segment is accepted in these cases:
  // - It lies in the window, and its ACK is plausible (RFC 9293 section 3.10.7.4, RFC 5961 section
  //   5).
  // - Its ACK is plausible, and it repeats data within a window before RCV.NXT. Hosts send such
  //   segments if our ACK was lost, or to ask whether we are there.
  // - It answers the handshake with exactly the right numbers, or it is a valid reset.
  // Only an accepted segment shows where the peer is and that it is alive.
  TakenSegments handle_segments(std::span<const Segment> segments, Instant now) {
    return tcp::handle_segments(tcb_, segments, now);
  }
  Acceptance handle_segment(const wire::TcpHeader& header, ConstBytes payload, Instant now,
                            EcnField ecn = EcnField::kNotCapable) {
    const Segment segment{&header, payload, ecn};
    return handle_segments({&segment, 1}, now).acceptance;
  }
  // An ICMP message quotes a segment with `sequence`. It says that the path carries at most
  // `segment_limit` octets of options and payload in a segment (RFC 1191, RFC 8201). Ignored unless
  // the quoted segment is in flight (RFC 5927 section 7).
  void handle_packet_too_big(std::uint32_t sequence, std::uint16_t segment_limit, Instant now) {
    tcp::handle_packet_too_big(tcb_, sequence, segment_limit, now);
  }
  // An ICMP error quotes a segment with `sequence`. Ignored unless that segment is in flight (RFC
  // 5927 section 4.1, RFC 9293 MUST-56). In SYN-SENT, an error that is not passing ends the
  // attempt, as it ends connect() of a host (RFC 5461 section 4.1). Returns whether it did. Later
  // no error has an effect: lost segments are sent again until R2 (RFC 5927 section 5.2).
  bool handle_path_error(std::uint32_t sequence, PathError error) {
    return tcp::handle_path_error(tcb_, sequence, error);
  }
  // Runs every timer due at `now`.
  void handle_timeout(Instant now);

  // --- mutators: the application ---------------------------------------------------------------
  // Stores bytes to send; returns how many fitted send_limit and the arena. Allowed from
  // construction on, until close().
  [[nodiscard]] std::size_t write(ConstBytes bytes);
  // Bytes that write() stores from now on are urgent up to the stream offset `mark` (RFC 9293
  // section 3.8.5). Segments before the mark carry an urgent pointer until the peer has
  // acknowledged them.
  UrgentMarks::Added mark_urgent(std::uint64_t mark);
  // The application takes `count` of the readable bytes; may cause a window update.
  void consume(std::uint64_t count) { tcb_.receiver.consume(count); }
  // No more write(): FIN follows the last byte.
  void close() { tcp::close(tcb_); }
  // Sends RST (if synchronised) and closes at once. Everything stored is dropped.
  void abort(Instant) { tcp::abort(tcb_); }
  // Like abort(), but without RST: for a SYN that should stay unanswered.
  void abandon() { tcp::abandon(tcb_); }
  // Sends the SYN-ACK that accept() left for later.
  void answer(Instant now) { tcp::answer(tcb_, now); }
  // Acknowledges nothing from this stream offset on, though it is stored: the far host has not
  // acknowledged it. A lower offset than before has no effect. kNoHold: acknowledge as TCP does.
  static constexpr std::uint64_t kNoHold = Receiver::kNoHold;
  void hold_acknowledgments(std::uint64_t from, Instant now) {
    tcp::hold_acknowledgments(tcb_, from, now);
  }
  // The peer's FIN is not acknowledged before release_fin().
  void hold_fin() { tcb_.receiver.hold_fin(); }
  void release_fin(Instant now) { tcp::release_fin(tcb_, now); }
  // Changes how much may be stored; a window once advertised is not taken back (RFC 9293 3.8.6).
  void set_receive_limit(std::uint64_t bytes) { tcb_.receiver.set_limit(bytes); }
  // Asks a peer that may be gone whether it is still there. If it does not answer in about a
  // minute, the connection ends (CloseReason::kTimeout, with RST).
  void send_keep_alive(Instant now) { tcp::send_keep_alive(tcb_, now); }
  // Asks the peer once, and never ends the connection. Questions::awaits_word() holds until an
  // accepted segment of the peer arrives. False if there is no peer to ask: before the handshake is
  // complete, in TIME-WAIT and in CLOSED.
  bool ask_once() { return tcp::ask_once(tcb_); }
  // Answers the peer's question, which questions() left to the owner: the far host is there.
  void answer_question() { tcb_.receiver.acks().owe_now(); }
  Memory memory() { return Memory(tcb_); }

  // --- output --------------------------------------------------------------------------------
  // The next segment, or up to `most` segments if they carry new data and are of full size. nullopt
  // if there is none now.
  std::optional<SegmentToSend> poll_segments(std::size_t most, Instant now) {
    return tcp::poll_segments(tcb_, most, now);
  }
  std::optional<SegmentToSend> poll_segment(Instant now) { return poll_segments(1, now); }
  // False only if poll_segments() has nothing.
  bool may_have_segment() { return tcp::may_have_segment(tcb_); }
  void copy_payload(std::uint64_t offset, MutableBytes out) const;
  // The earliest timer; never() if none is armed.
  Instant next_timeout() const { return tcb_.around.timers.next(); }

  // --- getters -------------------------------------------------------------------------------
  State state() const { return tcb_.state(); }
  bool is_synchronised() const { return tcb_.lifecycle.is_synchronised(); }
  bool is_closed() const { return state() == State::kClosed; }
  // The peer's bytes: readable(), front(), copy_front().
  const Reassembler& received() const { return tcb_.receiver.stream(); }
  const Counters& counters() const { return tcb_.counters(); }
  // State that the endpoint shares with other endpoints.
  const std::shared_ptr<const Common>& common() const { return tcb_.around.common; }
  // The parts, by what they are about.
  const Lifecycle& lifecycle() const { return tcb_.lifecycle; }
  const Opening& opening() const { return tcb_.opening; }
  SendingView sending() const { return SendingView(tcb_); }
  ReceivingView receiving() const { return ReceivingView(tcb_); }
  Questions& questions() { return tcb_.questions; }
  const Questions& questions() const { return tcb_.questions; }
  // Whether `header` does not answer our SYN, but belongs to another connection that the peer has.
  // The reset that RFC 9293 asks for would end that connection.
  bool shows_another_connection(const wire::TcpHeader& header) const {
    return tcp::shows_another_connection(tcb_, header);
  }
  // In TIME-WAIT: whether this SYN begins a new incarnation of the connection, so that the owner
  // may replace this endpoint by a new one (RFC 9293 section 3.10.7.4, RFC 6191).
  bool admits_new_incarnation(const wire::TcpHeader& syn) const;
  // The state that is left in TIME-WAIT, once the endpoint has nothing more to send. The owner may
  // keep that state alone.
  std::optional<TimeWait> time_wait() const { return tcp::time_wait(tcb_); }

  // An endpoint that is read is new, with the same Common, and its stored bytes are in the arena.
  void image(Image& image) { image(tcb_); }

 private:
  // The attribute lets a member behind the endpoint use the block's tail padding.
  [[no_unique_address]] Tcb tcb_;
};

}  // namespace satrelay::tcp
