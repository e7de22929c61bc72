#include "pep/control/capacity/finder/cruising_mode.h"

#include <algorithm>

#include "pep/control/capacity/capacity_search.h"
#include "pep/control/paced_rate.h"

namespace satrelay::control {
namespace {

// Number of exact results of trains in a row that must be below the capacity before trains lower
// the capacity.
constexpr std::size_t kAgree = 3;
// A standing queue lowers the rate to no less than this percentage of the capacity.
constexpr std::uint64_t kLeastPercent = 80;
// A rise of the capacity counts as large if the new capacity is more than this percentage of the
// old one (LinkModel::raised).
constexpr std::uint64_t kLargeRisePercent = 115;
// After the end of a fade, the delay does not grow for at least this time. If the delay grows
// earlier, a large rise of the capacity had another cause.
constexpr Duration kShortRise = Duration::seconds(3);
// If the delay grows that early, and packets arrive at less than this percentage of the capacity,
// another sender uses the link (mode Sharing).
constexpr std::uint64_t kSharedPercent = 85;

}  // namespace

CruisingMode::CruisingMode(LinkModel& link, BitRate capacity) : FinderMode(link, {}) {
  link_.capacity = std::min(capacity, link_.ceiling);
  link_.trends.clear();
  CruisingMode::set_rate();
}

FinderMode::Change CruisingMode::on_growth(BitRate arrived, const FeedbackSample& sample) {
  const bool was_raised =
      !link_.raised.is_never() && sample.now - link_.raised < std::max(kShortRise, link_.rtt() * 4);
  if (was_raised && arrived < link_.capacity.scaled(kSharedPercent, 100)) {
    return Next{Kind::kSharing, arrived};
  }
  return Next{Kind::kDraining, link_.despite_loss(arrived)};
}

FinderMode::Change CruisingMode::on_finding(const PacketTrain::Finding& finding,
                                            const FeedbackSample& sample) {
  // If there was a queue before the train, the result is not used. Other senders may have changed
  // the length of that queue during the train, and a changed queue makes the result wrong.
  if (link_.train.delay_before() - link_.queue.path() > kLeastStanding) return std::nullopt;
  const BitRate found = finding.rate;
  if (finding.exact || found > link_.capacity) {
    link_.findings.add(found);
    ++link_.since_fall;
  }
  if (found > link_.capacity) {
    if (found > link_.capacity.scaled(kLargeRisePercent, 100)) link_.raised = sample.now;
    link_.capacity = found;
  } else if (link_.since_fall >= kAgree) {
    link_.capacity = std::min(link_.capacity, link_.findings.most_of_last(kAgree));
  }
  if (link_.capacity >= link_.ceiling.scaled(kUsedPercent, 100)) link_.capacity = link_.ceiling;
  return std::nullopt;
}

FinderMode::Change CruisingMode::on_arrival(BitRate arrived, const FeedbackSample&) {
  if (link_.queue.length() >= kLeastStanding) return std::nullopt;
  const BitRate more = std::min(link_.capacity.scaled(105, 100), arrived.scaled(110, 100));
  link_.capacity = std::min(std::max(link_.capacity, more), link_.ceiling);
  return std::nullopt;
}

FinderMode::Change CruisingMode::on_feedback(const FeedbackSample& sample) {
  const Duration queue = link_.queue.length();
  const bool may_pause = link_.train.state() == PacketTrain::State::kIdle;
  switch (test_.on_feedback(sample, {queue, link_.rtt(), may_pause})) {
    case QueueTest::Verdict::kNone:
      break;
    case QueueTest::Verdict::kQueue:
      link_.capacity = link_.capacity.scaled(kUsedPercent, 100);
      break;
    case QueueTest::Verdict::kLongerPath:
      link_.queue.lengthen_path(queue);
      break;
  }
  return std::nullopt;
}

void CruisingMode::set_rate() {
  const BitRate used = link_.capacity == link_.ceiling ? paced_rate(link_.capacity)
                                                       : link_.capacity.scaled(kUsedPercent, 100);
  link_.rate =
      std::max(rate_of(bits(used) - link_.excess()), link_.capacity.scaled(kLeastPercent, 100));
}

bool CruisingMode::wants_train() const {
  return !test_.is_running() && link_.capacity != link_.ceiling;
}

}  // namespace satrelay::control
