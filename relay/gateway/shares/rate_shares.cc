#include "relay/gateway/shares/rate_shares.h"

#include <algorithm>

#include "config/model/traffic_class.h"
#include "pep/base/check.h"

namespace satrelay::gateway {
namespace {

using schedule::class_bit;
using schedule::ClassId;

// The target length of the modem's queue is kQueue (seconds) or, on slow links, kQueuePackets
// packets. To return to the target within about kReturn (seconds), the rate is multiplied by a
// factor between kLeastFactor and kMostFactor. The computed length of the queue is at most
// kMostQueue (seconds), and on slow links a few packets more.
constexpr double kQueue = 0.003;
constexpr double kQueuePackets = 2;
constexpr double kReturn = 0.006;
constexpr double kLeastFactor = 0.5, kMostFactor = 1.5;
constexpr double kMostQueue = 0.05;

constexpr std::uint32_t kWholeWeight = 1 << 12;
// Minimum weight of a class at a worker, as a fraction of the class's nominal rate. When a class
// sends a packet, its current weight determines how long it waits for its next turn. If the weight
// were very small, the wait would be very long, and would not become shorter when the weight rises.
constexpr double kLeastWeight = 0.125;

constexpr double kLeastBytesPerSecond = 16;
// If the rate of all reports is below this fraction of the rate for reports, it counts as zero.
constexpr double kUnused = 1e-5;
constexpr Duration kRest = Duration::milliseconds(200);

double bytes_of(BitRate rate) { return static_cast<double>(rate.to_bits_per_second()) / 8; }
BitRate rate_of(double bytes) {
  return BitRate::bits_per_second(
      static_cast<std::uint64_t>(std::clamp(bytes, kLeastBytesPerSecond, 1e15) * 8));
}

}  // namespace

RateShares::RateShares(unsigned workers, Instant now)
    : workers_(workers),
      fallbacks_(workers),
      taken_(workers),
      used_(workers),
      last_(now),
      quiet_since_(now) {}

// Prefers the terms of a worker with a live session. The other workers may not know the latest rate
// that the peers have announced.
const LinkTerms& RateShares::terms_of(LinkId link, std::span<const Demands> demands) {
  const LinkTerms* terms = &demands.front().terms[link];
  for (const Demands& each : demands) {
    const LinkTerms& other = each.terms[link];
    if (other.is_heard && (!terms->is_heard || other.rate < terms->rate)) terms = &other;
  }
  return *terms;
}

void RateShares::divide(LinkId link, std::span<const Demands> demands, std::span<Shares> shares,
                        Instant now) {
  SATRELAY_CHECK(demands.size() == workers_.size() && shares.size() == workers_.size());
  if (now <= last_) return;
  tick_.now = now;
  take_terms(terms_of(link, demands), now - last_);
  last_ = now;
  take_in(link, demands);
  double sent = 0, booked = 0;
  bool any = false;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    const LinkDemand& demand = demands[i].links[link];
    // min(): if an engine has restarted, `sent` begins at zero again
    sent += static_cast<double>(demand.sent - std::min(workers_[i].counted, demand.sent));
    booked += static_cast<double>(demand.booked);
    any = any || demand.sent != workers_[i].counted || demand.waiting != 0;
    workers_[i].counted = demand.sent;
  }
  if (any) quiet_since_ = now;
  at_rest_ = now - quiet_since_ >= kRest;
  // A single worker needs no correction of its rate, even with several lanes: its own pacer limits
  // it.
  const double rate = tick_.whole * (workers_.size() > 1 ? hold_queue(sent, booked) : 1);
  divide_between_classes(rate);
  double given = 0;
  for_each_class([&](ClassId id) {
    given += classes_[id].given();
    divide_by_hosts(classes_[id].given(), [&](auto&& visit) {
      for (Worker& worker : workers_) visit(worker.classes[id]);
    });
  });
  const auto active = static_cast<unsigned>(
      std::ranges::count_if(workers_, [&](const Worker& worker) { return (works(worker) != 0); }));
  const double spare = std::max(0.0, rate - given);
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    write_worker(workers_[i], spare, active, shares[i].links[link]);
    write_classes(workers_[i], shares[i].links[link]);
  }
  divide_reports(link, shares);
  write_fallbacks(link, demands, shares);
}

// Returns the classes in which the worker is active.
schedule::ClassSet RateShares::works(const Worker& worker) const {
  schedule::ClassSet set = 0;
  for_each_class([&](ClassId id) {
    if (worker.classes[id].is_active()) set |= class_bit(id);
  });
  return set;
}

void RateShares::take_terms(const LinkTerms& terms, Duration passed) {
  tick_ = Tick::of(tick_.now, passed, std::max(bytes_of(terms.rate), kLeastBytesPerSecond));
  report_rate_ = bytes_of(terms.reports);
  double guaranteed = 0;
  for (std::size_t i = 0; i < schedule::kClasses; ++i) {
    Class& c = classes_[i];
    c.terms = terms.classes[i];
    c.guarantee = bytes_of(c.terms.guaranteed);
    c.maximum = bytes_of(c.terms.maximum);
    guaranteed += c.guarantee;
    if (c.terms != ClassRates()) known_ |= class_bit(static_cast<ClassId>(i));
  }
  // As in ClassOrder, the guarantees of all classes together must not exceed this part of the
  // link's rate.
  const double most = tick_.whole * config::kMostGuaranteedPercent / 100;
  if (guaranteed > most) {
    for_each_class([&](ClassId id) { classes_[id].guarantee *= most / guaranteed; });
  }
}

void RateShares::take_in(LinkId link, std::span<const Demands> demands) {
  for (const Demands& each : demands) known_ |= each.links[link].waiting;
  for_each_class([&](ClassId id) {
    Class& c = classes_[id];
    double sent = 0;
    c.demand = c.hosts = 0;
    c.active = 0;
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      const LinkDemand& demand = demands[i].links[link];
      Use& use = workers_[i].classes[id];
      sent += use.count(demand.sent_of[id], tick_);
      use.note((demand.waiting & class_bit(id)) != 0, (demand.hungry & class_bit(id)) != 0,
               demand.hosts[id], tick_);
      c.demand += use.demand;
      if (!use.is_active()) continue;
      c.hosts += use.hosts;
      ++c.active;
    }
    if (c.maximum > 0) c.excess.count(sent, c.maximum, c.active, tick_);
  });
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    workers_[i].reports.count(demands[i].links[link].reports, tick_);
  }
}

// Computes the length of the modem's queue, and returns a factor for all rates that brings it to
// the target. The factor 1 keeps the length. If all bytes were sent at the beginning of the tick,
// the queue has its shortest possible length. If they were sent at the end, it has its longest. The
// length between these two is `booked` less the bytes of one tick. `booked` alone is too large,
// since the pacer of a worker with a small share assumes that its packets take longer than they do.
double RateShares::hold_queue(double sent, double booked) {
  const double carried = tick_.whole * tick_.passed;
  const double shortest = std::max(queue_ + sent - carried, 0.0);
  // max(): due to rounding, this sum may be a little below `shortest`
  const double longest = std::max(shortest, std::max(queue_ - carried, 0.0) + sent);
  // On a slow link, even one packet of each worker may take longer than kMostQueue.
  const double most =
      tick_.whole * kMostQueue + kQueuePackets * kFullPacket * static_cast<double>(workers_.size());
  queue_ =
      std::min(std::clamp(booked - tick_.whole * kShareTick.to_seconds(), shortest, longest), most);
  queued_ = Duration::nanoseconds(static_cast<std::int64_t>(queue_ / tick_.whole * 1e9));
  const double target = std::max(kQueue, kQueuePackets * kFullPacket / tick_.whole);
  const double turn = std::max(kReturn, 2 * target);
  return std::clamp(1 + (target - queue_ / tick_.whole) / turn, kLeastFactor, kMostFactor);
}

void RateShares::divide_between_classes(double rate) {
  double left = rate;
  for_each_class([&](ClassId id) {
    Class& c = classes_[id];
    // A class gets at most its maximum. After an excess it gets less for a while.
    if (c.maximum > 0) c.demand = std::min(c.demand, c.excess.most(c.maximum, c.active));
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
  // The classes without a weight get the remaining rate in equal parts.
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

// Divides `left` among the classes by weight. If a class demands less than its part, the other
// classes get the unused rate.
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

void RateShares::write_worker(const Worker& worker, double spare, unsigned active,
                              LinkShare& share) const {
  const auto workers = static_cast<double>(workers_.size());
  double given = 0;
  bool hungers = false;
  for_each_class([&](ClassId id) {
    const Use& use = worker.classes[id];
    given += use.given;
    hungers = hungers || use.demand == Use::kAll;
  });
  if (active == 0) {
    given = tick_.whole / workers;
  } else if (works(worker) != 0) {
    given += spare / active;
  }
  // A worker that does not use its whole part keeps at least a reserve, so that it can send more at
  // once.
  if (!hungers) given = std::max(given, kReserve * tick_.whole / workers);
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
    // The weight applies only to the rate beyond the guarantee.
    const double beyond = use.is_active() ? std::max(0.0, use.given - guaranteed) : expected;
    const double weight = std::max(beyond, c.nominal * kLeastWeight) / tick_.whole * kWholeWeight;
    written.weight = c.terms.weight == 0 ? 0 : std::max(1U, static_cast<std::uint32_t>(weight));
    if (c.maximum > 0) expected = std::min(expected, c.maximum);
    written.expected = rate_of(expected);
    written.guaranteed = c.guarantee > 0 ? rate_of(guaranteed) : BitRate();
    written.maximum = c.maximum > 0 ? rate_of(maximum) : BitRate();
  });
}

// Divides the rate for reports in proportion to the recent use of each worker. Each worker gets at
// least a small part.
void RateShares::divide_reports(LinkId link, std::span<Shares> shares) const {
  const auto workers = static_cast<double>(workers_.size());
  const double floor = kReserve * report_rate_ / workers;
  double used = 0;
  for (const Worker& worker : workers_) used += worker.reports.rate;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    const double part =
        used > report_rate_ * kUnused ? workers_[i].reports.rate / used : 1 / workers;
    shares[i].links[link].reports = rate_of(floor + (report_rate_ - workers * floor) * part);
  }
}

// Divides the link in proportion to the recent use of each worker. Each worker gets at least a
// small part.
void RateShares::write_fallbacks(LinkId link, std::span<const Demands> demands,
                                 std::span<Shares> shares) {
  ++serial_;
  const double floor = kReserve * tick_.whole / static_cast<double>(workers_.size());
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    taken_[i] = demands[i].links[link].taken;
    used_[i] = floor;
    for_each_class([&](ClassId id) { used_[i] += workers_[i].classes[id].rate; });
  }
  fallbacks_.divide(serial_, taken_, used_);
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    LinkShare& share = shares[i].links[link];
    share.serial = serial_;
    share.until = tick_.now + kShareLife;
    share.fallback = fallbacks_.part(static_cast<unsigned>(i));
  }
}

}  // namespace satrelay::gateway
