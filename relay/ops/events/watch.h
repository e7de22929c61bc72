// Finds events by comparing successive snapshots of the gateway, so that the engine needs no code
// for events. The number of events does not depend on the number of packets: each call of look()
// reports each counter and each state at most once. The workers do no work for this. Another thread
// reads the board that the stats socket also reads, ten times a second. If a change is undone
// between two calls, it is reported only if a counter shows it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pep/base/time.h"
#include "pep/base/units.h"
#include "relay/ops/events/episode.h"
#include "relay/ops/events/event.h"
#include "relay/ops/events/steady_rate.h"
#include "relay/ops/stats/snapshot_board.h"
#include "relay/records/records_report.h"

namespace satrelay::ops {

// Reports the growth of a counter that normally does not grow, at most once a minute.
class Growth {
 public:
  static constexpr Duration kInterval = Duration::seconds(60);
  std::optional<std::uint64_t> look(std::uint64_t value, Instant now);
  // Returns the growth since the last report, regardless of the interval. The caller reports it in
  // another event.
  std::uint64_t take(std::uint64_t value) { return value - std::exchange(told_, value); }

 private:
  std::uint64_t told_ = 0;
  Instant next_;
};

class Watch {
 public:
  using Tell = std::function<void(Event)>;
  // A peer is reported if it has sent no packet for this long after the start.
  static constexpr Duration kUnheardAfter = Duration::seconds(10);
  // A rate counts as cut once it has stayed below 90% of the link's rate for this long. It counts
  // as restored once it reaches 95%.
  static constexpr Duration kCutAfter = Duration::seconds(2);
  // Minimum time between two reports that the send rate to the same peer was cut.
  static constexpr Duration kLoweredInterval = Duration::seconds(1);
  // Memory counts as low if 90% of it is used, or if a connection or a frame was refused for lack
  // of memory. It counts as normal again once both conditions have been false for this long, and
  // less than 75% is used.
  static constexpr Duration kMemoryNormalAfter = Duration::seconds(10);
  static constexpr Duration kWorkerStuckAfter = Duration::seconds(2);
  // A flood begins with the first SYN above the limit of half-open connections.
  static constexpr Episode::Bounds kFlood{.begins_after = Duration::zero(),
                                          .pause = Duration::zero(),
                                          .over_after = Duration::seconds(10)};
  // An overload begins once frames have been lost for several seconds because the workers did not
  // receive them in time.
  static constexpr Episode::Bounds kOverload{.begins_after = Duration::seconds(3),
                                             .pause = Duration::seconds(2),
                                             .over_after = Duration::seconds(10)};

  explicit Watch(Tell tell) : tell_(std::move(tell)) {}

  // `age` is the time since the worker made the snapshot. `records` is the present report of the
  // record writer.
  void look(const Snapshot& snapshot, const records::RecordsReport& records, Duration age,
            Instant now);

 private:
  struct Peer {
    stp::PeerState state = stp::PeerState::kConnecting;
    Instant since;  // time at which the present state began
    std::uint64_t restarts = 0;
    std::uint64_t security_mismatches = 0;
    std::uint64_t lanes_mismatches = 0;
    bool unheard_told = false;
    bool wrong_key = false;
    bool given_up = false;
    bool was_full = false;  // true once the rate has been full in this session
    bool rate_cut = false;
    Instant low_since = Instant::never();
    std::uint64_t cuts = 0;  // number of cuts at the last report
    Instant next_lowered = {};
    Growth keys = {};
    SteadyRate announced = {};
    SteadyRate found = {};
  };
  struct Port {
    Growth merged;
    Growth missed;
  };

  // An output of the flow records.
  struct Way {
    bool fails = false;
    Growth lost = {};
  };
  struct WayNow {
    const char* subject;
    bool is_open;
    const std::string& trouble;
    std::uint64_t lost;
  };

  void look_at(const gateway::PeerSnapshot& now_is, Peer& before, Instant now);
  void look_at_state(const gateway::PeerSnapshot& now_is, Peer& before, Instant now);
  void look_at_rate(const gateway::PeerSnapshot& now_is, Peer& before, Instant now);
  void look_at_capacity(const gateway::PeerSnapshot& now_is, Peer& before, Instant now);
  static EventKind why_refused(const stp::Counters& now_is, const Peer& before);
  void look_at_cuts(const gateway::PeerSnapshot& now_is, Peer& before, Instant now);
  void look_at(const PortSnapshot& now_is, Port& before, Instant now);
  void look_at_memory(const Snapshot& snapshot, Instant now);
  void look_at_counters(const gateway::Counters& counters, Instant now);
  void look_at_flood(const gateway::Counters& counters, Instant now);
  void look_at_overload(const Snapshot& snapshot, Instant now);
  void look_at(const records::RecordsReport& now_is, const Snapshot& snapshot, Instant now);
  void look_at(const WayNow& now_is, Way& before, Instant now);

  Tell tell_;
  std::optional<Instant> began_;
  std::vector<Peer> peers_;
  std::vector<Port> ports_;
  bool memory_low_ = false;
  std::uint64_t out_of_memory_ = 0;
  Instant memory_short_at_;
  static constexpr std::size_t kWatchedCounters = 14;
  std::array<Growth, kWatchedCounters> counters_;
  Episode flood_{kFlood};
  Episode overload_{kOverload};
  bool worker_stuck_ = false;
  Way records_file_;
  Way records_collector_;
  Growth records_found_no_room_;
};

}  // namespace satrelay::ops
