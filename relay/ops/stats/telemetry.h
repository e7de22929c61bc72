// The stats socket: commands under /satrelay/ of DPDK's telemetry. DPDK's telemetry threads read
// the latest events, and the board with the workers' snapshots. docs/statistics.md describes the
// commands.
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
#include "relay/version/version.h"

namespace satrelay::ops {

// Serves the commands while this object exists. A process may have one such object at a time. DPDK
// cannot unregister a command, so the commands answer null after the object is gone.
class Telemetry {
 public:
  // Returns the report of the record writer. Any thread may call it.
  using Records = std::function<records::RecordsReport()>;
  // `board`, `events` and `history` must outlive this object. Without `records`, the report is
  // empty. `build` is the program that runs. Throws std::runtime_error if DPDK refuses a command.
  Telemetry(SnapshotBoard& board, const EventRing& events, const History& history,
            Records records = nullptr, Build build = {});
  Telemetry(const Telemetry&) = delete;
  Telemetry& operator=(const Telemetry&) = delete;
  ~Telemetry();
};

// The parameters of a paged command: "", "first" or "first,count". `first` is a position or, for
// events, the number of an event.
struct Page {
  std::size_t first = 0;
  std::size_t count = 0;
};
// Parses the parameters, and limits the count to `most`. Returns nullopt if `text` is malformed.
std::optional<Page> parse_page(std::string_view text, std::size_t most);
// The parameters of the command `history`: "KIND,first,count" or "KIND,NAME,first,count". The
// client may leave out the page ("first,count"), or all parameters. The parser returns nullopt if
// `text` is malformed.
struct HistoryQuestion {
  HistoryOf of = HistoryOf::kGateway;
  std::string name;  // name of the link, class or peer; "" for the gateway
  Page page;
};
std::optional<HistoryQuestion> parse_history_question(std::string_view text, std::size_t most);
// Parses the only parameter of a command, such as the id of a flow. Returns nullopt if it is not a
// number.
std::optional<std::uint64_t> parse_number(std::string_view digits);
// Parses "source,destination,port,protocol,vlan,dscp,direction". All fields are numbers except for
// the addresses and the direction. Returns nullopt if `text` is malformed.
std::optional<gateway::PolicyKey> parse_policy_key(std::string_view text);

}  // namespace satrelay::ops
