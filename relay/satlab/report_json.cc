#include "relay/satlab/report.h"

namespace satrelay::satlab {
namespace {

using nlohmann::ordered_json;

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
  const link::DirectionCounters& c = figures.counters;
  ordered_json json;
  json["frames_offered"] = c.frames_in;
  json["bytes_offered"] = c.bytes_in;
  json["frames_delivered"] = c.frames_out;
  json["bytes_delivered"] = c.bytes_out;
  json["lost"] = c.dropped_loss;
  json["lost_in_outage"] = c.dropped_outage;
  json["queue_full"] = c.dropped_queue;
  json["memory_full"] = c.dropped_memory;
  json["corrupted"] = c.corrupted;
  json["duplicated"] = c.duplicated;
  json["reordered"] = c.reordered;
  json["bytes_carried"] = c.bytes_carried;
  json["queue_peak_ms"] = figures.queue_peak.to_seconds() * 1e3;
  return json;
}

ordered_json gateway_json(const RunResult& result, sim::Side side) {
  const auto index = static_cast<std::size_t>(side);
  if (!result.has_gateway[index]) return nullptr;
  const sim::GatewaySample& gateway = result.gateway(side);
  const stp::Counters& c = gateway.stp;
  ordered_json json;
  json["packets_out"] = c.packets_out;
  json["packets_lost"] = c.packets_lost;
  json["spurious_losses"] = c.spurious_losses;
  json["retransmitted_bytes"] = c.retransmitted_bytes;
  json["copies_out"] = c.copies_out;
  json["repair_packets_out"] = c.repair_packets_out;
  json["repair_packets_in"] = c.repair_packets_in;
  json["repair_used"] = c.repair_used;
  json["repair_wasted"] = c.repair_wasted;
  json["tail_probes"] = c.tail_probes;
  json["feedback_out"] = c.feedback_out;
  json["stream_bytes_out"] = c.stream_bytes_out;
  json["stream_bytes_in"] = c.stream_bytes_in;
  json["no_memory_drops"] = c.no_memory_drops;
  json["rtt_ms"] = gateway.rtt.to_seconds() * 1e3;
  json["arena_bytes"] = result.arena_size[index];
  json["arena_peak_bytes"] = result.arena_peak[index];
  return json;
}

}  // namespace

ordered_json report_json(const RunResult& result) {
  ordered_json json;
  json["scenario"] = result.name;
  json["seed"] = result.seed;
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
