// Divides the rate of a link between the workers that send on it, each by a pacer of its own.
//
// Told at each tick what has left and what waits, it gives each class what ClassOrder would give it
// if all workers were one, and each worker of that as much as its hosts in the class make of all
// that wait in it. Who uses less than its part leaves the rest to the others. A worker without
// anything to send keeps a little: it begins at once, and has its part at the next tick.
//
// What all have sent and the link has not carried yet is kept about kQueue long: all rates are
// lowered while it is longer, and raised while it is shorter. So what was given to one that does
// not use it is not lost, and those that begin together do not fill the modem's queue.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "pep/base/time.h"
#include "pep/base/units.h"
#include "pep/schedule/class_set.h"
#include "relay/gateway/shares/fallbacks.h"
#include "relay/gateway/shares/link_share.h"
#include "relay/gateway/shares/use.h"

namespace satrelay::gateway {

// How often the rates are divided while anybody sends.
inline constexpr Duration kShareTick = Duration::milliseconds(1);
// So long a share holds. Who divides may be late by two ticks.
inline constexpr Duration kShareLife = kShareTick * 3;

class RateShares {
 public:
  RateShares(unsigned workers, Instant now);

  // `demands` and `shares`: of each worker; the terms are those of the first. Does nothing if no
  // time has passed.
  void divide(std::size_t link, std::span<const Demands> demands, std::span<Shares> shares,
              Instant now);
  // Nobody has sent or waited for long: the shares stay as they are until somebody does.
  bool is_at_rest() const { return at_rest_; }
  // What stands in the modem's queue, as far as the workers' bytes tell.
  Duration queue() const { return queued_; }

 private:
  // All rates are bytes a second.
  struct Worker {
    std::uint64_t counted = 0;
    Use reports;
    std::array<Use, schedule::kClasses> classes;
  };
  struct Class {
    ClassRates terms;
    double guarantee = 0, maximum = 0;
    Excess excess;                      // above the maximum
    double demand = 0, hosts = 0;       // of all workers
    double guaranteed = 0, beyond = 0;  // given: of the guarantee, and by weight
    double nominal = 0;                 // by weight, if all waited
    unsigned active = 0;                // workers
    double given() const { return guaranteed + beyond; }
  };

  template <typename Visit>
  void for_each_class(Visit&& visit) const {
    for (schedule::ClassSet set = known_; set != 0; set &= set - 1) {
      visit(schedule::lowest_class(set));
    }
  }
  schedule::ClassSet works(const Worker& worker) const;
  static const LinkTerms& terms_of(std::size_t link, std::span<const Demands> demands);
  void take_terms(const LinkTerms& terms, Duration passed);
  void take_in(std::size_t link, std::span<const Demands> demands);
  double hold_queue(double sent, double booked);
  void divide_between_classes(double rate);
  void fill_by_weight(double& left);
  void divide_between_workers(schedule::ClassId id);
  void write_worker(const Worker& worker, double spare, unsigned active, LinkShare& share) const;
  void write_classes(const Worker& worker, LinkShare& share) const;
  void divide_reports(std::size_t link, std::span<Shares> shares) const;
  void write_fallbacks(std::size_t link, std::span<const Demands> demands,
                       std::span<Shares> shares);

  std::vector<Worker> workers_;
  Fallbacks fallbacks_;
  std::uint64_t serial_ = 0;
  std::vector<std::uint64_t> taken_;  // by worker, as fallbacks_ wants them
  std::vector<double> used_;
  std::array<Class, schedule::kClasses> classes_;
  schedule::ClassSet known_ = 0;  // have terms, or bytes
  Instant last_;
  Tick tick_;
  double report_rate_ = 0;
  double queue_ = 0;  // bytes
  Duration queued_;
  Instant quiet_since_;
  bool at_rest_ = false;
};

}  // namespace satrelay::gateway
