// The format of a run's JSON, CSV and plot, after a short run.
#include "relay/satlab/output/report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "relay/satlab/losses.h"
#include "relay/satlab/output/plot.h"
#include "relay/satlab/scenario_file.h"

namespace satrelay::satlab::report_test {
namespace {

const RunResult& short_run() {
  static const RunResult result = run_experiment(
      parse_scenario("link: {both: {rate: 10Mbit, delay: 50ms, loss: 1%}}\n"
                     "flows: [{name: 'up \"quoted\"', client: a, upload: 500kB, download: 100kB}]\n"
                     "duration: 5s\n"
                     "sampling: 100ms\n",
                     "short.yaml"));
  return result;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(Report, FlowsAreMeasuredAtTheirReceivers) {
  const RunResult& result = short_run();
  ASSERT_EQ(result.flows.size(), 2U);
  for (const FlowFigures& flow : result.flows) {
    EXPECT_EQ(flow.received, flow.bytes);
    EXPECT_EQ(flow.failure, "");
    ASSERT_TRUE(flow.completed.has_value());
    // The bound assumes the mean loss. A short run may lose a little less.
    EXPECT_GT(flow.bound_share, 0.4);
    EXPECT_LT(flow.bound_share, 1.02);
  }
  EXPECT_FALSE(result.failed());
  EXPECT_LT(result.virtual_time, Duration::seconds(2));
}

TEST(Report, JsonNamesEveryFigureOnce) {
  const nlohmann::ordered_json json = report_json(short_run());
  EXPECT_EQ(json["scenario"], "short");
  EXPECT_EQ(json["seed"], "1");
  EXPECT_EQ(json["interrupted"], false);
  EXPECT_EQ(json["congestion"], "cubic");
  ASSERT_EQ(json["flows"].size(), 2U);
  EXPECT_EQ(json["flows"][0]["from"], "a");
  EXPECT_EQ(json["flows"][0]["received"], 500'000);
  EXPECT_EQ(json["flows"][1]["from"], "b");
  EXPECT_TRUE(json["flows"][0]["failure"].is_null());
  EXPECT_GT(json["link"]["a_to_b"]["frames_offered"], 340);
  EXPECT_GT(json["gateways"]["a"]["packets_lost"], 0);
  EXPECT_GT(json["run"]["peak_memory_bytes"], 1'000'000);
}

TEST(Report, CsvHasALineASampleAndAsManyFieldsInEach) {
  const std::vector<std::string> lines = lines_of(report_csv(short_run()));
  ASSERT_EQ(lines.size(), short_run().series.size());
  EXPECT_TRUE(lines[0].starts_with("time_s,a_to_b_offered_bps,")) << lines[0];
  EXPECT_TRUE(lines[0].ends_with("\"up \"\"quoted\"\" a>b bps\",\"up \"\"quoted\"\" b>a bps\""))
      << lines[0];
  const auto fields = std::ranges::count(lines[0], ',');
  for (const std::string& line : lines) EXPECT_EQ(std::ranges::count(line, ','), fields) << line;
  EXPECT_TRUE(lines[1].starts_with("0.1,")) << lines[1];
}

// The link drops frames only because they are too long for it.
TEST(Report, AFrameIsLostWhateverDropsIt) {
  const RunResult result =
      run_experiment(parse_scenario("gateways: {present: no}\n"
                                    "link: {both: {rate: 10Mbit, delay: 20ms, mtu: 1300}}\n"
                                    "flows: [{name: up, client: a, upload: 500kB}]\n"
                                    "duration: 5s\n"
                                    "sampling: 100ms\n",
                                    "narrow.yaml"));
  const link::DirectionCounters& counters = result.link[0].counters;
  ASSERT_GT(counters.dropped_mtu, 0U);
  EXPECT_EQ(lost_frames(counters), counters.dropped_mtu);
  const nlohmann::ordered_json link = report_json(result)["link"]["a_to_b"];
  EXPECT_EQ(link["too_long"], counters.dropped_mtu);
  EXPECT_EQ(link["frames_offered"], counters.frames_out + counters.dropped_mtu);
  // A line of the plot's data: time, link, hosts, queue, and the loss of both directions in per
  // cent.
  double most = 0;
  for (const std::string& line : lines_of(plot_script(result, "svg", "x.svg"))) {
    std::istringstream words(line);
    const std::vector<double> values{std::istream_iterator<double>(words), {}};
    if (values.size() == 11) most = std::max(most, values[7]);
  }
  EXPECT_EQ(most, 100);
}

std::size_t count_of(const std::string& part, const std::string& text) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++count;
  return count;
}

// Without gateways nothing is retransmitted over STP, so that panel is left out.
TEST(Report, APlotWithoutGatewaysHasNoPanelOfTheirs) {
  RunResult result = short_run();
  result.has_gateway = {};
  const std::string script = plot_script(result, "svg", "x.svg");
  EXPECT_NE(script.find("layout 3,1 "), std::string::npos);
  EXPECT_EQ(count_of("\nplot ", script), 3U);
  EXPECT_EQ(script.find("retransmitted"), std::string::npos);
  // The time axis has its label below the last panel.
  EXPECT_EQ(count_of("set xlabel", script), 1U);
  EXPECT_GT(script.find("set xlabel"), script.find("'queue, ms'"));
}

TEST(Report, TableNamesFlowsLinkAndGateways) {
  const std::string table = report_table(short_run());
  for (const char* part :
       {"short, seed 1, hosts use cubic", "a>b", "complete", "retransmitted", "arena peak"}) {
    EXPECT_NE(table.find(part), std::string::npos) << part;
  }
}

TEST(Report, PlotScriptHasFourPanelsAndEscapesNames) {
  RunResult result = short_run();
  result.name = "it's";
  const std::string script = plot_script(result, "svg", "/tmp/o'ut.svg");
  EXPECT_NE(script.find("layout 4,1 title 'it''s, seed 1, hosts use cubic'"), std::string::npos);
  EXPECT_NE(script.find("set output '/tmp/o''ut.svg'"), std::string::npos);
  EXPECT_EQ(count_of("\nplot ", script), 4U);
}

TEST(Report, PlotsAreSvgOrPng) {
  EXPECT_TRUE(plot_terminal("a.svg").starts_with("svg"));
  EXPECT_TRUE(plot_terminal("b/a.png").starts_with("png"));
  EXPECT_THROW(plot_terminal("a.pdf"), std::runtime_error);
}

class Stopper final : public Observer {
 public:
  bool on_progress(Duration at, Duration) override { return at < Duration::milliseconds(300); }
};

TEST(Run, EndsWhereTheObserverSaysAndKeepsWhatWasMeasured) {
  Stopper stopper;
  const RunResult result =
      run_experiment(parse_scenario("link: {both: {rate: 10Mbit, delay: 50ms}}\n"
                                    "flows: [{client: a, upload: unlimited}]\n",
                                    "stopped.yaml"),
                     &stopper);
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(result.virtual_time, Duration::milliseconds(300));
  EXPECT_GT(result.flows[0].received, 0U);
  EXPECT_FALSE(result.flows[0].completed.has_value());
}

TEST(Run, TheSameSeedGivesTheSameRun) {
  const std::string text =
      "link: {both: {rate: 10Mbit, delay: 50ms, loss: 2%}}\n"
      "flows: [{client: b, download: 300kB, count: 3, spacing: 10ms}]\n";
  const auto figures = [&](std::uint64_t seed) {
    nlohmann::ordered_json json = report_json(run_experiment(parse_scenario(text, "s.yaml", seed)));
    json.erase("run");
    return json.dump();
  };
  EXPECT_EQ(figures(7), figures(7));
  EXPECT_NE(figures(7), figures(8));
}

}  // namespace
}  // namespace satrelay::satlab::report_test
