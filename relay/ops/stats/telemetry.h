// The stats socket: commands under /satrelay/ of DPDK's telemetry. Its threads read the latest
// events, and a board with the workers' snapshots. docs/statistics.md describes the commands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "relay/ops/events/event_ring.h"
#include "relay/ops/stats/history.h"
#include "relay/ops/stats/snapshot_board.h"
#include "relay/records/records_report.h"

namespace satrelay::ops {

// Registers the commands for as long as it lives. At most one in a process. DPDK cannot unregister
// a command, so afterwards the commands answer null.
class Telemetry {
 public:
  // Returns the report on records of flows. Any thread may call it.
  using Records = std::function<records::RecordsReport()>;
  // `board`, `events` and `history` must outlive this object. Without `records` the report is
  // empty. `version`: of the program. Throws std::runtime_error if DPDK refuses a command.
  Telemetry(SnapshotBoard& board, const EventRing& events, const History& history,
            Records records = nullptr, std::string version = {});
  Telemetry(const Telemetry&) = delete;
  Telemetry& operator=(const Telemetry&) = delete;
  ~Telemetry();
};

// The parameters of a paged command: "", "first" or "first,count". They count positions, or, for
// events, numbers of events.
struct Page {
  std::size_t first = 0;
  std::size_t count = 0;
};
// At most `most` entries. nullopt if `text` is malformed.
std::optional<Page> parse_page(std::string_view text, std::size_t most);
// "KIND,first,count" or "KIND,NAME,first,count". The page, or all of it, may be left out. nullopt
// if `text` is malformed.
struct HistoryQuestion {
  HistoryOf of = HistoryOf::kGateway;
  std::string name;  // "" for the gateway
  Page page;
};
std::optional<HistoryQuestion> parse_history_question(std::string_view text, std::size_t most);
// The parameter of a command about one thing. nullopt if it is not a number.
std::optional<std::uint64_t> parse_number(std::string_view digits);
// "source,destination,port,protocol,vlan,dscp,direction": numbers, except for the addresses and the
// direction. nullopt if `text` is malformed.
std::optional<gateway::PolicyKey> parse_policy_key(std::string_view text);

}  // namespace satrelay::ops
