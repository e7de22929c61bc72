// Properties of a link that change at given instants.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "config/model/link_model.h"
#include "config/model/schema.h"
#include "pep/base/time.h"

namespace satrelay::link {

// The delay of a link. The instants in calls of at() must never go backwards.
class DelaySchedule {
 public:
  DelaySchedule(Duration first, std::vector<config::DelayStep> steps)
      : delay_(first), steps_(std::move(steps)), shortest_after_(steps_.size() + 1) {
    shortest_after_.back() = Duration::infinite();
    for (std::size_t i = steps_.size(); i > 0; --i) {
      shortest_after_[i - 1] = std::min(shortest_after_[i], steps_[i - 1].delay);
    }
  }

  struct Answer {
    Duration delay;
    bool shorter = false;  // true if the delay is shorter than at the last call
  };
  Answer at(Instant when) {
    const Duration before = delay_;
    while (next_ < steps_.size() && Instant() + steps_[next_].at <= when) {
      delay_ = steps_[next_++].delay;
    }
    return {.delay = delay_, .shorter = delay_ < before};
  }
  // The shortest delay at the instant of the last call of at(), or at any time after it.
  Duration shortest_to_come() const { return std::min(delay_, shortest_after_[next_]); }

 private:
  Duration delay_;
  std::vector<config::DelayStep> steps_;
  std::vector<Duration> shortest_after_;  // indexed by step: the shortest delay from that step on
  std::size_t next_ = 0;
};

class OutageSchedule {
 public:
  explicit OutageSchedule(std::vector<config::LinkOutage> outages) : outages_(std::move(outages)) {}

  bool is_out(Instant when) {
    while (next_ < outages_.size() && end(next_) <= when) ++next_;
    return next_ < outages_.size() && Instant() + outages_[next_].at <= when;
  }

 private:
  Instant end(std::size_t i) const { return Instant() + outages_[i].at + outages_[i].length; }
  std::vector<config::LinkOutage> outages_;
  std::size_t next_ = 0;
};

class LossSchedule {
 public:
  explicit LossSchedule(std::vector<config::LossStep> steps) : steps_(std::move(steps)) {}

  // If the probability has changed since the last call, returns the current probability.
  std::optional<double> changed(Instant when) {
    std::optional<double> loss;
    while (next_ < steps_.size() && Instant() + steps_[next_].at <= when) {
      loss = steps_[next_++].loss;
    }
    return loss;
  }

 private:
  std::vector<config::LossStep> steps_;
  std::size_t next_ = 0;
};

class RateSchedule {
 public:
  explicit RateSchedule(std::vector<config::RateStep> steps) : steps_(std::move(steps)) {}

  Instant next() const {
    return next_ < steps_.size() ? Instant() + steps_[next_].at : Instant::never();
  }
  BitRate take() { return steps_[next_++].rate; }

 private:
  std::vector<config::RateStep> steps_;
  std::size_t next_ = 0;
};

}  // namespace satrelay::link
