// What concerns very many streams and is done to some of them in each call.
#include <algorithm>
#include <utility>

#include "pep/stp/session_impl.h"

namespace satrelay::stp {
namespace {

// Of those that are due, in one call: the others are due in the next.
constexpr std::size_t kStreamsPerTimeout = 64;

}  // namespace

// All at once, however many there are.
void Session::Impl::leave_streams() {
  opens = {};
  fins = {};
  resets = {};
  credits = {};
  confirms = {};
  events = {};
  linger = {};
  memory_waiters = {};
  lane_waiters = {};
  lane_shares.start(0);
  parked = {};
  activation.stop();
  first_credits.stop();
  open_count = 0;
  if (streams.slot_count() == 0) return;
  const bool few = streams.slot_count() <= Remains::kStreamsPerStep;
  remains.add(std::exchange(streams, new_table()), std::exchange(schedule, new_schedule()));
  if (few) remains.go_on(work);  // the next session begins with their memory
}

template <typename Visit>
void Session::Impl::visit_open(Lap& lap, Visit&& visit) {
  // What is done to a stream takes longer for some than for others.
  constexpr std::size_t kStreamsPerStep = 256;
  lap.step(streams.slot_count(), kStreamsPerStep, [&](std::size_t i) {
    work.add();
    Stream& stream = streams.at(static_cast<std::uint32_t>(i));
    if (stream.phase == Stream::Phase::kOpen) visit(stream);
  });
}

void Session::Impl::go_on() {
  remains.go_on(work);
  schedule.go_on(work);
  visit_open(activation, [&](Stream& stream) { update_active(stream); });
  give_first_credits();
  work_off_reports();
}

// Those that go on by what HELLO promised need a word of their own now.
void Session::Impl::give_first_credits() {
  visit_open(first_credits, [&](Stream& stream) {
    const bool unknown = stream.receive.told() == 0 && stream.receive.consumed() > 0;
    if (unknown && !stream.receive.final_known()) credits.push_back(stream);
  });
}

// Streams that wait for something that does not come: an OPEN, the end of a reset, the end of a
// stream that the relay has released. All wait equally long, so the list is in order of deadlines.
void Session::Impl::run_linger() {
  for (std::size_t i = 0; i < kStreamsPerTimeout; ++i) {
    if (linger.empty() || now < linger.front()->linger_deadline) return;
    Stream& stream = *linger.front();
    work.add();
    linger.remove(stream);
    if (state != PeerState::kAlive) {
      stream.linger_deadline = now + config.stream_linger;
      linger.push_back(stream);
    } else if (stream.phase == Stream::Phase::kResetting) {
      free_stream(stream);
    } else {
      ++counters.streams_reset_out;
      begin_reset(stream, ResetReason::kTimeout);
    }
  }
}

// The arena has other users, who do not tell when they return blocks.
void Session::Impl::check_memory() {
  connection->memory_check = Instant::never();
  connection->lane_receive.update(free_memory());
  // Each waiter once, in order; those still without room go to the end.
  Stream* const last = memory_waiters.back();
  bool any_had_room = false;
  bool all = false;
  for (std::size_t i = 0; i < kStreamsPerTimeout && !all && !memory_waiters.empty(); ++i) {
    Stream& stream = *memory_waiters.front();
    work.add();
    all = &stream == last;
    memory_waiters.remove(stream);
    if (has_room(stream)) {
      any_had_room = true;
      stream.blocked = false;
      notify(stream, &Stream::Pending::writable);
      update_active(stream);
    } else {
      memory_waiters.push_back(stream);
    }
  }
  if (memory_waiters.empty() && !connection->lane_receive.capped()) return;
  // Where so many find nothing, the others would not either.
  connection->memory_check = any_had_room && !all ? now : now + config.feedback_minimum;
}

}  // namespace satrelay::stp
