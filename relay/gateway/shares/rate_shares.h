// Divides the rate of a link among the workers that send on it, each with a pacer of its own.
//
// At each tick, each worker reports its demand: what it has sent and what waits. Each class gets
// the rate that ClassOrder would give it if there were only one worker. The rate of a class is
// divided among the workers in proportion to the hosts that wait in the class at each worker. If a
// worker uses less than its part, the other workers get the unused rate. A worker without anything
// to send keeps a small part, so that it can begin to send before the next tick.
//
// Bytes that the workers have sent faster than the link carries them are in the modem's queue. Its
// length is kept at about kQueue: all rates are lowered while the queue is longer, and raised while
// it is shorter. So the rate that a worker leaves unused is not lost, and workers that begin at the
// same time do not fill the queue.
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
// How long a share is valid. It is longer than a tick, so that a division may be up to two ticks
// late.
inline constexpr Duration kShareLife = kShareTick * 3;

class RateShares {
 public:
  RateShares(unsigned workers, Instant now);

  // `demands` and `shares` have an element for each worker. Uses the terms (rates of the link) of a
  // worker that has a live session with a peer on the link. If there are several such workers, the
  // terms with the lowest rate are used. Does nothing if no time has passed.
  void divide(LinkId link, std::span<const Demands> demands, std::span<Shares> shares, Instant now);
  // Returns true if no worker has sent, or had anything to send, for a while. Then the shares stay
  // valid until a worker has something to send.
  bool is_at_rest() const { return at_rest_; }
  // The length of the modem's queue, computed from the bytes that the workers have sent.
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
    // The class gets the rate `guaranteed` from its guarantee, and the rate `beyond` in addition.
    double guaranteed = 0, beyond = 0;
    // The rate that the class would get by weight if all classes had something to send.
    double nominal = 0;
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
  // The argument `taken` for Fallbacks::divide().
  std::vector<std::uint64_t> taken_;
  std::vector<double> used_;
  std::array<Class, schedule::kClasses> classes_;
  schedule::ClassSet known_ = 0;  // classes that have been configured or have had something to send
  Instant last_;
  Tick tick_;
  double report_rate_ = 0;
  double queue_ = 0;  // bytes
  Duration queued_;
  Instant quiet_since_;
  bool at_rest_ = false;
};

}  // namespace satrelay::gateway
