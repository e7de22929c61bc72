#include <fmt/format.h>

#include <algorithm>

#include "relay/satlab/output/report.h"
#include "relay/satlab/statistics.h"
#include "relay/text/numbers.h"
#include "relay/text/table.h"

namespace satrelay::satlab {
namespace {

using text::Align;
using text::binary_bytes;
using text::bit_rate;
using text::fixed;
using Rows = std::vector<text::Row>;

// Groups of more flows than this are shown as a summary.
constexpr std::size_t kMostFlowsListed = 12;

std::string seconds_or_dash(Duration duration) {
  return duration.is_infinite() ? "-" : fixed(duration.to_seconds(), 3);
}

std::string share_of(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "-";
  return text::percent(static_cast<double>(part) / static_cast<double>(whole), 3);
}

const char* way(sim::Side from) { return from == sim::Side::kA ? "a>b" : "b>a"; }

std::string state(const FlowFigures& flow) {
  if (!flow.failure.empty()) return flow.failure;
  if (flow.completed) return "complete";
  return flow.received == 0 && !flow.first ? "nothing arrived" : "running";
}

text::Row flow_row(const FlowFigures& flow) {
  return {flow.name,
          way(flow.from),
          binary_bytes(flow.received),
          seconds_or_dash(flow.start),
          flow.first ? seconds_or_dash(*flow.first) : "-",
          flow.completed ? seconds_or_dash(*flow.completed) : "-",
          seconds_or_dash(flow.bound),
          bit_rate(flow.goodput),
          text::percent(flow.bound_share, 1),
          state(flow)};
}

std::string flow_table(const RunResult& result) {
  const std::vector<text::Column> columns = {{"flow"},
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
  return rows.empty() ? "" : text::format_table(columns, rows) + "\n";
}

std::string group_table(const RunResult& result) {
  const std::vector<text::Column> columns = {{"flows"},
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
    rows.push_back({group.name, text::plain(group.count), text::plain(times.size()),
                    text::plain(failed), fixed(mean(times), 3), fixed(percentile(times, 0.5), 3),
                    fixed(percentile(times, 0.99), 3), fixed(mean(bounds), 3),
                    binary_bytes(received)});
  }
  return rows.empty() ? "" : text::format_table(columns, rows) + "\n";
}

std::string link_table(const RunResult& result) {
  const std::vector<text::Column> columns = {{"link"},
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
      return bit_rate(time > 0 ? static_cast<double>(bytes) * 8 / time : 0);
    };
    rows.push_back({way(side), per_second(c.bytes_in), per_second(c.bytes_out),
                    text::plain(c.dropped_loss), share_of(c.dropped_loss, c.frames_in),
                    text::plain(c.dropped_outage), text::plain(c.dropped_queue + c.dropped_memory),
                    text::plain(c.corrupted), text::plain(c.reordered), text::plain(c.duplicated),
                    fixed(figures.queue_peak.to_seconds() * 1e3, 1) + " ms"});
  }
  return text::format_table(columns, rows) + "\n";
}

std::string gateway_table(const RunResult& result) {
  const std::vector<text::Column> columns = {{"gateway"},
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
    rows.push_back({side == sim::Side::kA ? "a" : "b", text::plain(c.packets_out),
                    text::plain(c.packets_lost), text::plain(c.spurious_losses),
                    binary_bytes(c.retransmitted_bytes), text::plain(c.repair_packets_out),
                    text::plain(result.gateway(sim::opposite(side)).stp.repair_used),
                    text::plain(c.tail_probes), text::plain(c.feedback_out),
                    fixed(gateway.rtt.to_seconds() * 1e3, 1) + " ms",
                    binary_bytes(result.arena_peak[index]),
                    binary_bytes(result.arena_size[index])});
  }
  return rows.empty() ? "" : text::format_table(columns, rows) + "\n";
}

}  // namespace

std::string report_table(const RunResult& result) {
  const double speed =
      result.wall_seconds > 0 ? result.virtual_time.to_seconds() / result.wall_seconds : 0;
  return fmt::format("{}, seed {}, hosts use {}: {:.3f} s{}\n\n", result.name, result.seed,
                     result.congestion, result.virtual_time.to_seconds(),
                     result.interrupted ? ", interrupted" : "") +
         flow_table(result) + group_table(result) + link_table(result) + gateway_table(result) +
         fmt::format("run: {:.2f} s ({:.1f} times real time), memory {}\n", result.wall_seconds,
                     speed, binary_bytes(result.peak_memory));
}

}  // namespace satrelay::satlab
