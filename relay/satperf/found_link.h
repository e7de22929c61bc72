// What was found of a link in both directions, and how it is written in gateway.yaml.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "pep/base/time.h"
#include "pep/base/units.h"
#include "relay/satperf/report.h"
#include "relay/satperf/snapshot.h"

namespace satrelay::satperf {

// What a sender puts on the link, as that counts it: from when it has settled until it has sent for
// `length`, since then there is nothing left to send.
class CarriedRate {
 public:
  CarriedRate(std::uint64_t settled_ns, Duration length, std::uint32_t overhead)
      : from_ns_(settled_ns),
        to_ns_(static_cast<std::uint64_t>(length.to_nanoseconds())),
        overhead_(overhead) {}

  void look(const Snapshot& sender);
  BitRate rate() const { return rate_; }  // zero: not known

 private:
  std::uint64_t from_ns_, to_ns_;
  std::uint32_t overhead_;
  std::optional<Snapshot> first_;
  BitRate rate_;
};

// Of one direction, what the sender's controller has found while it sent.
class FoundRate {
 public:
  void add(BitRate rate) {
    if (rate.is_zero()) return;
    last_ = rate;
    least_ = least_.is_zero() ? rate : std::min(least_, rate);
    most_ = std::max(most_, rate);
  }
  // What went over the link meanwhile, as it counts; less if hosts or machines were slower.
  void set_carried(BitRate rate) { carried_ = rate; }
  // Trains show a little too much where machines are not in time, and of what was found a part is
  // used: what went over the link decides between.
  BitRate rate() const { return std::min(last_, std::max(carried_, last_.scaled(85, 100))); }
  bool is_found() const { return !last_.is_zero(); }
  BitRate least() const { return least_; }
  BitRate most() const { return most_; }
  // More than what measuring makes of it.
  bool varies() const { return most_ > least_.scaled(115, 100); }

 private:
  BitRate last_, least_, most_, carried_;
};

struct FoundLink {
  FoundRate sent;      // from here to the server
  FoundRate received;  // and back
  BitRate ceiling;
  std::uint32_t overhead = 38;
  std::uint64_t rtt_us = 0;
};

// To be pasted into gateway.yaml here; the far gateway has the two rates exchanged.
std::string links_section(const FoundLink& link);
// For people with what was found before it, for programs as one line.
std::string describe(const FoundLink& link, Format format);

}  // namespace satrelay::satperf
