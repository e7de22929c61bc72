// Divides the rate of a link among the workers that send on it, each with a pacer of its own.
//
// At each tick it gets the demand of each worker: what the worker has sent and what waits there. It
// gives each class the rate that ClassOrder would give the class if all workers were one. The rate
// of a class is divided among the workers in proportion to the hosts that wait in the class at each
// worker. If a worker uses less than its part, the other workers get the unused rate. A worker
// without anything to send keeps a little rate, so that it can begin at once, and gets its part at
// the next tick.
//
// The number of bytes that the workers have sent and the link has not carried yet is kept at about
// kQueue. All rates are lowered while this queue is longer, and raised while it is shorter. So the
// unused share of a worker is not lost, and workers that begin at the same time do not fill the
// modem's queue.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "pep/base/time.h"
#include "pep/base/units.h"
#include "pep/schedule/class_set.h"
#include "relay/gateway/ids.h"
#include "relay/gateway/shares/fallbacks.h"
#include "relay/gateway/shares/link_share.h"
#include "relay/gateway/shares/use.h"

namespace satrelay::gateway {

// The interval at which the rates are divided while any worker sends.
inline constexpr Duration kShareTick = Duration::milliseconds(1);
// How long a share is valid. So a division may be late by two ticks.
inline constexpr Duration kShareLife = kShareTick * 3;

class RateShares {
 public:
  RateShares(unsigned workers, Instant now);

  // `demands` and `shares` have an element for each worker. Uses the terms of a worker with a live
  // session to a peer on the link. If there are several such workers, the terms with the lowest
  // rate are used. Does nothing if no time has passed.
  void divide(LinkId link, std::span<const Demands> demands, std::span<Shares> shares, Instant now);
  // Returns true if no worker has sent, or had anything to send, for a while. Then the shares stay
  // valid until a worker has something to send.
  bool is_at_rest() const { return at_rest_; }
  // The length of the modem's queue, as computed from the workers' bytes.
  Duration queue() const { return queued_; }

 private:
  // All rates are in bytes per second.
  struct Worker {
    std::uint64_t counted = 0;
    Use reports;
    std::array<Use, schedule::kClasses> classes;
  };
  struct Class {
    ClassRates terms;
    double guarantee = 0, maximum = 0;
    Excess excess;                 // bytes above the maximum
    double demand = 0, hosts = 0;  // sums over all workers
    // The two parts of the rate that the class gets: from its guarantee, and beyond that.
    double guaranteed = 0, beyond = 0;
    double nominal = 0;   // rate by weight, if all classes had something to send
    unsigned active = 0;  // number of active workers
    double given() const { return guaranteed + beyond; }
  };

  template <typename Visit>
  void for_each_class(Visit&& visit) const {
    for (schedule::ClassSet set = known_; set != 0; set &= set - 1) {
      visit(schedule::lowest_class(set));
    }
  }
  schedule::ClassSet works(const Worker& worker) const;
  static const LinkTerms& terms_of(LinkId link, std::span<const Demands> demands);
  void take_terms(const LinkTerms& terms, Duration passed);
  void take_in(LinkId link, std::span<const Demands> demands);
  double hold_queue(double sent, double booked);
  void divide_between_classes(double rate);
  void fill_by_weight(double& left);
  void write_worker(const Worker& worker, double spare, unsigned active, LinkShare& share) const;
  void write_classes(const Worker& worker, LinkShare& share) const;
  void divide_reports(LinkId link, std::span<Shares> shares) const;
  void write_fallbacks(LinkId link, std::span<const Demands> demands, std::span<Shares> shares);

  std::vector<Worker> workers_;
  Fallbacks fallbacks_;
  std::uint64_t serial_ = 0;
  // for each worker, the argument `taken` of Fallbacks::divide()
  std::vector<std::uint64_t> taken_;
  std::vector<double> used_;
  std::array<Class, schedule::kClasses> classes_;
  schedule::ClassSet known_ = 0;  // classes that have had a configuration, or something to send
  Instant last_;
  Tick tick_;
  double report_rate_ = 0;
  double queue_ = 0;  // bytes
  Duration queued_;
  Instant quiet_since_;
  bool at_rest_ = false;
};

}  // namespace satrelay::gateway
