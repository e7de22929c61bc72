#include <cstdio>

#include "relay/satlab/report.h"

namespace satrelay::satlab {
namespace {

std::string number(double value) {
  char text[48];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

// Bits a second over the time between two samples.
std::string mean_rate(std::uint64_t now, std::uint64_t before, double seconds) {
  return number(seconds > 0 ? static_cast<double>(now - before) * 8 / seconds : 0);
}

std::uint64_t lost(const link::DirectionCounters& c) {
  return c.dropped_loss + c.dropped_outage + c.dropped_mtu + c.dropped_queue + c.dropped_memory;
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? "\"\"" : std::string(1, c);
  return result + "\"";
}

std::string header(const RunResult& result) {
  std::string line = "time_s";
  for (const char* way : {"a_to_b", "b_to_a"}) {
    for (const char* field : {"offered_bps", "delivered_bps", "queue_ms", "lost_frames"}) {
      line += std::string(",") + way + "_" + field;
    }
  }
  for (const char* station : {"a", "b"}) {
    for (const char* field :
         {"received_bps", "stored_bps", "retransmitted_bytes", "spurious", "arena_bytes"}) {
      line += std::string(",") + station + "_" + field;
    }
  }
  if (!result.series.empty() && !result.series.back().network.flows.empty()) {
    for (const FlowFigures& flow : result.flows) {
      const char* way = flow.from == sim::Side::kA ? " a>b" : " b>a";
      line += "," + quoted(flow.name + way + " bps");
    }
  }
  return line + "\n";
}

std::uint64_t received_of(const FlowFigures& flow, const Sample& sample) {
  const sim::FlowSample& at_ends = sample.network.flows[flow.flow];
  return flow.from == at_ends.client_side ? at_ends.server_received : at_ends.client_received;
}

std::string row(const RunResult& result, const Sample& before, const Sample& now) {
  const double seconds = (now.at - before.at).to_seconds();
  const link::DirectionCounters zero[] = {result.series.front().network.links[0].counters,
                                          result.series.front().network.links[1].counters};
  std::string text = number(now.at.to_seconds());
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    const sim::LinkSample& link = now.network.links[side];
    const link::DirectionCounters& old = before.network.links[side].counters;
    text += "," + mean_rate(link.counters.bytes_in, old.bytes_in, seconds);
    text += "," + mean_rate(link.counters.bytes_out, old.bytes_out, seconds);
    text += "," + number(link.queue_peak.to_seconds() * 1e3);
    text += "," + std::to_string(lost(link.counters) - lost(zero[side]));
  }
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    const sim::GatewaySample& gateway = now.network.gateways[side];
    const sim::GatewaySample& old = before.network.gateways[side];
    text += "," + mean_rate(now.host_received[side], before.host_received[side], seconds);
    text += "," + mean_rate(gateway.stp.stream_bytes_in, old.stp.stream_bytes_in, seconds);
    text += "," + std::to_string(gateway.stp.retransmitted_bytes);
    text += "," + std::to_string(gateway.stp.spurious_losses);
    text += "," + std::to_string(gateway.arena_used);
  }
  if (!now.network.flows.empty()) {
    for (const FlowFigures& flow : result.flows) {
      text += "," + mean_rate(received_of(flow, now), received_of(flow, before), seconds);
    }
  }
  return text + "\n";
}

}  // namespace

std::string report_csv(const RunResult& result) {
  std::string text = header(result);
  for (std::size_t i = 1; i < result.series.size(); ++i) {
    text += row(result, result.series[i - 1], result.series[i]);
  }
  return text;
}

}  // namespace satrelay::satlab
