#include "relay/satlab/losses.h"
#include "relay/satlab/output/report.h"
#include "relay/text/numbers.h"

namespace satrelay::satlab {
namespace {

using text::plain;
using text::significant;

// Returns the mean rate between two samples, in bits a second.
std::string mean_rate(std::uint64_t now, std::uint64_t before, double seconds) {
  return significant(seconds > 0 ? static_cast<double>(now - before) * 8 / seconds : 0);
}

const link::DirectionCounters& counters(const Sample& sample, std::size_t side) {
  return sample.network.links[side].counters;
}

const sim::GatewaySample& gateway(const Sample& sample, std::size_t side) {
  return sample.network.gateways[side];
}

std::string csv_quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? "\"\"" : std::string(1, c);
  return result + "\"";
}

// The two samples that bound the interval of a row, and the sample at the run's zero.
struct Interval {
  const Sample& zero;
  const Sample& before;
  const Sample& now;
  double seconds() const { return (now.at - before.at).to_seconds(); }
};

template <typename Struct>
std::string rate_of(const Interval& interval, const Struct& before, const Struct& now,
                    std::uint64_t Struct::*bytes) {
  return mean_rate(now.*bytes, before.*bytes, interval.seconds());
}

using Cell = std::string (*)(const Interval& interval, std::size_t side);
struct CsvColumn {
  const char* name;
  Cell cell;
};

constexpr CsvColumn kLinkColumns[] = {
    {"offered_bps",
     [](const Interval& interval, std::size_t side) {
       return rate_of(interval, counters(interval.before, side), counters(interval.now, side),
                      &link::DirectionCounters::bytes_in);
     }},
    {"delivered_bps",
     [](const Interval& interval, std::size_t side) {
       return rate_of(interval, counters(interval.before, side), counters(interval.now, side),
                      &link::DirectionCounters::bytes_out);
     }},
    {"queue_ms",
     [](const Interval& interval, std::size_t side) {
       return significant(interval.now.network.links[side].queue_peak.to_seconds() * 1e3);
     }},
    {"lost_frames",
     [](const Interval& interval, std::size_t side) {
       return plain(lost_frames(counters(interval.now, side)) -
                    lost_frames(counters(interval.zero, side)));
     }},
};

constexpr CsvColumn kGatewayColumns[] = {
    {"received_bps",
     [](const Interval& interval, std::size_t side) {
       return mean_rate(interval.now.host_received[side], interval.before.host_received[side],
                        interval.seconds());
     }},
    {"stored_bps",
     [](const Interval& interval, std::size_t side) {
       return rate_of(interval, gateway(interval.before, side).stp, gateway(interval.now, side).stp,
                      &stp::Counters::stream_bytes_in);
     }},
    {"retransmitted_bytes",
     [](const Interval& interval, std::size_t side) {
       return plain(gateway(interval.now, side).stp.retransmitted_bytes);
     }},
    {"spurious",
     [](const Interval& interval, std::size_t side) {
       return plain(gateway(interval.now, side).stp.spurious_losses);
     }},
    {"arena_bytes", [](const Interval& interval,
                       std::size_t side) { return plain(gateway(interval.now, side).arena_used); }},
};

std::string header(const RunResult& result) {
  std::string line = "time_s";
  for (const char* way : {"a_to_b", "b_to_a"}) {
    for (const CsvColumn& column : kLinkColumns) line += std::string(",") + way + "_" + column.name;
  }
  for (const char* station : {"a", "b"}) {
    for (const CsvColumn& column : kGatewayColumns) {
      line += std::string(",") + station + "_" + column.name;
    }
  }
  if (!result.series.empty() && !result.series.back().network.flows.empty()) {
    for (const FlowFigures& flow : result.flows) {
      const char* way = flow.from == sim::Side::kA ? " a>b" : " b>a";
      line += "," + csv_quoted(flow.name + way + " bps");
    }
  }
  return line + "\n";
}

std::uint64_t received_of(const FlowFigures& flow, const Sample& sample) {
  const sim::FlowSample& at_ends = sample.network.flows[flow.flow];
  return flow.from == at_ends.client_side ? at_ends.server_received : at_ends.client_received;
}

std::string row(const RunResult& result, const Interval& interval) {
  std::string text = significant(interval.now.at.to_seconds());
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    for (const CsvColumn& column : kLinkColumns) text += "," + column.cell(interval, side);
  }
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    for (const CsvColumn& column : kGatewayColumns) text += "," + column.cell(interval, side);
  }
  if (!interval.now.network.flows.empty()) {
    for (const FlowFigures& flow : result.flows) {
      text += "," + mean_rate(received_of(flow, interval.now), received_of(flow, interval.before),
                              interval.seconds());
    }
  }
  return text + "\n";
}

}  // namespace

std::string report_csv(const RunResult& result) {
  std::string text = header(result);
  for (std::size_t i = 1; i < result.series.size(); ++i) {
    text += row(result, {result.series.front(), result.series[i - 1], result.series[i]});
  }
  return text;
}

}  // namespace satrelay::satlab
