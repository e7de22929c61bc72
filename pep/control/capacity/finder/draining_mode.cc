#include "pep/control/capacity/finder/draining_mode.h"

#include "pep/control/capacity/capacity_search.h"

namespace satrelay::control {

DrainingMode::DrainingMode(LinkModel& link, BitRate found, const FeedbackSample& sample)
    : FinderMode(link, {}), measured_from_(point_of(sample)) {
  link_.capacity = found;
  link_.rate = found.scaled(1, kTrickle);
  link_.since_fall = 0;
  link_.drained.begin(link_.queue_of(sample), sample.now);
  link_.train.clear();
}

FinderMode::Change DrainingMode::on_feedback(const FeedbackSample& sample) {
  // Measures the capacity again over a longer time. The link is busy while the queue drains, so a
  // longer measurement is more exact.
  if (sample.sent < link_.drained.began() &&
      sample.arrived - measured_from_.arrived >= kMeasureAtLeast) {
    link_.capacity = link_.despite_loss(arrival_rate(measured_from_, point_of(sample)));
  }
  link_.rate = link_.capacity.scaled(1, kTrickle);
  if (sample.in_flight > link_.capacity.bytes_in(link_.rtt() + sample.interval)) {
    return std::nullopt;
  }
  link_.raised = sample.now;
  return Next{Kind::kCruising, link_.capacity};
}

}  // namespace satrelay::control
