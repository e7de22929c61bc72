#include "relay/gateway/flows/ending/late_segments.h"

namespace satrelay::gateway {

void LateSegments::add(const FlowKey& key, const tcp::TimeWait& state, Instant now) {
  if (const auto given_up = time_waits_.add(key, state, now)) {
    parts_.counters.add(Counter::kTimeWaitsGivenUp);
    parts_.records.ended.remember(*given_up, 0, now);
  }
}

void LateSegments::end(const FlowKey& key, Instant now) {
  if (time_waits_.remove(key)) parts_.records.ended.remember(key, 0, now);
}

bool LateSegments::make_way(const FlowKey& key, const wire::TcpHeader& syn, Instant now) {
  if (!tcp::admits_new_incarnation(*time_waits_.state(key), syn)) return false;
  end(key, now);
  return true;
}

void LateSegments::handle_segment(const FlowKey& key, const Frame& frame,
                                  const wire::TcpHeader& header, std::size_t payload, Instant now) {
  auto state = time_waits_.state(key);
  const tcp::LateSegment late =
      tcp::handle_late_segment(*state, header, payload, parts_.tcp_counters, now);
  time_waits_.update(key, *state);
  if (late.answered && parts_.flowless.late_answers.full()) {
    parts_.counters.add(Counter::kDroppedLateAnswers);
  } else if (late.answered) {
    ++parts_.tcp_counters.segments_out;
    const std::uint32_t timestamp =
        tcp::Timestamps(parts_.host_side.timestamp_offset(key)).value(now);
    parts_.flowless.late_answers.push(parts_.lan.way_back(host_pair(key), frame.ethernet, now), key,
                                      tcp::answer_of(*state, timestamp));
  }
  using Effect = tcp::LateSegment::Effect;
  if (late.effect == Effect::kRestarts) time_waits_.restart(key, now);
  if (late.effect == Effect::kEnds) end(key, now);
}

void LateSegments::handle_timeout(Instant now) {
  constexpr int kPerCall = 64;
  for (int i = 0; i < kPerCall; ++i) {
    const TimeWaits::Expired expired = time_waits_.take_expired(now);
    if (expired.connection) parts_.records.ended.remember(*expired.connection, 0, now);
    if (!expired.more) return;
    parts_.work.add();
  }
}

}  // namespace satrelay::gateway
