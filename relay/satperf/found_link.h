// The rates that were found in both directions of a link, and the section of gateway.yaml with
// them.
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

// Measures the rate at which a sender has sent, in bytes as the link counts them. The measurement
// starts `settled_ns` after the beginning of the run. It ends at `length`, after which the sender
// has nothing left to send.
class CarriedRate {
 public:
  CarriedRate(std::uint64_t settled_ns, Duration length, std::uint32_t overhead)
      : from_ns_(settled_ns),
        to_ns_(static_cast<std::uint64_t>(length.to_nanoseconds())),
        overhead_(overhead) {}

  void look(const Snapshot& sender);
  BitRate rate() const { return rate_; }  // zero means that the rate is not known

 private:
  std::uint64_t from_ns_, to_ns_;
  std::uint32_t overhead_;
  std::optional<Snapshot> first_;
  BitRate rate_;
};

// The rates that the sender's controller found in one direction of the link.
class FoundRate {
 public:
  void add(BitRate rate) {
    if (rate.is_zero()) return;
    last_ = rate;
    least_ = least_.is_zero() ? rate : std::min(least_, rate);
    most_ = std::max(most_, rate);
  }
  // Sets the rate at which the sender has sent (CarriedRate), in bytes as the link counts them.
  // This rate is lower than the found rate if one of the two machines was slower than the link.
  void set_carried(BitRate rate) { carried_ = rate; }
  // Returns the carried rate, but at least 85% and at most 100% of the found rate. The found rate
  // is slightly too high if a machine does not send or receive trains of packets on time. The
  // carried rate may be too low, since the sender uses only a part of the rate that it finds.
  BitRate rate() const { return std::min(last_, std::max(carried_, last_.scaled(85, 100))); }
  bool is_found() const { return !last_.is_zero(); }
  BitRate least() const { return least_; }
  BitRate most() const { return most_; }
  // True if the rates differ by more than the measurement error.
  bool varies() const { return most_ > least_.scaled(115, 100); }

 private:
  BitRate last_, least_, most_, carried_;
};

struct FoundLink {
  FoundRate sent;      // rates from this end to the server
  FoundRate received;  // rates from the server to this end
  BitRate ceiling;
  std::uint32_t overhead = 38;
  std::uint64_t rtt_us = 0;
};

// Returns the section for gateway.yaml at this end. At the far gateway, the two rates must be
// swapped: this end's sending rate is the far gateway's receiving rate.
std::string links_section(const FoundLink& link);
// Describes the found rates and the section for gateway.yaml, as text or as one line of JSON.
std::string describe(const FoundLink& link, Format format);

}  // namespace satrelay::satperf
