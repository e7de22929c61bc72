// The streams of one association. This class consists of the following parts. Each part knows only
// the parts above it:
//
//   StreamSet       which streams exist
//   DueFrames       frames other than stream data that the next packets must carry
//   StreamEvents    events for the relay
//   MemoryCheck     when to check for free memory again
//   ReceivingSide   the readers, and credit for the peer
//   SendingSide     the writers, the scheduler, and credit from the peer
//   StreamLife      how streams begin and end
//
// When the peer has another boot epoch, or one end closes, a new object replaces this one. So no
// member has to be reset. Two things outlive the object: the ids that we have used, and the memory
// of its streams, which is freed step by step (retired_streams.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "pep/base/arena.h"
#include "pep/base/time.h"
#include "pep/base/work_count.h"
#include "pep/stp/streams/credit/lane_share.h"
#include "pep/stp/streams/due_frames.h"
#include "pep/stp/streams/memory_check.h"
#include "pep/stp/streams/receiving_side.h"
#include "pep/stp/streams/retired_streams.h"
#include "pep/stp/streams/sending_side.h"
#include "pep/stp/streams/stream.h"
#include "pep/stp/streams/stream_events.h"
#include "pep/stp/streams/stream_life.h"
#include "pep/stp/streams/stream_set.h"
#include "pep/stp/streams/streams_config.h"
#include "pep/stp/types.h"

namespace satrelay::stp {

class Streams {
 public:
  struct Pace {
    Duration memory_interval;      // time between two checks for memory that other users have freed
    std::uint32_t least_turn = 0;  // bytes (stream_schedule.h)
  };

  // `promised` is the credit that our HELLO grants for the whole lane. `arena` and `work` must
  // outlive this object.
  Streams(const StreamsConfig& config, const Pace& pace, Arena& arena, WorkCount& work,
          std::uint64_t promised);
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  // The peer is established, and its HELLO grants this credit.
  void start(std::uint64_t lane_credit, std::uint64_t stream_credit, Instant now);
  // Moves the streams to `retired_streams`, as the association has ended and this object will be
  // destroyed. If there are few streams, their memory is freed at once.
  void leave_to(RetiredStreams& retired_streams);

  // --- the parts
  StreamSet& set() { return set_; }
  const StreamSet& set() const { return set_; }
  DueFrames& due() { return due_; }
  const DueFrames& due() const { return due_; }
  StreamEvents& events() { return events_; }
  const StreamEvents& events() const { return events_; }
  ReceivingSide& receiving() { return receiving_; }
  const ReceivingSide& receiving() const { return receiving_; }
  SendingSide& sending() { return sending_; }
  const SendingSide& sending() const { return sending_; }
  StreamLife& life() { return life_; }
  const StreamLife& life() const { return life_; }

  // The same functions as in StreamSet.
  Stream* find(std::uint64_t id) const { return set_.find(id); }
  Stream* visible(StreamId id) const { return set_.visible(id); }
  Stream* present(std::uint32_t index, std::uint16_t generation) const {
    return set_.present(index, generation);
  }

  // --- calls that concern several parts
  // Whether the lane has enough credit in both directions for the share of one more stream
  // (lane_share.h). With its share, the stream makes progress even if all other streams are stuck.
  bool has_lane_share() const {
    return sending_.credit().has_share() &&
           receiving_.credit().lane().promised() >= (set_.open_count() + 1) * LaneShares::kShare;
  }
  std::optional<Event> poll_event();
  // To be called when bytes of the stream are acknowledged.
  void on_acknowledged(Stream& stream, Instant now) {
    if (sending_.on_acknowledged(stream, now)) life_.free_if_over(stream);
  }
  Instant memory_check() const { return memory_check_.next(); }
  void check_memory(Instant now);
  // Unfinished work on very many streams. Each call of go_on() does a part of this work.
  bool work_waits() const { return sending_.work_waits() || receiving_.work_waits(); }
  void go_on() {
    sending_.go_on();
    receiving_.go_on();
  }

  // --- a check of all counts (streams_audit.cc)
  std::optional<std::string> audit() const;

 private:
  WorkCount& work_;
  StreamSet set_;
  DueFrames due_;
  StreamEvents events_;
  MemoryCheck memory_check_;
  ReceivingSide receiving_;
  SendingSide sending_;
  StreamLife life_;
};

}  // namespace satrelay::stp
