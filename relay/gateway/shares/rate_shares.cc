#include "relay/gateway/shares/rate_shares.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "config/traffic_class.h"
#include "pep/base/check.h"

namespace satrelay::gateway {
namespace {

using schedule::class_bit;
using schedule::ClassId;

constexpr double kAll = std::numeric_limits<double>::infinity();
constexpr double kFullPacket = 1'538;

// What the modem's queue holds while all is used, and how fast it is brought back to that.
constexpr double kQueue = 0.003;
constexpr double kQueuePackets = 2;
constexpr double kReturn = 0.006;
constexpr double kLeastFactor = 0.5, kMostFactor = 1.5;
constexpr double kMostQueue = 0.05;

// Over how long use is averaged.
constexpr double kAverage = 0.008;
constexpr double kAveragePackets = 8;
// Who waited a moment ago waits again in another.
constexpr Duration kHunger = Duration::milliseconds(2);
// Who uses so much of its part would use more; who uses less has so much more than it used.
constexpr double kSated = 0.9, kRoom = 1.15;
// Less of the link than this is nothing.
constexpr double kNothing = 1e-5;
// One that has nothing to send keeps this of an equal part.
constexpr double kReserve = 0.25;
// What is above a maximum is made up for in so long.
constexpr double kMaximumReturn = 0.02;

constexpr std::uint32_t kWholeWeight = 1 << 12;
// A class that gets little by weight is not put off for long, when that becomes more.
constexpr double kLeastWeight = 0.125;

constexpr double kLeastRate = 16;
constexpr Duration kRest = Duration::milliseconds(200);

double bytes_of(BitRate rate) { return static_cast<double>(rate.to_bits_per_second()) / 8; }
BitRate rate_of(double bytes) {
  return BitRate::bits_per_second(
      static_cast<std::uint64_t>(std::clamp(bytes, kLeastRate, 1e15) * 8));
}

}  // namespace

RateShares::RateShares(unsigned workers, Instant now)
    : workers_(workers), last_(now), quiet_since_(now) {}

void RateShares::divide(const LinkTerms& terms, std::span<const LinkDemand> demands,
                        std::span<LinkShare> shares, Instant now) {
  SATRELAY_CHECK(demands.size() == workers_.size() && shares.size() == workers_.size());
  if (now <= last_) return;
  passed_ = std::min((now - last_).to_seconds(), 1.0);
  last_ = now;
  take_terms(terms);
  take_in(demands, now);
  double sent = 0;
  bool any = false;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    // An engine that began anew counts from zero.
    const std::uint64_t before = std::min(workers_[i].counted, demands[i].sent);
    sent += static_cast<double>(demands[i].sent - before);
    any = any || demands[i].sent != workers_[i].counted || demands[i].waiting != 0;
    workers_[i].counted = demands[i].sent;
  }
  if (any) quiet_since_ = now;
  at_rest_ = now - quiet_since_ >= kRest;
  const double rate = rate_ * hold_queue(sent);
  divide_between_classes(rate);
  for_each_class([&](ClassId id) { divide_between_workers(id); });

  double given = 0;
  unsigned active = 0;
  for_each_class([&](ClassId id) { given += classes_[id].given(); });
  for (const Worker& worker : workers_) {
    bool works = false;
    for_each_class([&](ClassId id) { works = works || worker.classes[id].is_active(); });
    if (works) ++active;
  }
  const double spare = std::max(0.0, rate - given);
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    write_worker(workers_[i], spare, active, shares[i]);
    write_classes(workers_[i], shares[i]);
  }
  divide_reports(shares);
}

void RateShares::take_terms(const LinkTerms& terms) {
  rate_ = std::max(bytes_of(terms.rate), kLeastRate);
  report_rate_ = bytes_of(terms.reports);
  smoothing_ = passed_ / (passed_ + std::max(kAverage, kAveragePackets * kFullPacket / rate_));
  double guaranteed = 0;
  for (std::size_t i = 0; i < schedule::kClasses; ++i) {
    Class& c = classes_[i];
    c.terms = terms.classes[i];
    c.guarantee = bytes_of(c.terms.guaranteed);
    c.maximum = bytes_of(c.terms.maximum);
    guaranteed += c.guarantee;
    if (c.terms != ClassRates()) known_ |= class_bit(static_cast<ClassId>(i));
  }
  // As ClassOrder does.
  const double most = rate_ * config::kMostGuaranteedPercent / 100;
  if (guaranteed > most) {
    for_each_class([&](ClassId id) { classes_[id].guarantee *= most / guaranteed; });
  }
}

void RateShares::look(Use& use, std::uint64_t counted) {
  const auto sent = static_cast<double>(counted - std::min(use.counted, counted));
  use.counted = counted;
  use.rate += smoothing_ * (std::min(sent / passed_, 1e15) - use.rate);
}

void RateShares::take_in(std::span<const LinkDemand> demands, Instant now) {
  for (const LinkDemand& demand : demands) known_ |= demand.waiting;
  for_each_class([&](ClassId id) {
    Class& c = classes_[id];
    double sent = 0;
    c.demand = c.hosts = 0;
    c.active = 0;
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      Use& use = workers_[i].classes[id];
      const std::uint64_t before = std::min(use.counted, demands[i].sent_of[id]);
      sent += static_cast<double>(demands[i].sent_of[id] - before);
      look(use, demands[i].sent_of[id]);
      note_demand(id, demands[i], use, now);
      c.demand += use.demand;
      if (!use.is_active()) continue;
      c.hosts += use.hosts;
      ++c.active;
    }
    if (c.maximum > 0) {
      c.excess = std::clamp(c.excess + sent - c.maximum * passed_, 0.0,
                            c.maximum * kMaximumReturn + 2 * kFullPacket);
    }
  });
  for (std::size_t i = 0; i < workers_.size(); ++i) look(workers_[i].reports, demands[i].reports);
}

void RateShares::note_demand(ClassId id, const LinkDemand& demand, Use& use, Instant now) {
  const bool waits = (demand.waiting & class_bit(id)) != 0;
  const bool sated = use.rate < kSated * use.given;
  if ((demand.hungry & class_bit(id)) != 0 || (waits && !sated)) {
    use.hungry_until = now + kHunger;
  }
  const bool was_active = use.is_active();
  if (use.hungry_until > now) {
    use.demand = kAll;
  } else {
    use.demand = use.rate < rate_ * kNothing && !waits ? 0 : std::max(use.rate * kRoom, 1.0);
  }
  const double hosts = std::max<double>(demand.hosts[id], 1);
  if (!was_active) {
    use.hosts = hosts;
  } else if (waits) {
    use.hosts += smoothing_ * (hosts - use.hosts);
  }
}

// What the rates are to be of those that would keep the queue as it is.
double RateShares::hold_queue(double sent) {
  queue_ = std::clamp(queue_ + sent - rate_ * passed_, 0.0,
                      rate_ * kMostQueue + kQueuePackets * kFullPacket);
  queued_ = Duration::nanoseconds(static_cast<std::int64_t>(queue_ / rate_ * 1e9));
  const double target = std::max(kQueue, kQueuePackets * kFullPacket / rate_);
  const double turn = std::max(kReturn, 2 * target);
  return std::clamp(1 + (target - queue_ / rate_) / turn, kLeastFactor, kMostFactor);
}

void RateShares::divide_between_classes(double rate) {
  double left = rate;
  for_each_class([&](ClassId id) {
    Class& c = classes_[id];
    // No more than its maximum, and what was above it is made up for.
    if (c.maximum > 0) {
      const double most = std::max(c.maximum * 0.5, c.maximum - c.excess / kMaximumReturn);
      c.demand = std::min(c.demand, most);
    }
    c.guaranteed = std::min({c.demand, c.guarantee, left});
    c.beyond = 0;
    left -= c.guaranteed;
  });
  double weights = 0;
  for_each_class([&](ClassId id) { weights += classes_[id].terms.weight; });
  for_each_class([&](ClassId id) {
    Class& c = classes_[id];
    c.nominal = weights > 0 ? left * c.terms.weight / weights : 0;
  });
  fill_by_weight(left);
  // What is left goes to those without a weight, to each alike.
  unsigned takers = 0;
  for_each_class([&](ClassId id) {
    takers += classes_[id].terms.weight == 0 && classes_[id].demand > 0 ? 1 : 0;
  });
  for_each_class([&](ClassId id) {
    Class& c = classes_[id];
    if (c.terms.weight != 0 || c.demand <= 0) return;
    c.beyond = std::min(c.demand - c.guaranteed, left / takers);
    left -= c.beyond;
    --takers;
  });
}

// Whoever wants less than its part leaves the rest to the others.
void RateShares::fill_by_weight(double& left) {
  schedule::ClassSet open = 0;
  for_each_class([&](ClassId id) {
    const Class& c = classes_[id];
    if (c.terms.weight > 0 && c.demand > c.guaranteed) open |= class_bit(id);
  });
  while (open != 0 && left > 0) {
    double weights = 0;
    for (auto set = open; set != 0; set &= set - 1) {
      weights += classes_[schedule::lowest_class(set)].terms.weight;
    }
    const double level = left / weights;
    schedule::ClassSet filled = 0;
    for (auto set = open; set != 0; set &= set - 1) {
      const ClassId id = schedule::lowest_class(set);
      const Class& c = classes_[id];
      if (c.demand - c.guaranteed <= level * c.terms.weight) filled |= class_bit(id);
    }
    for (auto set = filled == 0 ? open : filled; set != 0; set &= set - 1) {
      Class& c = classes_[schedule::lowest_class(set)];
      c.beyond = filled == 0 ? level * c.terms.weight : c.demand - c.guaranteed;
      left -= c.beyond;
    }
    open = filled == 0 ? 0 : open & ~filled;
  }
  left = std::max(left, 0.0);
}

// By the hosts that wait; whoever wants less leaves the rest to the others.
void RateShares::divide_between_workers(ClassId id) {
  double left = classes_[id].given();
  double hosts = 0;
  for (Worker& worker : workers_) {
    Use& use = worker.classes[id];
    use.given = -1;  // not yet
    if (use.is_active()) {
      hosts += use.hosts;
    } else {
      use.given = 0;
    }
  }
  for (bool again = true; again && hosts > 0;) {
    again = false;
    const double level = left / hosts;
    for (Worker& worker : workers_) {
      Use& use = worker.classes[id];
      if (use.given >= 0 || use.demand > level * use.hosts) continue;
      use.given = use.demand;
      left -= use.given;
      hosts -= use.hosts;
      again = true;
    }
  }
  for (Worker& worker : workers_) {
    Use& use = worker.classes[id];
    if (use.given < 0) use.given = std::max(0.0, left * use.hosts / hosts);
  }
}

void RateShares::write_worker(const Worker& worker, double spare, unsigned active,
                              LinkShare& share) const {
  const auto workers = static_cast<double>(workers_.size());
  double given = 0;
  bool works = false;
  bool hungers = false;
  for_each_class([&](ClassId id) {
    const Use& use = worker.classes[id];
    given += use.given;
    works = works || use.is_active();
    hungers = hungers || use.demand == kAll;
  });
  if (active == 0) {
    given = rate_ / workers;
  } else if (works) {
    given += spare / active;
  }
  // One that would use it has no more than its part.
  if (!hungers) given = std::max(given, kReserve * rate_ / workers);
  share.rate = rate_of(given);
}

void RateShares::write_classes(const Worker& worker, LinkShare& share) const {
  const auto workers = static_cast<double>(workers_.size());
  share.set = known_;
  for_each_class([&](ClassId id) {
    const Class& c = classes_[id];
    const Use& use = worker.classes[id];
    ClassShare& written = share.classes[id];
    double expected = use.given;
    double guaranteed = c.guarantee / workers;
    double maximum = kReserve * c.maximum / workers;
    if (use.is_active()) {
      guaranteed = c.given() > 0 ? c.guaranteed * use.given / c.given() : 0;
      maximum = use.given + std::max(0.0, c.maximum - c.given()) / c.active;
    } else if (c.active > 0) {
      expected = c.given() / (c.hosts + 1);
    } else {
      expected = c.guarantee + c.nominal;
      maximum = c.maximum / workers;
    }
    // A guarantee has no part in the turns by weight.
    const double beyond = use.is_active() ? std::max(0.0, use.given - guaranteed) : expected;
    const double weight = std::max(beyond, c.nominal * kLeastWeight) / rate_ * kWholeWeight;
    written.weight = c.terms.weight == 0 ? 0 : std::max(1U, static_cast<std::uint32_t>(weight));
    if (c.maximum > 0) expected = std::min(expected, c.maximum);
    written.expected = rate_of(expected);
    written.guaranteed = c.guarantee > 0 ? rate_of(guaranteed) : BitRate();
    written.maximum = c.maximum > 0 ? rate_of(maximum) : BitRate();
  });
}

// Each as much again as it used, as far as there is enough for all, and a little for the others.
void RateShares::divide_reports(std::span<LinkShare> shares) {
  const auto workers = static_cast<double>(workers_.size());
  const double floor = kReserve * report_rate_ / workers;
  double used = 0;
  for (const Worker& worker : workers_) used += worker.reports.rate;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    const double part =
        used > report_rate_ * kNothing ? workers_[i].reports.rate / used : 1 / workers;
    shares[i].reports = rate_of(floor + (report_rate_ - workers * floor) * part);
  }
}

}  // namespace satrelay::gateway
