// The streams of one association: their table, how they begin and end, which of them wait for what,
// and the credit of both directions. For another peer, or without one, a session builds a new
// object, so nothing is reset by hand. Two things outlive it in the session: the ids that we have
// used, and the memory of the streams, which is freed some at a time (retired_streams.h).
//
// `reach`: the time until credit that is granted now brings bytes, a round trip and a feedback
// interval.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "pep/base/arena.h"
#include "pep/base/bytes.h"
#include "pep/base/incremental_scan.h"
#include "pep/base/time.h"
#include "pep/base/work_count.h"
#include "pep/schedule/host_share.h"
#include "pep/stp/streams/copy_queue.h"
#include "pep/stp/streams/credit/lane_share.h"
#include "pep/stp/streams/credit/receive_credit.h"
#include "pep/stp/streams/credit/send_credit.h"
#include "pep/stp/streams/retired_streams.h"
#include "pep/stp/streams/schedule/stream_schedule.h"
#include "pep/stp/streams/stream.h"
#include "pep/stp/streams/stream_table.h"
#include "pep/stp/types.h"

namespace satrelay::stp {

class Streams {
 public:
  // As the members of the same names in stp::Config.
  struct Config {
    std::uint32_t max_streams = 65536;
    bool reserves = false;
    std::uint64_t lane_receive_limit = 0;
    std::uint64_t stream_receive_limit = 0;
    std::uint64_t stream_send_limit = 0;
    Duration stream_linger;
    Duration memory_interval;      // between two looks for memory that other users have freed
    std::uint32_t least_turn = 0;  // bytes (stream_schedule.h)
    schedule::HostShares* host_shares = nullptr;
    std::uint64_t hash_secret = 0;
  };

  // Frames that the next packets must carry: a list of streams for each kind.
  struct Due {
    OpenList opens;
    FinList fins;  // that no byte can carry
    ResetList resets;
    CreditList credits;
    ConfirmList confirms;
    ConfirmList questions;  // CONFIRMs with only a question or an answer
  };

  // `promised`: the lane's credit that our HELLO grants. `arena` and `work` outlive this object.
  Streams(const Config& config, Arena& arena, WorkCount& work, std::uint64_t promised);
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  // The peer is established, and its HELLO grants this credit.
  void start(std::uint64_t lane_credit, std::uint64_t stream_credit, Instant now);
  // The association is over, and this object is destroyed next. If there are few streams, their
  // memory is freed at once.
  void leave_to(RetiredStreams& retired_streams);

  // --- which streams there are (streams.cc)
  Stream* find(std::uint64_t id) const { return table_.find(id); }
  // The stream as the relay sees it: nullptr while its OPEN is awaited, and once it is reset or
  // released.
  Stream* visible(StreamId id) const {
    Stream* stream = table_.find(static_cast<std::uint64_t>(id));
    return stream != nullptr && stream->visible() && !stream->released ? stream : nullptr;
  }
  // The stream in the slot `index`; nullptr if the stream of `generation` is gone.
  Stream* present(std::uint32_t index, std::uint16_t generation) const {
    Stream& stream = table_.at(index);
    return stream.phase != Stream::Phase::kFree && stream.generation == generation ? &stream
                                                                                   : nullptr;
  }
  bool full() const { return table_.full(); }
  std::size_t open_count() const { return open_count_; }  // kOpen and kAwaitingOpen
  // Whether there are a place and memory for one more stream that carries bytes.
  bool has_place() const {
    return open_count_ < config_.max_streams && (!config_.reserves || arena_.free_reserves() >= 2);
  }
  // Whether one more stream would go on in both directions, even if all the others stood still.
  bool has_lane_share() const {
    return send_credit_.has_share() &&
           receive_credit_.lane().promised() >= (open_count_ + 1) * LaneShares::kShare;
  }
  // The ids of the peer that have been used.
  PeerIds& peer_ids() { return peer_ids_; }

  // --- the life of a stream (streams.cc)
  // kMemory: with a reserve for each half, which the arena must have. kNothing: without, for a
  // stream that is reset at once. nullptr if no slot is free.
  enum class Own : std::uint8_t { kNothing, kMemory };
  [[nodiscard]] Stream* create(std::uint64_t id, Stream::Phase phase, Own own, Instant now);
  // Opens a stream of ours, with an OPEN that carries `metadata`; nullptr if no slot is free.
  [[nodiscard]] Stream* open(std::uint64_t id, ConstBytes metadata, std::uint32_t context,
                             Instant now);
  // The OPEN of a peer's stream has arrived.
  void on_opened(Stream& stream, ConstBytes metadata);
  // The relay ends the stream, and gets no more events for it.
  void reset(Stream& stream, ResetReason reason, Instant now);
  // The same for a stream that the relay does not know or has released. The phase is not kResetting
  // yet.
  void begin_reset(Stream& stream, ResetReason reason, Instant now);
  // The session ends the stream. The relay gets the event of a reset by the peer, if it knows the
  // stream.
  void fail(Stream& stream, ResetReason reason, Instant now);
  void release(Stream& stream, Duration reach, Instant now);
  // The stream has been idle for long. Frees the memory that it does not need.
  void cool(Stream& stream);
  void free_if_over(Stream& stream);
  // When the next stream has waited too long: for its OPEN, for the end of its reset, or for its
  // end after the relay has released it.
  Instant next_linger() const {
    return linger_.empty() ? Instant::never() : linger_.front()->hot().linger_deadline;
  }
  // The times since which the peer is heard, and since which it hears us; never() if it does not. A
  // stream is reset only if these have lasted for stream_linger: `heard` if it waits for its OPEN,
  // else `reached`. Returns how many streams were reset.
  struct PathSince {
    Instant heard, reached;
  };
  [[nodiscard]] std::size_t run_linger(const PathSince& path, Instant now);

  // --- events
  void notify(Stream& stream, bool Stream::Pending::*event);
  bool has_events() const { return !events_.empty(); }
  std::optional<Event> poll_event();

  // --- the sending side (streams_sending.cc)
  // For the writer. The stream is visible.
  std::size_t write(Stream& stream, ConstBytes bytes, Instant now);
  bool write_whole(Stream& stream, std::span<const ConstBytes> parts, Instant now);
  void wait_for_room(Stream& stream, std::uint64_t bytes, Instant now);
  void set_ready(Stream& stream, bool ready);
  void finish(Stream& stream);
  void confirm(Stream& stream, const Confirmation& confirmation, Instant now);
  // A CONFIRM, or an OPEN, is due: it is new, or its last frame was lost.
  enum class News : std::uint8_t { kState, kQuestion };
  void owe_confirmation(Stream& stream, News news);
  void owe_open(Stream& stream);
  // The OPEN is in a packet, or has arrived after all.
  void on_open_left(Stream& stream);
  std::uint64_t room(const Stream& stream) const {
    return stream.send.room(config_.stream_send_limit, kept_for_receiving());
  }
  // Whether there is the room that the writer needs before it writes anything.
  bool has_room(const Stream& stream) const { return room(stream) >= stream.hot().room_needed; }
  void mark_blocked(Stream& stream, Instant now);

  // For the scheduler.
  StreamSchedule& schedule() { return schedule_; }
  const StreamSchedule& schedule() const { return schedule_; }
  Due& due() { return due_; }
  const Due& due() const { return due_; }
  CopyQueue& copies() { return copies_; }
  const CopyQueue& copies() const { return copies_; }
  // Those of `classes` in which streams have bytes to send, lost or new.
  schedule::ClassSet has_bytes(schedule::ClassSet classes) const {
    const schedule::ClassSet lost = schedule_.has_lost(), fresh = schedule_.has_new();
    return classes & (send_credit_.any() ? lost | fresh : lost);
  }
  // Whether nothing of these classes waits that could be sent.
  bool idle(schedule::ClassSet classes) const {
    return copies_.empty() && idle_but_for_copies(classes);
  }
  bool idle_but_for_copies(schedule::ClassSet classes) const {
    return due_.opens.empty() && due_.fins.empty() && has_bytes(classes) == 0;
  }
  // The stream that comes first in the next packet, as far as is known, if class `first` has the
  // turn; nullptr: there is none.
  const Stream* first(schedule::ClassSet classes, schedule::ClassId first) const;
  // Whether little is left to send, as far as the writers have announced it. `next`: the result of
  // first(). If it is blocked or ready, it has more than can leave now.
  bool near_end(const Stream* next) const;
  // Puts the stream into the list that the scheduler serves, or takes it out.
  void update_active(Stream& stream);
  // Bytes of the stream were acknowledged.
  void on_acknowledged(Stream& stream, Instant now);

  // Progress leaves no more often than packets are reported: every `interval`.
  bool confirmations_due(Instant now) const { return now >= next_confirm(); }
  Instant next_confirm() const {
    if (!due_.confirms.empty()) return next_confirm_;
    return due_.questions.empty() ? Instant::never() : later(next_confirm_, next_question_);
  }
  void on_all_confirmed(Duration interval, Instant now) { next_confirm_ = now + interval; }
  // Questions are left, and must wait.
  void deferred_questions(Instant until) { next_question_ = until; }

  // --- credit of the peer, for what is sent (streams_sending.cc)
  const SendCredit& send_credit() const { return send_credit_; }
  void raise_lane_credit(std::uint64_t limit);
  void raise_credit(Stream& stream, std::uint64_t limit);
  void accept(const StartCreditFrame& frame) {
    if (send_credit_.accept(frame)) activation_.begin(table_.slot_count());
  }
  void on_sent(std::uint64_t new_bytes) { send_credit_.on_sent(new_bytes); }
  bool has_lane_waiters() const { return !lane_waiters_.empty(); }
  void wake_lane_waiters() {
    if (has_lane_waiters()) wake_some_lane_waiters();
  }
  // As long as fewer bytes of the stream than this leave, and nothing else happens, only its count
  // of sent bytes changes. Zero: not known.
  std::uint64_t sure_bytes(const Stream& stream) const {
    const bool keeps_its_share = stream.lane_share.left == 0;
    if (stream.phase != Stream::Phase::kOpen || !keeps_its_share || has_lane_waiters()) {
      return 0;
    }
    return std::min(stream.send.unsent(), send_credit_.of(stream));
  }

  // --- credit for the peer, and the reader (streams.cc)
  ReceiveCredit& receive_credit() { return receive_credit_; }
  const ReceiveCredit& receive_credit() const { return receive_credit_; }
  void consume(Stream& stream, std::uint64_t count, Duration reach, Instant now);
  void set_reader_needs(Stream& stream, std::uint64_t bytes, Instant now);
  // A STREAM_CREDIT is due.
  void owe_credit(Stream& stream);
  // A STREAM_CREDIT leaves. Returns its limit, which holds from now on.
  std::uint64_t tell_credit(Stream& stream, Duration reach, Instant now);
  // A report leaves. Checks which other credit is worth a frame.
  void update_credit(Instant now);
  // Blocks that bytes out of order must leave to bytes in order.
  std::size_t reserve_blocks() const { return arena_.attainable_blocks() / 32 + 1; }
  // The arena has other users, which do not announce freed blocks. This is when to look for some.
  Instant memory_check() const { return memory_check_; }
  void check_memory(Instant now);

  // --- work on very many streams, of which each call does some
  bool work_waits() const {
    return schedule_.go_on_waits() || activation_.active() || first_credits_.active();
  }
  void go_on();

  // --- the accounts, counted anew (streams_audit.cc)
  std::optional<std::string> audit() const;
  void add_held(BlocksHeld& held) const;

 private:
  ConfirmList& confirms_of(const Stream& stream) {
    return stream.only_asks ? due_.questions : due_.confirms;
  }
  // The most due streams in one call. The others are due in the next.
  static constexpr std::size_t kStreamsPerTimeout = 64;

  void unlink(Stream& stream);
  void erase(Stream& stream);
  void on_written(Stream& stream, Instant now);
  void give_first_credits();
  void wake_some_lane_waiters();
  void look_for_memory(Instant now) {
    if (memory_check_.is_never()) memory_check_ = now + config_.memory_interval;
  }
  template <typename Visit>
  void visit_open(IncrementalScan& lap, Visit&& visit);
  // Memory that writers must leave. Granted credit is a promise. Also, two gateways with arenas
  // full of bytes to send could not take each other's bytes.
  std::uint64_t kept_for_receiving() const {
    return std::max<std::uint64_t>(receive_credit_.lane().promised(),
                                   arena_.attainable_blocks() / 8 * arena_.block_size());
  }

  Config config_;
  Arena& arena_;
  WorkCount& work_;
  StreamTable table_;
  StreamSchedule schedule_;
  PeerIds peer_ids_;
  std::size_t open_count_ = 0;

  Due due_;
  EventList events_;
  LingerList linger_;  // all wait equally long, so they are in order of deadlines
  MemoryList memory_waiters_;
  LaneList lane_waiters_;
  IncrementalScan activation_;     // START_CREDIT has changed what may be sent of each stream
  IncrementalScan first_credits_;  // gives STREAM_CREDIT to streams that need one now
  CopyQueue copies_;
  Instant next_confirm_;
  Instant next_question_;  // questions alone wait until then

  SendCredit send_credit_;
  ReceiveCredit receive_credit_;
  Instant memory_check_ = Instant::never();
};

}  // namespace satrelay::stp
