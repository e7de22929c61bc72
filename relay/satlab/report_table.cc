#include <algorithm>
#include <cstdio>

#include "relay/satlab/report.h"
#include "relay/satlab/statistics.h"
#include "relay/satrelayctl/scale.h"
#include "relay/satrelayctl/table.h"

namespace satrelay::satlab {
namespace {

using ctl::Align;
using ctl::human_bytes;
using ctl::human_rate;
using Rows = std::vector<std::vector<std::string>>;

// Groups of more flows than this are shown as a summary.
constexpr std::size_t kMostFlowsListed = 12;

std::string fixed(double value, int decimals) {
  char text[48];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

std::string seconds(Duration duration) {
  return duration.is_infinite() ? "-" : fixed(duration.to_seconds(), 3);
}

std::string percent(double share) { return fixed(share * 100, 1) + "%"; }

std::string rate(double bits_per_second) {
  return human_rate(static_cast<std::uint64_t>(bits_per_second));
}

std::string share_of(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "-";
  return fixed(100 * static_cast<double>(part) / static_cast<double>(whole), 3) + "%";
}

const char* way(sim::Side from) { return from == sim::Side::kA ? "a>b" : "b>a"; }

std::string state(const FlowFigures& flow) {
  if (!flow.failure.empty()) return flow.failure;
  if (flow.completed) return "complete";
  return flow.received == 0 && !flow.first ? "nothing arrived" : "running";
}

std::vector<std::string> flow_row(const FlowFigures& flow) {
  return {flow.name,
          way(flow.from),
          human_bytes(flow.received),
          seconds(flow.start),
          flow.first ? seconds(*flow.first) : "-",
          flow.completed ? seconds(*flow.completed) : "-",
          seconds(flow.bound),
          rate(flow.goodput),
          percent(flow.bound_share),
          state(flow)};
}

std::string flow_table(const RunResult& result) {
  const std::vector<ctl::Column> columns = {{"flow"},
                                            {"way"},
                                            {"received", Align::kRight},
                                            {"start s", Align::kRight},
                                            {"first s", Align::kRight},
                                            {"completed s", Align::kRight},
                                            {"bound s", Align::kRight},
                                            {"goodput", Align::kRight},
                                            {"of bound", Align::kRight},
                                            {"state"}};
  Rows rows;
  for (const FlowGroup& group : result.groups) {
    if (group.count > kMostFlowsListed) continue;
    for (std::size_t i = 0; i < group.count; ++i)
      rows.push_back(flow_row(result.flows[group.first + i]));
  }
  return rows.empty() ? "" : ctl::format_table(columns, rows) + "\n";
}

std::string group_table(const RunResult& result) {
  const std::vector<ctl::Column> columns = {{"flows"},
                                            {"count", Align::kRight},
                                            {"complete", Align::kRight},
                                            {"failed", Align::kRight},
                                            {"mean s", Align::kRight},
                                            {"median s", Align::kRight},
                                            {"p99 s", Align::kRight},
                                            {"mean bound s", Align::kRight},
                                            {"received", Align::kRight}};
  Rows rows;
  for (const FlowGroup& group : result.groups) {
    if (group.count <= kMostFlowsListed) continue;
    std::vector<double> times, bounds;
    std::uint64_t received = 0;
    std::size_t failed = 0;
    for (std::size_t i = 0; i < group.count; ++i) {
      const FlowFigures& flow = result.flows[group.first + i];
      received += flow.received;
      failed += flow.failure.empty() ? 0 : 1;
      if (flow.completed) times.push_back(flow.completed->to_seconds());
      if (!flow.bound.is_infinite()) bounds.push_back(flow.bound.to_seconds());
    }
    rows.push_back({group.name, std::to_string(group.count), std::to_string(times.size()),
                    std::to_string(failed), fixed(mean(times), 3), fixed(percentile(times, 0.5), 3),
                    fixed(percentile(times, 0.99), 3), fixed(mean(bounds), 3),
                    human_bytes(received)});
  }
  return rows.empty() ? "" : ctl::format_table(columns, rows) + "\n";
}

std::string link_table(const RunResult& result) {
  const std::vector<ctl::Column> columns = {{"link"},
                                            {"offered", Align::kRight},
                                            {"delivered", Align::kRight},
                                            {"lost", Align::kRight},
                                            {"loss", Align::kRight},
                                            {"outage", Align::kRight},
                                            {"queue full", Align::kRight},
                                            {"corrupted", Align::kRight},
                                            {"reordered", Align::kRight},
                                            {"duplicated", Align::kRight},
                                            {"queue max", Align::kRight}};
  Rows rows;
  const double time = result.virtual_time.to_seconds();
  for (const sim::Side side : {sim::Side::kA, sim::Side::kB}) {
    const DirectionFigures& figures = result.link[static_cast<std::size_t>(side)];
    const link::DirectionCounters& c = figures.counters;
    const auto per_second = [&](std::uint64_t bytes) {
      return rate(time > 0 ? static_cast<double>(bytes) * 8 / time : 0);
    };
    rows.push_back({way(side), per_second(c.bytes_in), per_second(c.bytes_out),
                    std::to_string(c.dropped_loss), share_of(c.dropped_loss, c.frames_in),
                    std::to_string(c.dropped_outage),
                    std::to_string(c.dropped_queue + c.dropped_memory), std::to_string(c.corrupted),
                    std::to_string(c.reordered), std::to_string(c.duplicated),
                    fixed(figures.queue_peak.to_seconds() * 1e3, 1) + " ms"});
  }
  return ctl::format_table(columns, rows) + "\n";
}

std::string gateway_table(const RunResult& result) {
  const std::vector<ctl::Column> columns = {{"gateway"},
                                            {"packets out", Align::kRight},
                                            {"lost", Align::kRight},
                                            {"spurious", Align::kRight},
                                            {"retransmitted", Align::kRight},
                                            {"repair", Align::kRight},
                                            {"used", Align::kRight},
                                            {"probes", Align::kRight},
                                            {"reports out", Align::kRight},
                                            {"rtt", Align::kRight},
                                            {"arena peak", Align::kRight},
                                            {"of", Align::kRight}};
  Rows rows;
  for (const sim::Side side : {sim::Side::kA, sim::Side::kB}) {
    const auto index = static_cast<std::size_t>(side);
    if (!result.has_gateway[index]) continue;
    const sim::GatewaySample& gateway = result.gateway(side);
    const stp::Counters& c = gateway.stp;
    rows.push_back({side == sim::Side::kA ? "a" : "b", std::to_string(c.packets_out),
                    std::to_string(c.packets_lost), std::to_string(c.spurious_losses),
                    human_bytes(c.retransmitted_bytes), std::to_string(c.repair_packets_out),
                    std::to_string(result.gateway(sim::opposite(side)).stp.repair_used),
                    std::to_string(c.tail_probes), std::to_string(c.feedback_out),
                    fixed(gateway.rtt.to_seconds() * 1e3, 1) + " ms",
                    human_bytes(result.arena_peak[index]), human_bytes(result.arena_size[index])});
  }
  return rows.empty() ? "" : ctl::format_table(columns, rows) + "\n";
}

}  // namespace

std::string report_table(const RunResult& result) {
  std::string text = result.name + ", seed " + std::to_string(result.seed) + ": " +
                     fixed(result.virtual_time.to_seconds(), 3) + " s" +
                     (result.interrupted ? ", interrupted" : "") + "\n\n";
  text += flow_table(result) + group_table(result) + link_table(result) + gateway_table(result);
  const double speed =
      result.wall_seconds > 0 ? result.virtual_time.to_seconds() / result.wall_seconds : 0;
  text += "run: " + fixed(result.wall_seconds, 2) + " s (" + fixed(speed, 1) +
          " times real time), memory " + human_bytes(result.peak_memory) + "\n";
  return text;
}

}  // namespace satrelay::satlab
