// The streams as their writers and the scheduler see them: bytes that the relay writes, and which
// stream may send them now.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "pep/base/arena.h"
#include "pep/base/bytes.h"
#include "pep/base/incremental_scan.h"
#include "pep/base/time.h"
#include "pep/base/work_count.h"
#include "pep/schedule/class_set.h"
#include "pep/schedule/host_share.h"
#include "pep/stp/streams/copy_queue.h"
#include "pep/stp/streams/credit/receive_credit.h"
#include "pep/stp/streams/credit/send_credit.h"
#include "pep/stp/streams/due_frames.h"
#include "pep/stp/streams/memory_check.h"
#include "pep/stp/streams/schedule/stream_schedule.h"
#include "pep/stp/streams/stream.h"
#include "pep/stp/streams/stream_events.h"
#include "pep/stp/streams/stream_set.h"

namespace satrelay::stp {

class SendingSide {
 public:
  struct Config {
    std::uint64_t stream_limit = 0;  // bytes of a stream that are stored and not acknowledged
    std::uint32_t least_turn = 0;    // bytes (stream_schedule.h)
    schedule::HostShares* host_shares = nullptr;
  };
  // The other parts of Streams that this one uses. They outlive it.
  struct Parts {
    StreamSet& set;
    DueFrames& due;
    StreamEvents& events;
    MemoryCheck& memory_check;
    const ReceiveCredit& receive_credit;
    Arena& arena;
    WorkCount& work;
  };

  SendingSide(const Config& config, const Parts& parts)
      : parts_(parts),
        stream_limit_(config.stream_limit),
        schedule_(config.least_turn, config.host_shares) {}

  // --- the life of a stream
  void begin(Stream& stream);
  // The stream has been idle for long. Frees the memory that it does not need.
  void cool(Stream& stream);
  // Takes the stream out of all lists. It keeps its class and host.
  void forget(Stream& stream);

  // --- the writer
  std::size_t write(Stream& stream, ConstBytes bytes, Instant now);
  bool write_whole(Stream& stream, std::span<const ConstBytes> parts, Instant now);
  void wait_for_room(Stream& stream, std::uint64_t bytes, Instant now);
  void set_ready(Stream& stream, bool ready);
  void finish(Stream& stream);
  std::uint64_t room(const Stream& stream) const {
    return stream.send.room(stream_limit_, kept_for_receiving());
  }
  // Whether there is the room that the writer needs before it writes anything.
  bool has_room(const Stream& stream) const { return room(stream) >= stream.hot().room_needed; }
  void mark_blocked(Stream& stream, Instant now);
  // Writers wait for blocks of the arena.
  bool waits_for_memory() const { return !memory_waiters_.empty(); }
  // There may be some. Wakes writers that have room now. True if more may find room at once.
  [[nodiscard]] bool wake_memory_waiters();

  // --- the scheduler
  StreamSchedule& schedule() { return schedule_; }
  const StreamSchedule& schedule() const { return schedule_; }
  CopyQueue& copies() { return copies_; }
  const CopyQueue& copies() const { return copies_; }
  // Those of `classes` in which streams have bytes to send, lost or new.
  schedule::ClassSet has_bytes(schedule::ClassSet classes) const {
    const schedule::ClassSet lost = schedule_.has_lost(), fresh = schedule_.has_new();
    return classes & (credit_.any() ? lost | fresh : lost);
  }
  // Whether nothing of these classes waits that could be sent.
  bool idle(schedule::ClassSet classes) const {
    return copies_.empty() && idle_but_for_copies(classes);
  }
  bool idle_but_for_copies(schedule::ClassSet classes) const {
    return parts_.due.opens().empty() && parts_.due.fins().empty() && has_bytes(classes) == 0;
  }
  // The stream that comes first in the next packet, as far as is known, if class `first` has the
  // turn; nullptr: there is none.
  const Stream* first(schedule::ClassSet classes, schedule::ClassId first) const;
  // Whether little is left to send, as far as the writers have announced it. `next`: the result of
  // first(). If it is blocked or ready, it has more than can leave now.
  bool near_end(const Stream* next) const;
  // Puts the stream into the list that the scheduler serves, or takes it out.
  void update_active(Stream& stream);
  // New bytes are in a packet.
  void on_sent(std::uint64_t new_bytes) { credit_.on_sent(new_bytes); }
  // Bytes of the stream were acknowledged. True if none is left, for the first time: the stream may
  // be over.
  [[nodiscard]] bool on_acknowledged(Stream& stream, Instant now);

  // --- credit of the peer
  const SendCredit& credit() const { return credit_; }
  // The credit that the peer's HELLO grants.
  void start(std::uint64_t lane_credit, std::uint64_t stream_credit) {
    credit_.start(lane_credit, stream_credit);
  }
  void raise_lane_credit(std::uint64_t limit);
  void raise_credit(Stream& stream, std::uint64_t limit);
  void accept(const StartCreditFrame& frame) {
    if (credit_.accept(frame)) parts_.set.begin(activation_);
  }
  // Streams with bytes to send wait for credit of the lane.
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
    return std::min(stream.send.unsent(), credit_.of(stream));
  }

  // --- work on very many streams, of which each call does some
  bool work_waits() const { return schedule_.go_on_waits() || activation_.active(); }
  void go_on();

 private:
  void on_written(Stream& stream, Instant now);
  void unblock(Stream& stream);
  void wake_some_lane_waiters();
  // Memory that writers must leave. Granted credit is a promise. Also, two gateways with arenas
  // full of bytes to send could not take each other's bytes.
  std::uint64_t kept_for_receiving() const {
    const Arena& arena = parts_.arena;
    return std::max<std::uint64_t>(parts_.receive_credit.lane().promised(),
                                   arena.attainable_blocks() / 8 * arena.block_size());
  }

  Parts parts_;
  std::uint64_t stream_limit_;
  StreamSchedule schedule_;
  SendCredit credit_;
  MemoryList memory_waiters_;
  LaneList lane_waiters_;
  IncrementalScan activation_;  // START_CREDIT has changed what may be sent of each stream
  CopyQueue copies_;
};

}  // namespace satrelay::stp
