// One TCP endpoint (RFC 9293) without addresses, clock or socket. It is a spoofed server towards a
// client, or a spoofed client towards a server.
//
// Verbs: handle_* pass input to the endpoint, mutators act for the application (the relay), poll_*
// return output, and getters only read. After any handle_* or mutator, call poll_segments() until
// it returns nullopt, then again no later than next_timeout(). `now` must never go backwards.
//
// Stream offsets are 64-bit, and count payload bytes from 0, separately for each direction. SYN and
// FIN have no offset. Sequence numbers appear only in wire::TcpHeader.
//
// The state is in the control block (block/tcb.h), and the functions of the other folders do the
// work. This class is the interface for the owner. Its calls are inline, and add no cost.
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
  // Counters and settings that many endpoints share. If `common` is set, it replaces the profile
  // and the arena that the constructor gets, and `counters` is ignored. If only `counters` is set,
  // the endpoint uses these counters. If neither is set, the endpoint has counters of its own.
  // Shared counters must outlive the endpoints.
  struct Shared {
    Counters* counters = nullptr;
    std::shared_ptr<const Common> common;
  };
  Endpoint(const Config& config, Arena& arena) : Endpoint(config, arena, {}) {}
  Endpoint(const Config& config, Arena& arena, Shared shared);
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  // --- opening: call one of these before all else, and only once ------------------------------
  // Answers a SYN: enters SYN-RECEIVED. `when` says when the SYN-ACK is sent.
  void accept(const wire::TcpHeader& syn, Instant now, Answer when = Answer::kAtOnce) {
    tcp::accept(tcb_, syn, now, when);
  }
  // Opens a connection to a server: enters SYN-SENT. `offer` holds the options of the far client's
  // SYN (MSS, presence of a window scale, SACK, timestamps). The endpoint offers no other options.
  // `ecn` says whether the far client offered ECN.
  void connect(const wire::TcpOptions& offer, Instant now, EcnOffer ecn = EcnOffer::kNo) {
    tcp::connect(tcb_, offer, now, ecn);
  }

  // --- input ---------------------------------------------------------------------------------
  // Handles one or more segments from the front of `segments`, which must not be empty. It handles
  // several if all of them only bring the next bytes of an established connection, or if all are
  // pure ACKs that only acknowledge more. It handles any other first segment alone, so that the
  // owner can see the effect of this segment. Segments that are handled together have the same
  // effect as one after the other. A segment is accepted in these cases:
  // - The segment lies in the window, and its ACK is plausible (RFC 9293 section 3.10.7.4, RFC 5961
  //   section 5).
  // - The ACK is plausible, and the segment repeats data within a window before RCV.NXT. Hosts send
  //   such segments if our ACK was lost, or to ask whether we are still there.
  // - The segment answers the handshake with exactly the right numbers, or is a valid reset.
  // Only an accepted segment proves where the peer is and that it is alive.
  TakenSegments handle_segments(std::span<const Segment> segments, Instant now) {
    return tcp::handle_segments(tcb_, segments, now);
  }
  Acceptance handle_segment(const wire::TcpHeader& header, ConstBytes payload, Instant now,
                            EcnField ecn = EcnField::kNotCapable) {
    const Segment segment{&header, payload, ecn};
    return handle_segments({&segment, 1}, now).acceptance;
  }
  // Handles an ICMP message that quotes a segment with `sequence`. The message says that the path
  // carries at most `segment_limit` octets of options and payload in a segment (RFC 1191, RFC
  // 8201). It is ignored unless the quoted segment is in flight (RFC 5927 section 7).
  void handle_packet_too_big(std::uint32_t sequence, std::uint16_t segment_limit, Instant now) {
    tcp::handle_packet_too_big(tcb_, sequence, segment_limit, now);
  }
  // Handles an ICMP error that quotes a segment with `sequence`. The error is ignored unless that
  // segment is in flight (RFC 5927 section 4.1, RFC 9293 MUST-56). In SYN-SENT, an error other than
  // PathError::kPassing ends the attempt, as it ends connect() on a host (RFC 5461 section 4.1).
  // Returns whether the attempt ended. In other states an error has no effect: lost segments are
  // retransmitted until R2 (RFC 5927 section 5.2).
  bool handle_path_error(std::uint32_t sequence, PathError error) {
    return tcp::handle_path_error(tcb_, sequence, error);
  }
  // Runs every timer due at `now`.
  void handle_timeout(Instant now);

  // --- mutators: the application ---------------------------------------------------------------
  // Stores bytes to send, as many as send_limit and the arena allow. Returns the number of stored
  // bytes. Allowed from construction until close().
  [[nodiscard]] std::size_t write(ConstBytes bytes);
  // Marks as urgent the bytes that write() stores from now on, up to the stream offset `mark` (RFC
  // 9293 section 3.8.5). Segments before the mark carry an urgent pointer until the peer has
  // acknowledged the bytes before the mark.
  UrgentMarks::Added mark_urgent(std::uint64_t mark);
  // Removes `count` of the readable bytes. A window update may then be due.
  void consume(std::uint64_t count) { tcb_.receiver.consume(count); }
  // Ends the stream: no write() may follow, and a FIN follows the last byte.
  void close() { tcp::close(tcb_); }
  // Closes at once, drops all stored bytes, and queues an RST unless the state is SYN-SENT.
  void abort(Instant) { tcp::abort(tcb_); }
  // Closes as abort() does, but without an RST: for a SYN that should stay unanswered.
  void abandon() { tcp::abandon(tcb_); }
  // Sends the SYN-ACK that accept() left for later.
  void answer(Instant now) { tcp::answer(tcb_, now); }
  // Stops acknowledging at this stream offset, even though later bytes are stored, because the far
  // host has not acknowledged them yet. A lower offset than before has no effect. kNoHold means
  // that all stored bytes are acknowledged, as usual in TCP.
  static constexpr std::uint64_t kNoHold = Receiver::kNoHold;
  void hold_acknowledgments(std::uint64_t from, Instant now) {
    tcp::hold_acknowledgments(tcb_, from, now);
  }
  // The peer's FIN is not acknowledged before release_fin().
  void hold_fin() { tcb_.receiver.hold_fin(); }
  void release_fin(Instant now) { tcp::release_fin(tcb_, now); }
  // Sets how many bytes may be stored. A window that was already advertised is not taken back (RFC
  // 9293 section 3.8.6).
  void set_receive_limit(std::uint64_t bytes) { tcb_.receiver.set_limit(bytes); }
  // Sends keep-alive probes. If the peer does not answer within about a minute, the connection ends
  // (CloseReason::kTimeout, with RST).
  void send_keep_alive(Instant now) { tcp::send_keep_alive(tcb_, now); }
  // Sends one keep-alive probe, and does not end the connection if the peer stays silent.
  // Questions::awaits_word() is true until an accepted segment of the peer arrives. Returns false
  // without a probe before the handshake is complete, in TIME-WAIT and in CLOSED.
  bool ask_once() { return tcp::ask_once(tcb_); }
  // Answers the keep-alive or probe of the peer that Questions::take() returned, with an ACK. The
  // ACK tells the peer that the far host is still there.
  void answer_question() { tcb_.receiver.acks().owe_now(); }
  Memory memory() { return Memory(tcb_); }

  // --- output --------------------------------------------------------------------------------
  // The next segment to send, or up to `most` segments if they carry new data and are of full size.
  // nullopt if there is nothing to send now.
  std::optional<SegmentToSend> poll_segments(std::size_t most, Instant now) {
    return tcp::poll_segments(tcb_, most, now);
  }
  std::optional<SegmentToSend> poll_segment(Instant now) { return poll_segments(1, now); }
  // False only if poll_segments() would return nullopt.
  bool may_have_segment() { return tcp::may_have_segment(tcb_); }
  void copy_payload(std::uint64_t offset, MutableBytes out) const;
  // The time of the earliest timer; never() if no timer is armed.
  Instant next_timeout() const { return tcb_.around.timers.next(); }

  // --- getters -------------------------------------------------------------------------------
  State state() const { return tcb_.state(); }
  bool is_synchronised() const { return tcb_.lifecycle.is_synchronised(); }
  bool is_closed() const { return state() == State::kClosed; }
  // The bytes received from the peer: readable(), front(), copy_front().
  const Reassembler& received() const { return tcb_.receiver.stream(); }
  const Counters& counters() const { return tcb_.counters(); }
  // The state that the endpoint shares with other endpoints.
  const std::shared_ptr<const Common>& common() const { return tcb_.around.common; }
  const Lifecycle& lifecycle() const { return tcb_.lifecycle; }
  const Opening& opening() const { return tcb_.opening; }
  SendingView sending() const { return SendingView(tcb_); }
  ReceivingView receiving() const { return ReceivingView(tcb_); }
  Questions& questions() { return tcb_.questions; }
  const Questions& questions() const { return tcb_.questions; }
  // Whether `header` belongs to another connection of the peer, and so does not answer our SYN.
  // handle_segments() answers such a segment with a reset (RFC 9293), which ends the other
  // connection.
  bool shows_another_connection(const wire::TcpHeader& header) const {
    return tcp::shows_another_connection(tcb_, header);
  }
  // Whether this SYN begins a new incarnation of a connection in TIME-WAIT. If so, the owner may
  // replace this endpoint by a new one (RFC 9293 section 3.10.7.4, RFC 6191).
  bool admits_new_incarnation(const wire::TcpHeader& syn) const;
  // The state that is needed in TIME-WAIT, once the endpoint has nothing more to send. The owner
  // may keep that state instead of the endpoint.
  std::optional<TimeWait> time_wait() const { return tcp::time_wait(tcb_); }

  // Reads or writes the state. To read, the endpoint must be new and have the same Common, and its
  // stored bytes must already be in the arena.
  void image(Image& image) { image(tcb_); }

 private:
  // The attribute lets the owner's member after the endpoint use the tail padding of the control
  // block.
  [[no_unique_address]] Tcb tcb_;
};

}  // namespace satrelay::tcp
