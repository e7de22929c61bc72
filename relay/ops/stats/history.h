// The history of a gateway over the last hour: one point every ten seconds for the gateway as a
// whole, and for each link, peer and class. The gateway itself keeps the history, so it does not
// depend on clients. A restart clears it. A value of a point is NaN if it is not known, or if it
// does not exist for this kind of series.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pep/base/time.h"
#include "relay/gateway/snapshot.h"
#include "relay/ops/stats/history_words.h"
#include "relay/ops/stats/snapshot_board.h"

namespace satrelay::ops {

struct HistoryPoint {
  static constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

  std::uint64_t time_ms = 0;  // end of the interval, in ms since 1970, UTC
  float send_bps = kUnknown;
  float receive_bps = kUnknown;
  float loss_ratio = kUnknown;  // number of lost STP packets divided by the number sent
  // Round-trip time at the end of the interval. For several peers, it is the maximum.
  float rtt_seconds = kUnknown;
  // Relayed and bridged bytes that waited at the end of the interval.
  float queued_bytes = kUnknown;
  float wait_seconds = kUnknown;   // mean time that data waited for the link
  float encoded_ratio = kUnknown;  // encoded bytes divided by plain bytes
};

// Takes at most 9 MB, since it keeps at most kMostSeries series.
class History {
 public:
  static constexpr Duration kInterval = Duration::seconds(10);
  static constexpr std::size_t kPoints = 360;
  static constexpr std::size_t kMostSeries = 600;

  // Adds a point for `now`, about kInterval after the previous point. The first point of a series
  // has no rates. `classes` is empty if the worker has not answered.
  void add(const Snapshot& snapshot, const std::vector<gateway::ClassSnapshot>& classes,
           Instant now, std::uint64_t time_ms);

  // Returns points [first, first + count), counted back from the newest point. `name` is "" for the
  // gateway. The result is empty if there is no such series. Any thread may call this.
  std::vector<HistoryPoint> points(HistoryOf of, std::string_view name, std::size_t first,
                                   std::size_t count) const;

 private:
  // The values of a series at one time: counters, and momentary values such as the round trip.
  struct Figures {
    std::uint64_t sent = 0, received = 0;  // numbers of bytes
    bool counts_received = false;
    std::uint64_t packets_out = 0, packets_lost = 0;
    std::uint64_t plain = 0, encoded = 0;
    std::uint64_t waits = 0, waited_us = 0;
    std::optional<std::uint64_t> queued;
    std::optional<Duration> rtt;
  };
  struct Series {
    Figures before;
    std::uint64_t seen = 0;  // value of `times_` after the last add() with this series
    std::array<HistoryPoint, kPoints> points{};
  };
  using Name = std::pair<HistoryOf, std::string>;
  using All = std::map<Name, Figures>;
  static All figures_of(const Snapshot& snapshot,
                        const std::vector<gateway::ClassSnapshot>& classes);
  static HistoryPoint point_of(const Figures& now);  // sets only values that need no earlier point
  static HistoryPoint point_of(const Figures& before, const Figures& now, double seconds);

  mutable std::mutex mutex_;  // guards all members below
  std::uint64_t times_ = 0;   // number of calls of add()
  Instant last_;
  std::map<Name, Series> series_;
};

}  // namespace satrelay::ops
