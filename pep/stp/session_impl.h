// The session's units joined: who the peer is, what is in flight, what has arrived, the streams and
// their schedule. session.cc has the mutators, events and timers, session_receive.cc the way in,
// session_send.cc the way out, session_streams.cc the life of a stream.
#pragma once

#include <algorithm>

#include "pep/base/lap.h"
#include "pep/base/work_count.h"
#include "pep/stp/connection.h"
#include "pep/stp/connection/capacity_announcement.h"
#include "pep/stp/connection/handshake.h"
#include "pep/stp/connection/key_doubt.h"
#include "pep/stp/connection/key_exchange.h"
#include "pep/stp/connection/protection.h"
#include "pep/stp/fec/fec.h"
#include "pep/stp/packets/loss_detector.h"
#include "pep/stp/packets/packet_builder.h"
#include "pep/stp/packets/rate_gate.h"
#include "pep/stp/packets/sent_ledger.h"
#include "pep/stp/session.h"
#include "pep/stp/streams/event_queue.h"
#include "pep/stp/streams/lane_share.h"
#include "pep/stp/streams/parked_bytes.h"
#include "pep/stp/streams/remains.h"
#include "pep/stp/streams/stream.h"
#include "pep/stp/streams/stream_schedule.h"
#include "pep/stp/streams/stream_table.h"
#include "pep/stp/wire/frames.h"
#include "pep/stp/wire/packet.h"

namespace satrelay::stp {

struct Session::Impl {
  Impl(const Config& settings, Arena& blocks, control::Pacer& carrier,
       control::RateController& rate_controller, StreamSource& stream_source, Instant start);

  // --- the peer (session.cc)
  bool connected() const { return state == PeerState::kAlive || state == PeerState::kSuspect; }
  void establish();
  void take_over();
  void renew_promise();
  void heard();
  void drop_connection();
  void leave_streams();
  // What was begun with very many objects at once and is done some at a time.
  bool work_waits() const {
    return !remains.empty() || schedule.go_on_waits() || activation.under_way() ||
           first_credits.under_way() || !connection->reports.empty();
  }
  void begin_call(Instant at) {
    now = at;
    enough_settled = work.total() + kSettledAtOnce;
  }
  void go_on();
  void give_first_credits();
  template <typename Visit>
  void visit_open(Lap& lap, Visit&& visit);
  void close_by_peer();
  void run_timers();
  void run_linger();
  void check_memory();
  std::optional<Event> poll_stream_event();
  Instant next_timeout() const;
  bool control_waits() const;
  bool data_waits() const;

  // --- the life of a stream (session_streams.cc)
  // Slots beyond max_streams: for streams that wait for the end of their reset, and for refusals.
  StreamTable new_table() const {
    return {arena, config.max_streams + config.max_streams / 4 + 64, config.hash_secret};
  }
  StreamSchedule new_schedule() const {
    return StreamSchedule(2U * config.datagram_size, config.host_shares);
  }
  bool opened_here(std::uint64_t id) const {
    return (id & 1U) == (config.opens_even_streams ? 0U : 1U);
  }
  Stream* visible(StreamId id) const;
  // `own`: blocks that the arena must have for each half.
  Stream* create_stream(std::uint64_t id, Stream::Phase phase, std::uint32_t own);
  // Whether there are a place and memory for one more that carries bytes.
  bool has_place() const {
    return open_count < config.max_streams && arena.free_blocks() >= 2U * config.own_blocks;
  }
  // Whether it would go on, in both directions, though all the others stood still.
  bool has_lane_share() const {
    return lane_shares.has_place(connection->lane_send.available()) &&
           connection->lane_receive.promised() >= (open_count + 1) * LaneShares::kShare;
  }
  void free_stream(Stream& stream);
  void unlink(Stream& stream);
  void begin_reset(Stream& stream, ResetReason reason);
  void fail_stream(Stream& stream, ResetReason reason);
  void free_if_over(Stream& stream);
  void consume(Stream& stream, std::uint64_t count);
  std::uint64_t stream_window(Stream& stream);
  std::uint64_t least_credit() const;
  void set_reader_needs(Stream& stream, std::uint64_t bytes);
  void update_start_credit();
  // As long as credit that is granted now takes to bring bytes.
  Duration reach_of_credit() const {
    return connection->rtt.smoothed() + connection->feedback.interval();
  }
  void update_active(Stream& stream);
  std::uint64_t lane_available(const Stream& stream) const {
    return lane_shares.available(stream.lane_share, connection->lane_send.available());
  }
  void wake_lane_waiters();
  void notify(Stream& stream, bool Stream::Pending::*event);
  void on_send_progress(Stream& stream);
  std::uint64_t room(const Stream& stream) const {
    return stream.send.room(config.stream_send_limit, kept_for_receiving());
  }
  // Memory that writers must leave. Granted credit is a promise; and two gateways whose arenas are
  // full of bytes to send could not take each other's.
  std::uint64_t kept_for_receiving() const {
    return std::max<std::uint64_t>(connection->lane_receive.promised(),
                                   arena.total_blocks() / 8 * arena.block_size());
  }
  // What the writer needs before it writes anything.
  bool has_room(const Stream& stream) const { return room(stream) >= stream.room_needed; }
  void mark_blocked(Stream& stream);
  void on_written(Stream& stream);

  // --- the way in (session_receive.cc)
  struct FrameHandler;
  void handle_packet(ConstBytes datagram);
  void handle_hello(ConstBytes datagram, const PacketHeader& header);
  std::optional<KeyExchange::Reading> read_keys(const HelloFrame& hello, const HelloKeys& keys,
                                                bool silent);
  void bind_newcomer(std::uint64_t epoch);
  void doubt_peer();
  void note_refusal();
  void take_accepted_keys();
  void take_keys(const std::optional<SessionKeys>& of_our_offer);
  bool needs_keys() const {
    return protection.is_worn_out(connection->ledger.next()) ||
           protection.is_unheard(connection->ledger.next(), config.suspect_after, now);
  }
  void handle_frames(ConstBytes datagram, const PacketHeader& header);
  // The frames of a packet of the session, which may begin with it; else it is counted.
  struct Opened {
    std::uint64_t number = 0;
    ConstBytes frames;
  };
  std::optional<Opened> open_packet(ConstBytes datagram, const PacketHeader& header);
  std::optional<Opened> open_of_newcomer(ConstBytes datagram, const PacketHeader& header);
  enum class GapMay : std::uint8_t { kBeDisorder, kBeRepaired };
  void on_packet_recorded(std::uint64_t number, bool gap, bool eliciting, GapMay may);
  void handle_protection(std::uint64_t number, ConstBytes frames,
                         const std::optional<RepairFrame>& repair);

  // --- what became of our packets (session_loss.cc)
  // What one call settles, in objects of WorkCount: what is more waits for the next.
  static constexpr std::uint64_t kSettledAtOnce = 1024;
  void handle_report(const FeedbackFrame& report);
  [[nodiscard]] bool work_off(ReportUnderWay& under_way);
  void work_off_reports();
  void note_outage();
  LossDetector::Rule loss_rule(const FeedbackFrame& report);
  void ask_for_missed_reports(const FeedbackFrame& report);
  void run_loss_timer();
  void arm_tail_probe();
  void make_ledger_room();
  void count_losses(std::uint64_t packets);
  double loss_ratio() const {
    return connection->recent_packets > 0
               ? std::min(1.0, connection->recent_losses / connection->recent_packets)
               : 0;
  }
  // The stream that sent `item`; nullptr if it is gone.
  Stream* owner(const SentItem& item) const;
  // What the loss detector says of our packets.
  struct Settler;

  // --- the way out (session_send.cc)
  std::size_t poll_packet(MutableBytes out);
  void greet_again();
  std::size_t send_hello(MutableBytes out);
  std::size_t send_close(MutableBytes out);
  std::size_t send_mtu_probe(MutableBytes out);
  bool mtu_probe_waits() const;
  std::size_t finish_packet(PacketBuilder& packet);
  std::size_t count_out(ConstBytes packet);
  std::size_t cost_of(const ByteWriter& frames, std::size_t before) const;
  void write_control(PacketBuilder& packet);
  void write_confirmations(PacketBuilder& packet);
  bool confirmations_due() const { return !confirms.empty() && now >= connection->next_confirm; }
  void write_data_frames(PacketBuilder& packet);
  bool write_opens(PacketBuilder& packet);
  enum class RepairCap : std::uint8_t { kShare, kNone };
  void write_class(PacketBuilder& packet, ClassId stream_class);
  void write_retransmissions(PacketBuilder& packet, ClassId stream_class, RepairCap cap);
  void write_fins(PacketBuilder& packet);
  void write_new_data(PacketBuilder& packet, ClassId stream_class);
  void write_open_frame(PacketBuilder& packet, Stream& stream);
  void write_fin(PacketBuilder& packet, Stream& stream);
  // Of these classes, those with bytes of streams to send, lost or new.
  ClassSet has_bytes(ClassSet classes) const {
    const ClassSet lost = schedule.has_lost(), fresh = schedule.has_new();
    return classes & (connection->lane_send.available() > 0 ? lost | fresh : lost);
  }
  // The stream with whose bytes the next packet begins, as far as can be told.
  const Stream* first_stream() const;
  void count_class(const Stream& stream, std::size_t bytes);
  bool idle() const;
  bool idle_but_for_copies() const;
  std::size_t write_data(PacketBuilder& packet, Stream& stream, std::uint64_t offset,
                         std::uint64_t available, unsigned times_lost);
  void plan_copies(const Stream& stream, std::uint64_t offset, std::size_t size,
                   unsigned times_lost);
  void write_copies(PacketBuilder& packet);
  bool data_allowed() const;

  // --- forward error correction (session_fec.cc)
  bool may_repair() const;
  bool is_short(const Stream& stream) const;
  bool near_end() const;
  bool wants_protection() const;
  bool is_useful(const FecSender::Purpose& purpose) const;
  FecSender::Waiting waiting() const;
  void protect(std::uint64_t number, ConstBytes frames, std::span<const SentItem> items);
  std::size_t send_repair(MutableBytes out);
  void run_fec();
  Instant fec_timeout() const;
  std::span<const Range> repairable(const FeedbackFrame& report, Duration delay) const;
  std::uint64_t note_repaired(const FeedbackFrame& report);

  std::size_t datagram_limit() const;
  std::uint64_t free_memory() const;
  // Kept from bytes that are out of order, for those in order.
  std::size_t reserve_blocks() const { return arena.total_blocks() / 32 + 1; }

  Config config;
  Arena& arena;
  RateGate gate;
  StreamSource& source;
  Instant now;  // of the last call

  PeerState state = PeerState::kConnecting;
  bool closed_here = false;
  int close_packets = 0;  // still to send
  std::uint64_t closing_number = 0;
  Instant last_close;
  Handshake handshake;
  std::optional<KeyExchange> key_exchange;  // of a session that encrypts
  KeyDoubt key_doubt;
  Protection protection;
  Protection newcomer;  // of its session, should it prove to be the peer
  PeerEvents peer_events;
  Counters counters;
  WorkCount work;

  std::optional<Connection> connection;  // always there
  std::unique_ptr<Fec> fec;  // its memory and counters outlive a connection; nullptr: off

  std::uint64_t enough_settled = 0;  // of `work`, in this call

  // Streams
  StreamTable streams;
  std::uint64_t next_local_index = 0;
  std::size_t open_count = 0;  // kOpen and kAwaitingOpen
  LaneShares lane_shares;
  std::uint64_t hello_lane_credit = 0;
  ParkedBytes parked;
  CapacityAnnouncement own_capacity;  // of what comes
  StreamSchedule schedule;
  Remains remains;    // of earlier sessions
  Lap activation;     // of streams: the peer lets more, or less, of each be sent
  Lap first_credits;  // of streams that need a word of their own now
  Turn turn;          // of the last poll
  std::vector<ClassBytes> sent_of_classes;  // in the packet that is being written
  OpenList opens;
  FinList fins;
  ResetList resets;
  CreditList credits;
  ConfirmList confirms;
  EventList events;
  LingerList linger;
  MemoryList memory_waiters;
  LaneList lane_waiters;
};

}  // namespace satrelay::stp
