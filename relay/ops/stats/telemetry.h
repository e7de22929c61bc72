// The stats socket: commands under /satrelay/ of DPDK's telemetry. Its threads read a board that
// the worker fills, and the latest events; docs/statistics.md describes the commands.
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

// Registers the commands for as long as it lives; one a process. DPDK cannot forget a command, so
// afterwards they answer null.
class Telemetry {
 public:
  // How the records of flows fare; called by any thread.
  using Records = std::function<records::RecordsReport()>;
  // All must outlive this; without `records` there are none. `version`: of the program. Throws
  // std::runtime_error if DPDK refuses a command.
  Telemetry(SnapshotBoard& board, const EventRing& events, const History& history,
            Records records = nullptr, std::string version = {});
  Telemetry(const Telemetry&) = delete;
  Telemetry& operator=(const Telemetry&) = delete;
  ~Telemetry();
};

// The parameters of a paged command: "", "first" or "first,count". What they count are positions;
// of events, their numbers.
struct Page {
  std::size_t first = 0;
  std::size_t count = 0;
};
// Never more than `most` entries; nullopt if `text` is malformed.
std::optional<Page> parse_page(std::string_view text, std::size_t most);
// "KIND,first,count" or "KIND,NAME,first,count", of which page and all may be left out; nullopt if
// `text` is malformed.
struct HistoryQuestion {
  HistoryOf of = HistoryOf::kGateway;
  std::string name;  // "" of the gateway
  Page page;
};
std::optional<HistoryQuestion> parse_history_question(std::string_view text, std::size_t most);
// The parameter of a command about one thing; nullopt if it is no number.
std::optional<std::uint64_t> parse_number(std::string_view digits);
// "source,destination,port,protocol,vlan,dscp,direction", numbers but for addresses and the last;
// nullopt if `text` is malformed.
std::optional<gateway::PolicyKey> parse_policy_key(std::string_view text);

}  // namespace satrelay::ops
