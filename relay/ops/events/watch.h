// Finds events by comparing successive snapshots of the gateway. So the engine knows nothing of
// events. The number of events depends on the number of looks, not of packets: each look reports
// each counter and each state at most once. The workers do nothing for this: another thread reads
// the board that the stats socket reads, ten times a second. A change that is undone between two
// looks is reported only if a counter shows it.
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

// Reports the growth of a counter that should stand still, at most once a minute.
class Growth {
 public:
  static constexpr Duration kInterval = Duration::seconds(60);
  std::optional<std::uint64_t> look(std::uint64_t value, Instant now);
  // Returns the growth since the last report at any time, for a caller that reports it in another
  // event.
  std::uint64_t take(std::uint64_t value) { return value - std::exchange(told_, value); }

 private:
  std::uint64_t told_ = 0;
  Instant next_;
};

class Watch {
 public:
  using Tell = std::function<void(Event)>;
  // A peer is reported if no packet has arrived from it for this long after the start.
  static constexpr Duration kUnheardAfter = Duration::seconds(10);
  // A rate counts as cut once it has stayed below 90% of the link's rate for this long. It counts
  // as restored from 95% on.
  static constexpr Duration kCutAfter = Duration::seconds(2);
  // Least time between two reports of a peer's rate cuts, however short they are.
  static constexpr Duration kLoweredInterval = Duration::seconds(1);
  // Memory counts as low if 90% of it is used, or if connections or frames were refused for lack of
  // it. It counts as normal again if less than 75% is used, and neither has occurred for this long.
  static constexpr Duration kMemoryNormalAfter = Duration::seconds(10);
  static constexpr Duration kWorkerStuckAfter = Duration::seconds(2);
  // A flood begins with the first SYN above the limit of half-open connections.
  static constexpr Episode::Bounds kFlood{.begins_after = Duration::zero(),
                                          .pause = Duration::zero(),
                                          .over_after = Duration::seconds(10)};
  // An overload begins if frames are lost before the workers can take them, for more than a moment.
  static constexpr Episode::Bounds kOverload{.begins_after = Duration::seconds(3),
                                             .pause = Duration::seconds(2),
                                             .over_after = Duration::seconds(10)};

  explicit Watch(Tell tell) : tell_(std::move(tell)) {}

  // `age`: time since the worker made the snapshot. `records`: the present report on records of
  // flows.
  void look(const Snapshot& snapshot, const records::RecordsReport& records, Duration age,
            Instant now);

 private:
  struct Peer {
    stp::PeerState state = stp::PeerState::kConnecting;
    Instant since;  // start of this state
    std::uint64_t restarts = 0;
    std::uint64_t security_mismatches = 0;
    std::uint64_t lanes_mismatches = 0;
    bool unheard_told = false;
    bool wrong_key = false;
    bool given_up = false;
    bool was_full = false;  // the rate has been full
    bool rate_cut = false;
    Instant low_since = Instant::never();
    std::uint64_t cuts = 0;  // cuts that were reported
    Instant next_lowered = {};
    Growth keys = {};
    SteadyRate announced = {};
    SteadyRate found = {};
  };
  struct Port {
    Growth merged;
    Growth missed;
  };

  // An output of the records of flows.
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
