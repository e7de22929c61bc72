// One TCP endpoint (RFC 9293) without addresses, clock or socket: a spoofed server towards a client
// or a spoofed client towards a server.
//
// Verbs: handle_* feed input, mutators act for the application (the relay), poll_* take output,
// getters look. After any handle_* or mutator, call poll_segments() until it answers nullopt, then
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
#include "pep/base/image/image.h"
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
  // Answers a SYN: enters SYN-RECEIVED and owes a SYN-ACK. kAtOnce: it may leave now. kLater: it
  // leaves when the application calls answer(), as it waits for the far host first. kSent: the
  // application sent it before the endpoint existed, with config.initial_sequence (a SYN cookie).
  enum class Answer : std::uint8_t { kAtOnce, kLater, kSent };
  void accept(const wire::TcpHeader& syn, Instant now, Answer when = Answer::kAtOnce);
  // Opens towards a server: enters SYN-SENT. `offer` holds the options of the far client's SYN
  // (MSS, window scale presence, SACK, timestamps): the endpoint offers no other option. `ecn` says
  // whether the far client offered ECN.
  void connect(const wire::TcpOptions& offer, Instant now, EcnOffer ecn = EcnOffer::kNo);

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
  struct Taken {
    std::size_t count = 0;
    Acceptance acceptance = Acceptance::kRefused;  // of each
  };
  Taken handle_segments(std::span<const Segment> segments, Instant now);
  Acceptance handle_segment(const wire::TcpHeader& header, ConstBytes payload, Instant now,
                            EcnField ecn = EcnField::kNotCapable) {
    const Segment segment{&header, payload, ecn};
    return handle_segments({&segment, 1}, now).acceptance;
  }
  // An ICMP message quotes a segment with `sequence`. It says that the path carries at most
  // `segment_limit` octets of options and payload in a segment (RFC 1191, RFC 8201). Ignored unless
  // the quoted segment is in flight (RFC 5927 section 7).
  void handle_packet_too_big(std::uint32_t sequence, std::uint16_t segment_limit, Instant now);
  // An ICMP error quotes a segment with `sequence`. Ignored unless that segment is in flight (RFC
  // 5927 section 4.1, RFC 9293 MUST-56). In SYN-SENT, an error that is not passing ends the
  // attempt, as it ends connect() of a host (RFC 5461 section 4.1). Returns whether it did. Later
  // no error has an effect: lost segments are sent again until R2 (RFC 5927 section 5.2).
  bool handle_path_error(std::uint32_t sequence, PathError error);
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
  // No more write(): FIN follows the last byte.
  void close();
  // Sends RST (if synchronised) and closes at once. Everything stored is dropped.
  void abort(Instant now);
  // Like abort(), but without RST: for a SYN that should stay unanswered.
  void abandon();
  // Sends the SYN-ACK that accept() left for later.
  void answer(Instant now);
  // Acknowledges nothing from this stream offset on, though it is stored: the far host has not
  // acknowledged it. A lower offset than before has no effect. kNoHold: acknowledge as TCP does.
  static constexpr std::uint64_t kNoHold = Receiver::kNoHold;
  void hold_acknowledgments(std::uint64_t from, Instant now);
  // The peer's FIN is not acknowledged before release_fin().
  void hold_fin() { receiver_.hold_fin(); }
  void release_fin(Instant now);
  // Whether `header` does not answer our SYN, but belongs to another connection that the peer has.
  // The reset that RFC 9293 asks for would end that connection.
  bool shows_another_connection(const wire::TcpHeader& header) const {
    return state_ == State::kSynSent && header.has(wire::TcpFlags::kAck) &&
           !header.has(wire::TcpFlags::kRst) && header.acknowledgment != send_space_.to_sequence(0);
  }
  bool owes_syn() const { return syn_held_ || syn_owed_; }  // our SYN or SYN-ACK has not left
  bool has_repeated_syn() const { return syn_retries_ > 0; }
  bool holds_fin() const { return receiver_.holds_fin(); }  // it has come, unacknowledged
  // The application takes `count` of the readable bytes; may cause a window update.
  void consume(std::uint64_t count);
  // Changes how much may be stored; a window once advertised is not taken back (RFC 9293 3.8.6).
  void set_receive_limit(std::uint64_t bytes);
  std::uint64_t receive_limit() const;
  // Takes a reserve of the arena for each direction, before anything is stored. The endpoint keeps
  // its reserves however little memory others leave. False, with none taken, if the arena has too
  // few.
  [[nodiscard]] bool own_memory();
  // Size of the reserve for bytes to send; 0: none.
  std::uint64_t own_memory_size() const {
    const ByteQueue& queue = sender_.queue();
    return queue.has_reserve() ? queue.arena().reserve_size() : 0;
  }
  // Bytes that write() can store without another block of the arena.
  std::uint64_t own_room() const { return sender_.queue().room(0); }
  // Gives back each reserve that holds no bytes: for an endpoint in TIME-WAIT or CLOSED.
  void give_up_own_memory();
  // Frees heap memory that is needed only while bytes are in flight: for a quiet connection.
  void trim() {
    sender_.trim(around_.timers);
    receiver_.trim();
    around_.timers.trim();
  }
  // While set, arriving bytes are stored in the reserve only. The rest counts as lost.
  void set_frugal(bool frugal) { receiver_.set_frugal(frugal); }

  // Asks a peer that may be gone whether it is still there. If it does not answer in about a
  // minute, the connection ends (CloseReason::kTimeout, with RST).
  void send_keep_alive(Instant now);
  // Asks the peer once, and never ends the connection. awaits_word() holds until an accepted
  // segment of the peer arrives. False if there is no peer to ask: before the handshake is
  // complete, in TIME-WAIT and in CLOSED.
  bool ask_once();
  bool awaits_word() const { return keep_alive_.listening(); }
  // While set, the owner answers the peer's questions whether the far host is still there:
  // keep-alives, and probes of a closed window.
  void leave_questions(bool leave) { leaves_questions_ = leave; }
  enum class Question : std::uint8_t {
    kNone,
    kEmpty,
    kWithByte,  // of garbage; or the last byte of the peer's data, sent again
  };
  Question take_question() { return std::exchange(question_, Question::kNone); }
  // Answers the question: the far host is there.
  void answer_question() { receiver_.acks().owe_now(); }

  // --- output --------------------------------------------------------------------------------
  // The next segment, or up to `most` segments if they carry new data and are of full size. nullopt
  // if there is none now.
  std::optional<SegmentToSend> poll_segments(std::size_t most, Instant now);
  std::optional<SegmentToSend> poll_segment(Instant now) { return poll_segments(1, now); }
  // False only if poll_segments() has nothing.
  bool may_have_segment();
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
  std::uint64_t writable() const {
    return sender_.writable(profile());
  }  // bytes that send_limit allows
  // For a segment with URG, before handle_segments(): the stream offset up to which it marks the
  // peer's data as urgent. nullopt if all of that has arrived. The mark counts only if the segment
  // is accepted.
  std::optional<std::uint64_t> urgent_mark_of(const wire::TcpHeader& header,
                                              std::size_t payload_size) const;
  // Whether segments carry an urgent pointer: the peer has not acknowledged all urgent data.
  bool is_urgent() const { return sender_.is_urgent(); }
  // Bytes that the peer has acknowledged; 0 again once it has acknowledged the FIN, or is gone.
  std::uint64_t acknowledged() const { return sender_.queue().begin(); }
  // Bytes that were sent at least once; the FIN counts as one more.
  std::uint64_t sent() const { return sender_.next(); }
  // Bytes written and not yet acknowledged by the peer.
  std::uint64_t unacknowledged() const { return sender_.queue().size(); }
  bool sends_in_vain() const { return sender_.sends_in_vain(); }
  // close() called, and data and FIN acknowledged.
  bool finished_sending() const { return sender_.fin_acknowledged(); }
  bool peer_scales_windows() const { return peer_scales_windows_; }  // according to its SYN
  // Largest payload of a segment.
  std::uint16_t send_mss() const { return negotiation_.segment_size(); }
  std::uint64_t receive_window() const;                                // last advertised, bytes
  std::uint64_t peer_window() const { return sender_.peer_window(); }  // bytes
  std::uint64_t congestion_window() const { return sender_.congestion_window(); }
  // How often the peer has asked whether we are still there (RFC 9293 section 3.8.4).
  // Retransmissions of the peer's last byte look the same, and count. Probes of a window that is
  // closed look the same, too; they count only if the receive limit is 0.
  std::uint32_t keep_alives() const { return keep_alives_; }
  // How often the peer has sent a segment that nothing of ours can have caused: a pure ACK without
  // news while nothing was in flight, or, before answer(), a reset of another connection. A peer
  // does so if another device answers it, too (RFC 5961 section 4, RFC 9293 section 3.5.2).
  std::uint32_t stray_answers() const { return stray_answers_; }
  // Zero before the first sample.
  Duration smoothed_rtt() const { return sender_.recovery().rtt().smoothed(); }
  const Counters& counters() const { return around_.counters(); }
  // In TIME-WAIT: whether this SYN begins a new incarnation of the connection, so that the owner
  // may replace this endpoint by a new one (RFC 9293 section 3.10.7.4, RFC 6191).
  bool admits_new_incarnation(const wire::TcpHeader& syn) const;
  // The state that is left in TIME-WAIT, once the endpoint has nothing more to send. The owner may
  // keep that state alone.
  std::optional<TimeWait> time_wait() const;
  // Blocks of the arena, counted one by one: O(bytes stored).
  struct BlocksHeld {
    std::size_t received = 0;
    std::size_t to_send = 0;
    std::size_t reserves = 0;  // taken; each is a part of a block
  };
  BlocksHeld blocks_held() const {
    return {
        receiver_.stream().blocks_held(), sender_.queue().blocks_held(),
        (receiver_.stream().has_reserve() ? 1U : 0U) + (sender_.queue().has_reserve() ? 1U : 0U)};
  }
  // The states visited, oldest first, for messages and tests.
  std::span<const State> trace() const { return std::span(trace_).first(trace_size_); }

  // An endpoint that is read is new, with the same Common, and its stored bytes are in the arena.
  void image(Image& image);

 private:
  // The positions that a segment occupies in the peer's stream.
  struct Placement {
    std::int64_t begin = 0;
    std::int64_t payload_end = 0;
    std::int64_t end = 0;  // FIN included
    bool occupies_sequence() const { return end > begin; }
  };

  // Input (endpoint_input.cc)
  void note_life(Instant now);
  std::size_t take_next_bytes(std::span<const Segment> segments, Instant now);
  std::size_t take_acknowledgments(std::span<const Segment> segments, Instant now);
  void process_segment(const Segment& segment, Instant now);
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
  std::optional<SegmentToSend> poll_data(std::size_t most, Instant now);
  SegmentToSend make_syn(Instant now);
  SegmentToSend make_segment(std::uint64_t position, std::uint8_t flags, Instant now);
  void point_to_urgent(wire::TcpHeader& header, std::uint64_t position) const;
  std::size_t most_sack_blocks() const { return negotiation_.timestamps ? 3 : 4; }

  // The header of a reset. Without flags, no reset is due.
  struct Reset {
    std::uint32_t sequence = 0;
    std::uint32_t acknowledgment = 0;
    std::uint8_t flags = 0;
    explicit operator bool() const { return flags != 0; }
    void image(Image& image) { image(sequence, acknowledgment, flags); }
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
  Acceptance acceptance_ = Acceptance::kRefused;  // of the segment being handled
  std::uint8_t syn_retries_ = 0;
  bool opened_actively_ : 1 = false;
  bool syn_owed_ : 1 = false;
  bool path_error_heard_ : 1 = false;  // a passing error, in SYN-SENT
  bool syn_held_ : 1 = false;          // until answer()
  // Our ACK of the peer's FIN leaves behind our own FIN, as it was held: TIME-WAIT must follow.
  bool last_ack_is_ours_ : 1 = false;
  bool peer_scales_windows_ : 1 = false;
  bool leaves_questions_ : 1 = false;
  Question question_ = Question::kNone;
  static constexpr std::size_t kTraceSize = 10;  // no path through the state diagram is longer
  std::uint8_t trace_size_ = 0;
  std::array<State, kTraceSize> trace_{};
};

}  // namespace satrelay::tcp
