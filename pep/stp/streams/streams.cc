#include "pep/stp/streams/streams.h"

#include <utility>

namespace satrelay::stp {

Streams::Streams(const StreamsConfig& config, const Pace& pace, Arena& arena, WorkCount& work,
                 std::uint64_t promised)
    : work_(work),
      set_(config, arena, work),
      events_(work),
      memory_check_(pace.memory_interval),
      receiving_({.lane = config.lane_receive_limit, .stream = config.receive_limit},
                 {set_, due_, memory_check_, arena}, promised),
      sending_({.stream_limit = config.send_limit,
                .least_turn = pace.least_turn,
                .host_shares = config.host_shares},
               {set_, due_, events_, memory_check_, receiving_.credit(), arena, work}),
      life_(config.linger, {set_, due_, events_, receiving_, sending_, work}) {}

void Streams::start(std::uint64_t lane_credit, std::uint64_t stream_credit, Instant now) {
  sending_.start(lane_credit, stream_credit);
  receiving_.start(now);
}

void Streams::leave_to(RetiredStreams& retired_streams) {
  if (set_.slot_count() == 0) return;
  const bool few = set_.slot_count() <= RetiredStreams::kStreamsPerStep;
  retired_streams.add(set_.take_table(), std::move(sending_.schedule()));
  if (few) retired_streams.go_on(work_);  // the next association can use their memory
}

std::optional<Event> Streams::poll_event() {
  const std::optional<Event> event = events_.poll();
  if (event && event->kind == Event::Kind::kReset) {
    // The stream may have been kept only until the relay got this event.
    life_.free_if_over(*set_.find(static_cast<std::uint64_t>(event->stream)));
  }
  return event;
}

void Streams::check_memory(Instant now) {
  memory_check_.begin();
  receiving_.credit().look_at_memory();
  const bool more_at_once = sending_.wake_memory_waiters();
  if (more_at_once) {
    memory_check_.plan_at_once(now);
  } else if (sending_.waits_for_memory() || receiving_.credit().lane().capped()) {
    memory_check_.plan(now);
  }
}

}  // namespace satrelay::stp
