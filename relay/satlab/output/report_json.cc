#include "relay/satlab/output/report.h"

namespace satrelay::satlab {
namespace {

using nlohmann::ordered_json;

// The link counters that a report shows. The report renames them, so that a name says what happened
// to the offered frames.
struct LinkFigure {
  const char* name;
  std::uint64_t link::DirectionCounters::*member;
};
constexpr LinkFigure kLinkFigures[] = {
    {"frames_offered", &link::DirectionCounters::frames_in},
    {"bytes_offered", &link::DirectionCounters::bytes_in},
    {"frames_delivered", &link::DirectionCounters::frames_out},
    {"bytes_delivered", &link::DirectionCounters::bytes_out},
    {"lost", &link::DirectionCounters::dropped_loss},
    {"lost_in_outage", &link::DirectionCounters::dropped_outage},
    {"queue_full", &link::DirectionCounters::dropped_queue},
    {"memory_full", &link::DirectionCounters::dropped_memory},
    {"too_long", &link::DirectionCounters::dropped_mtu},
    {"corrupted", &link::DirectionCounters::corrupted},
    {"duplicated", &link::DirectionCounters::duplicated},
    {"reordered", &link::DirectionCounters::reordered},
    {"bytes_carried", &link::DirectionCounters::bytes_carried},
};

// The session counters that a report shows.
constexpr CounterField<stp::Counters> kGatewayFields[] = {
    field_of(&stp::Counters::packets_out),       field_of(&stp::Counters::packets_lost),
    field_of(&stp::Counters::spurious_losses),   field_of(&stp::Counters::retransmitted_bytes),
    field_of(&stp::Counters::copies_out),        field_of(&stp::Counters::repair_packets_out),
    field_of(&stp::Counters::repair_packets_in), field_of(&stp::Counters::repair_used),
    field_of(&stp::Counters::repair_wasted),     field_of(&stp::Counters::tail_probes),
    field_of(&stp::Counters::feedback_out),      field_of(&stp::Counters::stream_bytes_out),
    field_of(&stp::Counters::stream_bytes_in),   field_of(&stp::Counters::no_memory_drops),
};

const char* name_of(sim::Side side) { return side == sim::Side::kA ? "a" : "b"; }

ordered_json seconds(Duration duration) {
  if (duration.is_infinite()) return nullptr;
  return duration.to_seconds();
}

ordered_json seconds(const std::optional<Duration>& duration) {
  return duration ? seconds(*duration) : ordered_json(nullptr);
}

ordered_json flow_json(const FlowFigures& flow) {
  ordered_json json;
  json["name"] = flow.name;
  json["from"] = name_of(flow.from);
  json["bytes"] = flow.bytes == kUnlimited ? ordered_json(nullptr) : ordered_json(flow.bytes);
  json["received"] = flow.received;
  json["start_s"] = seconds(flow.start);
  json["first_byte_s"] = seconds(flow.first);
  json["completed_s"] = seconds(flow.completed);
  json["bound_s"] = seconds(flow.bound);
  json["goodput_bps"] = flow.goodput;
  json["bound_share"] = flow.bound_share;
  json["failure"] = flow.failure.empty() ? ordered_json(nullptr) : ordered_json(flow.failure);
  return json;
}

ordered_json link_json(const DirectionFigures& figures) {
  ordered_json json;
  for (const auto& [name, member] : kLinkFigures) json[name] = figures.counters.*member;
  json["queue_peak_ms"] = figures.queue_peak.to_seconds() * 1e3;
  return json;
}

ordered_json gateway_json(const RunResult& result, sim::Side side) {
  const auto index = static_cast<std::size_t>(side);
  if (!result.has_gateway[index]) return nullptr;
  const sim::GatewaySample& gateway = result.gateway(side);
  ordered_json json;
  for (const auto& field : kGatewayFields) json[field.name] = value_of(gateway.stp, field);
  json["rtt_ms"] = gateway.rtt.to_seconds() * 1e3;
  json["arena_bytes"] = result.arena_size[index];
  json["arena_peak_bytes"] = result.arena_peak[index];
  return json;
}

}  // namespace

ordered_json report_json(const RunResult& result) {
  ordered_json json;
  json["scenario"] = result.name;
  json["seed"] = std::to_string(result.seed);  // an identifier of 64 bits
  json["congestion"] = result.congestion;
  json["duration_s"] = seconds(result.virtual_time);
  json["interrupted"] = result.interrupted;
  json["flows"] = ordered_json::array();
  for (const FlowFigures& flow : result.flows) json["flows"].push_back(flow_json(flow));
  json["link"]["a_to_b"] = link_json(result.link[0]);
  json["link"]["b_to_a"] = link_json(result.link[1]);
  json["gateways"]["a"] = gateway_json(result, sim::Side::kA);
  json["gateways"]["b"] = gateway_json(result, sim::Side::kB);
  json["run"]["wall_s"] = result.wall_seconds;
  json["run"]["peak_memory_bytes"] = result.peak_memory;
  return json;
}

}  // namespace satrelay::satlab
