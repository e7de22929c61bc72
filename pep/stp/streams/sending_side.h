// The sending side of all streams. The relay writes bytes here, and the scheduler finds the stream
// that may send next.
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
    // Limit for the stored bytes of a stream (StreamsConfig::send_limit).
    std::uint64_t stream_limit = 0;
    std::uint32_t least_turn = 0;  // bytes (stream_schedule.h)
    schedule::HostShares* host_shares = nullptr;
  };
  // The other parts of Streams that this one uses. They must outlive it.
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
  // Frees the memory that a stream does not need while it is idle. To be called if the stream has
  // been idle for long.
  void cool(Stream& stream);
  // Removes the stream from all lists. The stream keeps its class and host.
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
  // Whether the stream has as much free space as its writer needs for the next write.
  bool has_room(const Stream& stream) const { return room(stream) >= stream.hot().room_needed; }
  void mark_blocked(Stream& stream, Instant now);
  // Whether writers wait for blocks of the arena.
  bool waits_for_memory() const { return !memory_waiters_.empty(); }
  // Wakes writers that have enough free space now. Returns true if another call at once may wake
  // more writers.
  [[nodiscard]] bool wake_memory_waiters();

  // --- the scheduler
  StreamSchedule& schedule() { return schedule_; }
  const StreamSchedule& schedule() const { return schedule_; }
  CopyQueue& copies() { return copies_; }
  const CopyQueue& copies() const { return copies_; }
  // The classes among `classes` in which streams have lost bytes, or new bytes and credit for them.
  schedule::ClassSet has_bytes(schedule::ClassSet classes) const {
    const schedule::ClassSet lost = schedule_.has_lost(), fresh = schedule_.has_new();
    return classes & (credit_.any() ? lost | fresh : lost);
  }
  // Whether no stream of these classes has anything that may be sent.
  bool idle(schedule::ClassSet classes) const {
    return copies_.empty() && idle_but_for_copies(classes);
  }
  bool idle_but_for_copies(schedule::ClassSet classes) const {
    return parts_.due.opens().empty() && parts_.due.fins().empty() && has_bytes(classes) == 0;
  }
  // Predicts which stream has the first bytes in the next packet, if it is the turn of class
  // `first`. Returns nullptr if no stream has bytes to send.
  const Stream* first(schedule::ClassSet classes, schedule::ClassId first) const;
  // Whether at most 64 KiB of new bytes are left that may be sent now. Lost bytes do not count.
  // `next` is the result of first(). Returns false if several streams have new bytes and credit, or
  // if the writer of `next` will produce more bytes.
  bool near_end(const Stream* next) const;
  // Adds the stream to the list that the scheduler serves, or removes it, according to its bytes
  // and credit.
  void update_active(Stream& stream);
  // To be called when new bytes are in a packet.
  void on_sent(std::uint64_t new_bytes) { credit_.on_sent(new_bytes); }
  // To be called when bytes of the stream are acknowledged. Returns true once, when all bytes and
  // the FIN are acknowledged. The stream may then have ended.
  [[nodiscard]] bool on_acknowledged(Stream& stream, Instant now);

  // --- credit of the peer
  const SendCredit& credit() const { return credit_; }
  // Takes over the credit that the peer's HELLO grants.
  void start(std::uint64_t lane_credit, std::uint64_t stream_credit) {
    credit_.start(lane_credit, stream_credit);
  }
  void raise_lane_credit(std::uint64_t limit);
  void raise_credit(Stream& stream, std::uint64_t limit);
  void accept(const StartCreditFrame& frame) {
    if (credit_.accept(frame)) parts_.set.begin(activation_);
  }
  // Whether streams have bytes to send, but wait for credit of the lane.
  bool has_lane_waiters() const { return !lane_waiters_.empty(); }
  void wake_lane_waiters() {
    if (has_lane_waiters()) wake_some_lane_waiters();
  }
  // Number of bytes that the stream can send, if no other event occurs, before update_active() must
  // be called for it. Zero if unknown.
  std::uint64_t sure_bytes(const Stream& stream) const {
    const bool keeps_its_share = stream.lane_share.left == 0;
    if (stream.phase != Stream::Phase::kOpen || !keeps_its_share || has_lane_waiters()) {
      return 0;
    }
    return std::min(stream.send.unsent(), credit_.of(stream));
  }

  // --- work on very many streams, in parts
  bool work_waits() const { return schedule_.go_on_waits() || activation_.active(); }
  void go_on();

 private:
  void on_written(Stream& stream, Instant now);
  void unblock(Stream& stream);
  void wake_some_lane_waiters();
  // Number of bytes of the arena that writers must leave free for received data. The peer may use
  // all credit that was granted to it. Besides, if the arenas of both gateways were full of bytes
  // to send, neither could receive bytes of the other.
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
  // Visits all open streams after a START_CREDIT has changed the limit of those that got no higher
  // STREAM_CREDIT.
  IncrementalScan activation_;
  CopyQueue copies_;
};

}  // namespace satrelay::stp
