#include "relay/sim/network/machine.h"

namespace satrelay::sim {

Machine::Absence Machine::absence(Instant now) const {
  for (const Starvation& starvation : spec_.starvations) {
    if (now >= starvation.end()) continue;
    Absence absence{.begin = starvation.when};
    if (now > starvation.when) {
      const std::int64_t periods =
          (now - starvation.when).to_nanoseconds() / starvation.period.to_nanoseconds();
      absence.begin = starvation.when + starvation.period * periods;
    }
    absence.end = absence.begin + starvation.period - starvation.runs;
    if (now >= absence.end) {
      absence.begin = absence.begin + starvation.period;
      absence.end = absence.end + starvation.period;
    }
    if (absence.begin >= starvation.end()) continue;
    absence.end = earlier(absence.end, starvation.end());
    return absence;
  }
  return {};
}

Instant Machine::free_at(Instant now) const {
  const Instant at = later(now, busy_until_);
  const Absence next = absence(at);
  return next.begin <= at ? next.end : at;
}

Instant Machine::away_since(Instant now) const {
  const Absence next = absence(now);
  const Instant since = earlier(next.begin, now);
  return since < busy_until_ ? earlier(since, busy_since_) : since;
}

Instant Machine::next_absence(Instant now) const {
  const Absence next = absence(now);
  return next.begin > now ? next.begin : absence(next.end).begin;
}

bool Ring::push(FrameHandle frame, std::size_t room, Instant empty_at) {
  if (frames_.size() >= room) {
    ++missed_;
    return false;
  }
  if (frames_.empty()) empty_at_ = empty_at;
  frames_.push_back(frame);
  return true;
}

FrameHandle Ring::pop() {
  const FrameHandle frame = frames_.front();
  frames_.pop_front();
  return frame;
}

}  // namespace satrelay::sim
