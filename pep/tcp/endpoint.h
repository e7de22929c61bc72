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

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "pep/base/arena.h"
#include "pep/base/bytes.h"
#include "pep/base/containers/reassembler.h"
#include "pep/base/time.h"
#include "pep/tcp/challenge_limit.h"
#include "pep/tcp/environment.h"
#include "pep/tcp/keep_alive.h"
#include "pep/tcp/negotiation.h"
#include "pep/tcp/receiving/receiver.h"
#include "pep/tcp/sending/sender.h"
#include "pep/tcp/sequence_space.h"
#include "pep/tcp/time_wait.h"
#include "pep/tcp/timestamps.h"
#include "pep/tcp/types.h"
#include "pep/wire/tcp.h"

namespace satrelay::tcp {

class Endpoint {
 public:
  // Of many endpoints, which share what they count into, which must outlive them, and with it what
  // `config` has of their profile. Without them it has its own.
  struct Shared {
    Counters* counters = nullptr;
    std::shared_ptr<const Common> common;
  };
  Endpoint(const Config& config, Arena& arena) : Endpoint(config, arena, {}) {}
  Endpoint(const Config& config, Arena& arena, Shared shared);
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  // --- opening: exactly one of these, once, first -------------------------------------------
  // Answers a SYN: enters SYN-RECEIVED and has a SYN-ACK to send, at once or when answer() is
  // called (the application waits for the far host first). kSent: the application has sent it
  // before there was an endpoint, with config.initial_sequence (a SYN cookie).
  enum class Answer : std::uint8_t { kAtOnce, kLater, kSent };
  void accept(const wire::TcpHeader& syn, Instant now, Answer when = Answer::kAtOnce);
  // Opens towards a server: enters SYN-SENT. `offer` holds the options that the far client sent in
  // its SYN (MSS, window scale presence, SACK, timestamps): no option is offered that it did not.
  // ECN is offered if the far client did.
  void connect(const wire::TcpOptions& offer, Instant now, EcnOffer ecn = EcnOffer::kNo);

  // --- input ---------------------------------------------------------------------------------
  // A segment addressed to this endpoint, its checksum verified. Accepted: it lies in the window
  // and acknowledges what is under way (RFC 9293 section 3.10.7.4, RFC 5961 section 5), or does so
  // and repeats what came within a window before, as hosts do whose ACK was lost, or who ask
  // whether we are there; or it is an exact answer of the handshake, or a valid reset. Only such a
  // segment tells where the peer is and that it lives.
  Acceptance handle_segment(const wire::TcpHeader& header, ConstBytes payload, Instant now,
                            EcnField ecn = EcnField::kNotCapable);
  // Segments that follow each other without a gap, and differ from the first, whose `header` this
  // is, in PSH and in timestamps that do not go back, nor behind the first. Many of those are
  // nothing but the next bytes of an established connection: so many are taken at once, as if by
  // handle_segment(). None of the others is.
  [[nodiscard]] std::size_t handle_in_order(const wire::TcpHeader& header,
                                            std::span<const ConstBytes> payloads, Instant now);
  // Pure ACKs without SACK that follow each other, of which each acknowledges more than the one
  // before. Many of those are nothing else, of a connection in which nothing is missing: so many
  // are taken at once, as if by handle_segment(). None of the others is.
  [[nodiscard]] std::size_t handle_acknowledgments(std::span<const wire::TcpHeader* const> headers,
                                                   Instant now);
  // The path carries no more than `segment_limit` octets of options and payload in a segment, says
  // an ICMP message that quotes one with `sequence` (RFC 1191, RFC 8201). Whether it is believed:
  // RFC 5927 section 7.
  void handle_packet_too_big(std::uint32_t sequence, std::uint16_t segment_limit, Instant now);
  // An ICMP error quotes a segment with `sequence`. One that quotes what is not under way is not
  // believed (RFC 5927 section 4.1, RFC 9293 MUST-56). In SYN-SENT any error ends the attempt, as
  // it ends connect() of a host (RFC 5461 section 4.1): then it is true. Later none has any effect:
  // what the network loses is sent again until R2 (RFC 5927 section 5.2).
  bool handle_path_error(std::uint32_t sequence, PathError error);
  // Runs every timer due at `now`.
  void handle_timeout(Instant now);

  // --- mutators: the application ---------------------------------------------------------------
  // Stores bytes to send; returns how many fitted send_limit and the arena. Allowed from
  // construction on, until close().
  [[nodiscard]] std::size_t write(ConstBytes bytes);
  // The next bytes that write() stores are urgent up to the stream offset `mark` (RFC 9293 section
  // 3.8.5): segments before it say so until they are acknowledged.
  UrgentMarks::Added mark_urgent(std::uint64_t mark);
  // No more write(): FIN follows the last byte.
  void close();
  // Sends RST (if synchronised) and closes at once. Everything stored is dropped.
  void abort(Instant now);
  // The same without RST, for a SYN that is better not answered at all.
  void abandon();
  // The SYN-ACK that accept() left for later.
  void answer(Instant now);
  // Nothing from this stream offset on is acknowledged, though it is stored: the far host has not
  // acknowledged it. Never taken back. kNoHold: as TCP does by itself.
  static constexpr std::uint64_t kNoHold = Receiver::kNoHold;
  void hold_acknowledgments(std::uint64_t from, Instant now);
  // The peer's FIN is not acknowledged until release_fin().
  void hold_fin() { receiver_.hold_fin(); }
  void release_fin(Instant now);
  // Whether a segment of the peer's answers no SYN of ours but belongs to a connection that it has:
  // a reset, which RFC 9293 asks for, would end that.
  bool shows_another_connection(const wire::TcpHeader& header) const {
    return state_ == State::kSynSent && header.has(wire::TcpFlags::kAck) &&
           !header.has(wire::TcpFlags::kRst) && header.acknowledgment != send_space_.to_sequence(0);
  }
  bool owes_syn() const { return syn_held_ || syn_owed_; }  // its own, which has not left
  bool has_repeated_syn() const { return syn_retries_ > 0; }
  bool holds_fin() const { return receiver_.holds_fin(); }  // it has come, unacknowledged
  // The application takes `count` of the readable bytes; may cause a window update.
  void consume(std::uint64_t count);
  // Changes how much may be stored; a window once advertised is not taken back (RFC 9293 3.8.6).
  void set_receive_limit(std::uint64_t bytes);
  std::uint64_t receive_limit() const;
  // Takes a reserve of the arena for each direction, of an endpoint that begins: that is there
  // however little memory others leave. False, and none, if the arena has too few.
  [[nodiscard]] bool own_memory();
  // What it has to itself for what it sends; 0: none.
  std::uint64_t own_memory_size() const {
    const ByteQueue& queue = sender_.queue();
    return queue.has_reserve() ? queue.arena().reserve_size() : 0;
  }
  // Bytes that write() stores without any more memory.
  std::uint64_t own_room() const { return sender_.queue().room(0); }
  // No more of it is needed: in TIME-WAIT, or closed.
  void give_up_own_memory();
  // Gives back heap that is needed only while bytes are under way: for a connection that is quiet.
  void trim() {
    sender_.trim();
    receiver_.trim();
    around_.timers.trim();
  }
  // While set, what arrives is stored in its reserve only; the rest is as if lost.
  void set_frugal(bool frugal) { receiver_.set_frugal(frugal); }

  // Asks a peer that may be gone whether it is still there; if it does not answer in about a minute
  // the connection ends (CloseReason::kTimeout, with RST).
  void send_keep_alive(Instant now);
  // Asks it once, and ends nothing. awaits_word() until anything of the peer is heard. False if
  // there is nobody to ask.
  bool ask_once();
  bool awaits_word() const { return keep_alive_.listening(); }
  // While set, a question of the peer's whether the far host is still there is left to the owner:
  // a keep-alive, or a probe of a closed window.
  void leave_questions(bool leave) { leaves_questions_ = leave; }
  enum class Question : std::uint8_t {
    kNone,
    kEmpty,
    kWithByte,  // of garbage; or it is the last byte of the peer's data, sent again
  };
  Question take_question() { return std::exchange(question_, Question::kNone); }
  // The far host is there.
  void answer_question() { receiver_.acks().owe_now(); }

  // --- output --------------------------------------------------------------------------------
  std::optional<SegmentToSend> poll_segment(Instant now);
  // False only where poll_segment() has nothing.
  bool may_have_segment();
  // Once more behind `segment`, which was the last that left, with data, at the same instant, while
  // nothing else was told or asked: it becomes the next one, which differs from it in PSH and FIN,
  // and in its place in the stream. False if there is none such; poll_segment() may have another.
  [[nodiscard]] bool poll_next(SegmentToSend& segment, Instant now);
  // So many at once that are all as long as they may be, at most `most`: `segment` becomes the
  // first of them, behind which each begins where the one before it ends. poll_next() may go on.
  [[nodiscard]] std::size_t poll_run(SegmentToSend& segment, std::size_t most, Instant now);
  void copy_payload(std::uint64_t offset, MutableBytes out) const;
  // The earliest timer; never() if none is armed.
  Instant next_timeout() const { return around_.timers.next(); }

  // --- getters -------------------------------------------------------------------------------
  State state() const { return state_; }
  CloseReason close_reason() const { return reason_; }
  bool is_synchronised() const;  // the handshake is complete (ESTABLISHED or later, not CLOSED)
  bool is_closed() const { return state() == State::kClosed; }
  const Reassembler& received() const {
    return receiver_.stream();
  }  // readable(), front(), copy_front()
  bool peer_finished() const {
    return receiver_.fin_taken();
  }  // FIN received and every byte before it readable/consumed
  std::uint64_t writable() const { return sender_.writable(); }  // by send_limit
  // Of a segment with URG that is yet to be handled: up to which stream offset it calls the peer's
  // data urgent, if not all of that has come. It counts if the segment is accepted.
  std::optional<std::uint64_t> urgent_mark_of(const wire::TcpHeader& header,
                                              std::size_t payload_size) const;
  // The peer is told that data is urgent which it has not acknowledged.
  bool is_urgent() const { return sender_.is_urgent(); }
  // Bytes that the peer has acknowledged; 0 again once it has the FIN too, or is gone.
  std::uint64_t acknowledged() const { return sender_.queue().begin(); }
  // Bytes that have left at least once; the FIN counts as one more.
  std::uint64_t sent() const { return sender_.next(); }
  // Bytes written and not yet acknowledged by the peer.
  std::uint64_t unacknowledged() const { return sender_.queue().size(); }
  bool sends_in_vain() const { return sender_.sends_in_vain(); }
  // close() called, and data and FIN acknowledged.
  bool finished_sending() const { return sender_.fin_acknowledged(); }
  bool peer_scales_windows() const { return peer_scales_windows_; }  // says its SYN
  // Largest payload of a segment.
  std::uint16_t send_mss() const { return negotiation_.segment_size(); }
  std::uint64_t receive_window() const;                                // last advertised, bytes
  std::uint64_t peer_window() const { return sender_.peer_window(); }  // bytes
  std::uint64_t congestion_window() const { return sender_.congestion_window(); }
  // How often the peer has asked whether we are still there (RFC 9293 section 3.8.4). A zero-window
  // probe looks the same, and so does its last byte sent again.
  std::uint32_t keep_alives() const { return keep_alives_; }
  // How often the peer has said what nothing of ours can have drawn: a pure ACK without any news
  // while nothing was under way, or, before answer(), a reset of another connection. So does a peer
  // that is answered by somebody else too (RFC 5961 section 4, RFC 9293 section 3.5.2).
  std::uint32_t stray_answers() const { return stray_answers_; }
  // Zero before the first sample.
  Duration smoothed_rtt() const { return sender_.rtt().smoothed(); }
  const Counters& counters() const { return around_.counters(); }
  // In TIME-WAIT: whether this SYN begins a new incarnation of the connection, so that the owner
  // may replace this endpoint by a new one (RFC 9293 section 3.10.7.4, RFC 6191).
  bool admits_new_incarnation(const wire::TcpHeader& syn) const;
  // All that is left of it in TIME-WAIT, once it has nothing more to say: the owner may go on with
  // that alone.
  std::optional<TimeWait> time_wait() const;
  // Blocks of the arena, counted: O(what is stored).
  struct BlocksHeld {
    std::size_t received = 0;
    std::size_t to_send = 0;
    std::size_t reserves = 0;  // no blocks, but parts of some
  };
  BlocksHeld blocks_held() const {
    return {
        receiver_.stream().blocks_held(), sender_.queue().blocks_held(),
        (receiver_.stream().has_reserve() ? 1U : 0U) + (sender_.queue().has_reserve() ? 1U : 0U)};
  }
  // The states visited, oldest first, for messages and tests.
  std::span<const State> trace() const { return std::span(trace_).first(trace_size_); }

 private:
  // What a segment occupies of the peer's stream.
  struct Placement {
    std::int64_t begin = 0;
    std::int64_t payload_end = 0;
    std::int64_t end = 0;  // FIN included
    bool occupies_sequence() const { return end > begin; }
  };

  // Input (endpoint_input.cc)
  void note_life(Instant now);
  void process_segment(const wire::TcpHeader& header, ConstBytes payload, Instant now,
                       EcnField ecn);
  void handle_in_syn_sent(const wire::TcpHeader& header, Instant now);
  void handle_in_closed(const wire::TcpHeader& header);
  void handle_reset(std::int64_t position, Instant now);
  void handle_syn(const wire::TcpHeader& header, Instant now);
  wire::TcpTimestamps stamp(Instant now) const {
    return {timestamps_.value(now), timestamps_.recent()};
  }
  const wire::TcpTimestamps* timestamps_of(const wire::TcpHeader& header) const;
  void note_timestamps(const wire::TcpHeader& header, const Placement& placement);
  bool passes_paws(const wire::TcpHeader& header, const Placement& placement, Instant now);
  bool is_acceptable(const Placement& placement) const;
  bool repeats_recent(const Placement& placement) const;
  bool has_plausible_ack(const wire::TcpHeader& header) const;
  bool answers_our_ack(std::int64_t reset_position) const;
  void handle_unacceptable(const wire::TcpHeader& header, const Placement& placement, Instant now);
  bool completes_handshake(const wire::TcpHeader& header, Instant now);
  bool handle_acknowledgment(const wire::TcpHeader& header, const Placement& placement,
                             Instant now);
  // The SACK option as positions.
  struct Reports {
    std::array<Range, wire::kMaxSackBlocks> blocks{};
    std::size_t count = 0;
    std::optional<Range> duplicate;
  };
  Reports read_reports(const wire::TcpHeader& header, std::int64_t ack) const;
  void handle_payload(const wire::TcpHeader& header, ConstBytes payload, const Placement& placement,
                      Instant now);
  std::optional<std::uint64_t> outstanding_position(std::uint32_t sequence) const;
  void challenge(Instant now);
  bool note_keep_alive(const wire::TcpHeader& header, const Placement& placement);
  bool leave_question(const Placement& placement, Instant now);
  void note_stray_answer(const wire::TcpHeader& header, const Placement& placement);
  void reset_unacceptable(const wire::TcpHeader& header);

  // Lifecycle (endpoint.cc)
  TimeWait numbers() const;
  const Profile& profile() const { return around_.profile(); }
  Timers& timers() { return around_.timers; }
  Announced announced() const { return {around_.mss, profile().window_scale}; }
  void set_state(State next);
  void negotiate_with(const wire::TcpHeader& syn);
  void establish(std::uint64_t peer_window, Instant now);
  void handle_syn_timeout(Instant now);
  void on_own_fin_acknowledged(Instant now);
  void on_peer_fin(Instant now);
  void enter_time_wait(Instant now);
  void on_fin_released(Instant now);
  void arm_half_closed(Instant now);
  bool is_over() const { return state_ == State::kClosed && trace_size_ > 0; }
  void fail(CloseReason reason);
  void send_reset();

  // Output (endpoint_output.cc)
  std::optional<SegmentToSend> poll_handshake(Instant now);
  std::optional<SegmentToSend> poll_data(Instant now);
  SegmentToSend make_syn(Instant now);
  SegmentToSend make_segment(std::uint64_t position, std::uint8_t flags, Instant now);
  void point_to_urgent(wire::TcpHeader& header, std::uint64_t position) const;
  bool goes_on_from(const SegmentToSend& segment) const;
  std::uint16_t room_of_data() const;
  std::size_t most_sack_blocks() const { return negotiation_.timestamps ? 3 : 4; }
  void fill(SegmentToSend& segment, const Transmission& transmission);

  // The header of a reset; no flags: there is none to send.
  struct Reset {
    std::uint32_t sequence = 0;
    std::uint32_t acknowledgment = 0;
    std::uint8_t flags = 0;
    explicit operator bool() const { return flags != 0; }
  };

  static Environment environment(const Config& config, Arena& arena, Shared shared);

  Environment around_;
  Sender sender_;
  Receiver receiver_;
  std::uint64_t last_ack_sent_ = 0;  // position
  Instant syn_sent_at_ = Instant::never();
  std::uint32_t keep_alives_ = 0;
  std::uint32_t stray_answers_ = 0;
  Timestamps timestamps_;
  SequenceSpace send_space_;
  SequenceSpace receive_space_;
  Reset reset_;  // to send next
  ChallengeLimit challenges_;
  Negotiation negotiation_;
  Offer offer_;
  KeepAlive keep_alive_;
  Ecn ecn_;
  State state_ = State::kClosed;
  CloseReason reason_ = CloseReason::kNone;
  Acceptance acceptance_ = Acceptance::kRefused;  // of the segment in hand
  std::uint8_t syn_retries_ = 0;
  bool opened_actively_ : 1 = false;
  bool syn_owed_ : 1 = false;
  bool path_error_heard_ : 1 = false;  // a passing one, in SYN-SENT
  bool syn_held_ : 1 = false;          // until answer()
  bool reset_is_ours_ : 1 = false;  // what answers the peer's FIN left, or leaves, behind our FIN
  bool peer_scales_windows_ : 1 = false;
  bool leaves_questions_ : 1 = false;
  Question question_ = Question::kNone;
  static constexpr std::size_t kTraceSize = 10;  // no path through the diagram is longer
  std::uint8_t trace_size_ = 0;
  std::array<State, kTraceSize> trace_{};
};

}  // namespace satrelay::tcp
