// The answers of the commands of the stats socket; docs/statistics.md lists the fields. Names
// contain the unit of their value. All numbers are unsigned integers. A 64-bit identifier is a
// string.
#pragma once

#include <cstddef>

#include "config/model/schema.h"
#include "relay/ops/events/event_ring.h"
#include "relay/ops/stats/history.h"
#include "relay/ops/stats/snapshot_board.h"
#include "relay/ops/stats/telemetry_data.h"
#include "relay/records/records_report.h"
#include "relay/version/version.h"

namespace satrelay::ops {

// The largest number of entries in one reply. Even with the longest numbers, a page stays below the
// 16 KB that DPDK sends at once.
inline constexpr std::size_t kFlowsPerPage = 12;
inline constexpr std::size_t kPeersPerPage = 5;
inline constexpr std::size_t kLinksPerPage = 24;
inline constexpr std::size_t kRulesPerPage = 18;
inline constexpr std::size_t kEventsPerPage = 10;
inline constexpr std::size_t kHistogramsPerPage = 18;
inline constexpr std::size_t kBridgedPerPage = 36;
inline constexpr std::size_t kHistoryPerPage = 48;
// Enough for all classes that can exist.
inline constexpr std::size_t kClassesPerPage = config::kMostClasses + 2;

void write_status(const SnapshotBoard::Published& published, const Build& build,
                  TelemetryDict& reply);
// `lost` is the number of records that the workers lost because the record writer did not keep up.
void write_records(const records::RecordsReport& report, std::uint64_t lost, TelemetryDict& reply);
void write_counters(const gateway::Counters& counters, TelemetryDict& reply);
TelemetryDict to_dict(const PortSnapshot& port);
TelemetryDict to_dict(const gateway::PeerSnapshot& peer);
TelemetryDict to_dict(const gateway::LinkSnapshot& link);
TelemetryDict to_dict(const gateway::RuleSnapshot& rule);
TelemetryDict to_dict(const gateway::ClassSnapshot& traffic_class);
TelemetryDict to_dict(const gateway::HistogramSnapshot& histogram);
TelemetryDict to_dict(const gateway::BridgedSnapshot& connection);
TelemetryDict to_dict(const gateway::FlowSnapshot& flow);  // only the fields of a listing
void write_flow(const gateway::FlowSnapshot& flow, TelemetryDict& reply);  // all fields of the flow

TelemetryDict to_dict(const HistoryPoint& point);

TelemetryDict to_dict(const NumberedEvent& told);
void write_event_numbers(const EventRing::Numbers& numbers, TelemetryDict& reply);

void write_explanation(const gateway::Explanation& explanation, TelemetryDict& reply);

}  // namespace satrelay::ops
