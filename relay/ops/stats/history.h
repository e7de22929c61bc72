// The last hour of a gateway: a point each ten seconds of all of it, of each link, peer and class.
// Kept by the gateway itself, so that it is there whoever looks, and only then; a new start begins
// anew. All floats are NaN where nothing is known, or where the thing has no such figure.
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

  std::uint64_t time_ms = 0;  // UTC; its end
  float send_bps = kUnknown;
  float receive_bps = kUnknown;
  float loss_ratio = kUnknown;     // of packets of STP that were sent
  float rtt_seconds = kUnknown;    // at the end; the longest of several peers
  float queued_bytes = kUnknown;   // relayed and bridged, that waited at the end
  float wait_seconds = kUnknown;   // for the link, the mean of what has left
  float encoded_ratio = kUnknown;  // encoded bytes by plain ones
};

// Takes 9 MB at the most: what comes beyond kMostSeries is not kept.
class History {
 public:
  static constexpr Duration kInterval = Duration::seconds(10);
  static constexpr std::size_t kPoints = 360;
  static constexpr std::size_t kMostSeries = 600;

  // What there is at `now`, about kInterval after the last time; the first time there are no rates.
  // `classes`: nothing if the worker has not answered.
  void add(const Snapshot& snapshot, const std::vector<gateway::ClassSnapshot>& classes,
           Instant now, std::uint64_t time_ms);

  // Points [first, first + count) counted from the newest one. Any thread. `name`: "" of the
  // gateway. Of what is not known there are none.
  std::vector<HistoryPoint> points(HistoryOf of, std::string_view name, std::size_t first,
                                   std::size_t count) const;

 private:
  // What counters have come to, and what is now.
  struct Figures {
    std::uint64_t sent = 0, received = 0;  // bytes
    bool counts_received = false;
    std::uint64_t packets_out = 0, packets_lost = 0;
    std::uint64_t plain = 0, encoded = 0;
    std::uint64_t waits = 0, waited_us = 0;
    std::optional<std::uint64_t> queued;
    std::optional<Duration> rtt;
  };
  struct Series {
    Figures before;
    std::uint64_t seen = 0;  // the last time that it was there
    std::array<HistoryPoint, kPoints> points{};
  };
  using Name = std::pair<HistoryOf, std::string>;
  using All = std::map<Name, Figures>;
  static All figures_of(const Snapshot& snapshot,
                        const std::vector<gateway::ClassSnapshot>& classes);
  static HistoryPoint point_of(const Figures& now);  // what needs no point before it
  static HistoryPoint point_of(const Figures& before, const Figures& now, double seconds);

  mutable std::mutex mutex_;  // guards what follows
  std::uint64_t times_ = 0;   // that something was added
  Instant last_;
  std::map<Name, Series> series_;
};

}  // namespace satrelay::ops
