// Finds out what has changed by comparing what the gateway tells of itself now with what it told
// before. So the engine knows nothing of events, a storm of packets makes no more of them than
// there are looks, and the worker does nothing for it: a thread of its own reads the board that the
// stats socket has. What comes and goes between two looks (a tenth of a second) is told where a
// counter keeps it.
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

// A counter that ought to stand still: what it has grown by, no more often than once a minute.
class Growth {
 public:
  static constexpr Duration kInterval = Duration::seconds(60);
  std::optional<std::uint64_t> look(std::uint64_t value, Instant now);
  // The same for what is told otherwise, at any time.
  std::uint64_t take(std::uint64_t value) { return value - std::exchange(told_, value); }

 private:
  std::uint64_t told_ = 0;
  Instant next_;
};

class Watch {
 public:
  using Tell = std::function<void(Event)>;
  // A peer that was not heard so long after the start is told of.
  static constexpr Duration kUnheardAfter = Duration::seconds(10);
  // A rate is cut that stays below nine tenths of the link's for so long, and restored from 95% on.
  static constexpr Duration kCutAfter = Duration::seconds(2);
  // Cuts of a peer's rate, however short, are told of no more often.
  static constexpr Duration kLoweredInterval = Duration::seconds(1);
  // Memory is low from nine tenths on, or when it has run out; and normal again below three
  // quarters when it has not run out for so long.
  static constexpr Duration kMemoryNormalAfter = Duration::seconds(10);
  static constexpr Duration kWorkerStuckAfter = Duration::seconds(2);
  // SYNs find no room, as soon as one does not.
  static constexpr Episode::Bounds kFlood{.begins_after = Duration::zero(),
                                          .pause = Duration::zero(),
                                          .over_after = Duration::seconds(10)};
  // Frames are lost before the workers, not only in a moment.
  static constexpr Episode::Bounds kOverload{.begins_after = Duration::seconds(3),
                                             .pause = Duration::seconds(2),
                                             .over_after = Duration::seconds(10)};

  explicit Watch(Tell tell) : tell_(std::move(tell)) {}

  // `age` of the snapshot: how long the worker has told nothing. `records` of flows, as of now.
  void look(const Snapshot& snapshot, const records::RecordsReport& records, Duration age,
            Instant now);

 private:
  struct Peer {
    stp::PeerState state = stp::PeerState::kConnecting;
    Instant since;  // in this state
    std::uint64_t restarts = 0;
    std::uint64_t security_mismatches = 0;
    std::uint64_t lanes_mismatches = 0;
    bool unheard_told = false;
    bool wrong_key = false;
    bool given_up = false;
    bool was_full = false;  // its rate
    bool rate_cut = false;
    Instant low_since = Instant::never();
    std::uint64_t cuts = 0;  // that were told
    Instant next_lowered = {};
    Growth keys = {};
    SteadyRate announced = {};
    SteadyRate found = {};
  };
  struct Port {
    Growth merged;
    Growth missed;
  };

  // Of records of flows out of the gateway.
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
