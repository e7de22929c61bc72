// The streams of associations that have ended. There may be very many of them, so each call frees
// the memory of some. The current association cannot reach them.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "pep/base/work_count.h"
#include "pep/stp/streams/schedule/stream_schedule.h"
#include "pep/stp/streams/stream_table.h"

namespace satrelay::stp {

class RetiredStreams {
 public:
  // If this number of ended associations have streams that are not freed yet, no new session
  // begins.
  static constexpr std::size_t kMost = 4;
  static constexpr std::size_t kStreamsPerStep = 64;
  // A step ends when the streams that it has freed had this number of bytes in the arena, or more.
  // So a step exceeds this number by the bytes of one stream at most.
  static constexpr std::uint64_t kBytesPerStep = 1U << 20;

  bool empty() const { return sessions_.empty(); }
  bool full() const { return sessions_.size() >= kMost; }
  void add(StreamTable streams, StreamSchedule schedule) {
    schedule.pause(true);  // the hosts of these streams no longer count as waiting
    sessions_.push_back(std::make_unique<Session>(std::move(streams), std::move(schedule)));
  }
  void add_held(BlocksHeld& held) const {
    for (const auto& session : sessions_) session->first.add_held(held);
  }
  void go_on(WorkCount& work) {
    if (empty()) return;
    sessions_.front()->second.go_on(work);
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < kStreamsPerStep && bytes < kBytesPerStep && !empty(); ++i) {
      auto& [streams, schedule] = *sessions_.front();
      if (streams.slot_count() == 0) {
        sessions_.erase(sessions_.begin());
        continue;
      }
      work.add();
      Stream& stream = streams.at(static_cast<std::uint32_t>(streams.slot_count() - 1));
      bytes += stream.send.stored() + stream.receive.bytes().stored();
      schedule.leave(stream);
      streams.drop_last();
    }
  }

 private:
  using Session = std::pair<StreamTable, StreamSchedule>;
  std::vector<std::unique_ptr<Session>> sessions_;  // oldest first
};

}  // namespace satrelay::stp
