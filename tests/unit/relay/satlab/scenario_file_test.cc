// Defaults, every key, and every kind of mistake with its exact message, line and column.
#include "relay/satlab/scenario_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace satrelay::satlab::scenario_file_test {
namespace {

constexpr std::string_view kMinimal =
    "link: {both: {rate: 50Mbit, delay: 275ms}}\n"
    "flows: [{client: a, download: 20MB}]\n";

std::string error_of(const std::string& text) {
  try {
    parse_scenario(text, "s.yaml");
  } catch (const config::ConfigError& error) {
    return error.what();
  }
  return "no error";
}

std::string with(std::string_view from, std::string_view to) {
  std::string text(kMinimal);
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(ScenarioFile, Defaults) {
  const Experiment experiment = parse_scenario(std::string(kMinimal), "folder/s.yaml");
  const sim::Scenario& scenario = experiment.scenario;
  EXPECT_EQ(experiment.name, "s");
  EXPECT_EQ(scenario.seed, 1U);
  EXPECT_EQ(scenario.overhead, config::kOverheadEthernet);
  EXPECT_EQ(scenario.stp.mtu, 1500);
  EXPECT_EQ(scenario.a_to_b.rate, scenario.b_to_a.rate);
  EXPECT_EQ(experiment.duration, Duration::seconds(60));
  EXPECT_EQ(experiment.until, Until::kFlowsOver);
  ASSERT_EQ(scenario.flows.size(), 1U);
  EXPECT_EQ(scenario.flows[0].server_plan.send_bytes, 20'000'000U);
  EXPECT_EQ(scenario.flows[0].client_plan.send_bytes, 0U);
  EXPECT_EQ(scenario.flows[0].start, experiment.zero());
  EXPECT_EQ(scenario.stations[0].hosts.size(), 1U);
}

TEST(ScenarioFile, EveryKey) {
  const Experiment experiment = parse_scenario(
      "name: all\n"
      "seed: 5\n"
      "link:\n"
      "  a_to_b: {rate: 10Mbit, delay: 250ms, queue: 100kB, loss: 1%, jitter: 2ms, corrupt: 0.1%}\n"
      "  b_to_a:\n"
      "    rate: 50kbit\n"
      "    delay: 300ms\n"
      "    gilbert_elliott: {good_to_bad: 0.1%, bad_to_good: 10%}\n"
      "    reorder: 5%\n"
      "    reorder_by: 8ms\n"
      "    duplicate: 0.2%\n"
      "  changes:\n"
      "    - {at: 5s, direction: a_to_b, announced: yes, rate: [5Mbit, 10Mbit], every: 10s, until: "
      "30s}\n"
      "    - {at: 1s, outage: 100ms, delay: 40ms}\n"
      "    - {at: 2s, direction: b_to_a, loss: 5%}\n"
      "overhead: 24\n"
      "mtu: 1400\n"
      "gateways:\n"
      "  stp: {feedback: {mode: m-nack, budget: 5kbit}}\n"
      "  classes: {gold: {weight: 3, maximum: 20kbit}}\n"
      "  rules: [{action: accelerate, compress: off, class: gold}]\n"
      "  a: {limits: {memory: 32MiB}, tick: 1ms}\n"
      "hosts:\n"
      "  a: {count: 3, rate: 100Mbit, delay: 1ms, window: 1MiB, mss: 1000}\n"
      "flows:\n"
      "  - {name: web, client: a, client_host: 2, download: 100kB, count: 4, spacing: 250ms,\n"
      "     start: 1s, content: text}\n"
      "  - {client: b, server_host: 1, upload: unlimited, download: 1kB}\n"
      "duration: 40s\n"
      "until: duration\n"
      "sampling: 50ms\n",
      "s.yaml");
  const sim::Scenario& scenario = experiment.scenario;
  EXPECT_EQ(experiment.name, "all");
  EXPECT_EQ(scenario.seed, 5U);
  EXPECT_DOUBLE_EQ(scenario.a_to_b.corrupt, 0.001);
  EXPECT_EQ(scenario.b_to_a.rate, BitRate::bits_per_second(50'000));
  ASSERT_TRUE(scenario.b_to_a.gilbert_elliott.has_value());
  ASSERT_EQ(experiment.changes.size(), 6U);
  EXPECT_EQ(experiment.changes[0].at, Duration::seconds(1));
  EXPECT_EQ(experiment.changes[0].outage, true);
  EXPECT_EQ(experiment.changes[0].delay, Duration::milliseconds(40));
  EXPECT_EQ(experiment.changes[1].at, Duration::milliseconds(1'100));
  EXPECT_EQ(experiment.changes[1].outage, false);
  EXPECT_EQ(experiment.changes[2].loss, 0.05);
  EXPECT_EQ(experiment.changes[3].rate, BitRate::bits_per_second(5'000'000));
  EXPECT_EQ(experiment.changes[4].at, Duration::seconds(15));
  EXPECT_EQ(experiment.changes[4].rate, BitRate::bits_per_second(10'000'000));
  EXPECT_EQ(experiment.changes[5].at, Duration::seconds(25));
  EXPECT_EQ(experiment.changes[5].ways, Ways::kAToB);
  EXPECT_EQ(experiment.changes[5].announced, Announced::kYes);
  EXPECT_EQ(scenario.overhead, 24U);
  EXPECT_EQ(scenario.stp.mtu, 1400);
  EXPECT_EQ(scenario.stp.feedback.budget, BitRate::bits_per_second(5'000));
  EXPECT_EQ(scenario.rules.at(0).compress, config::Compress::kOff);
  EXPECT_EQ(scenario.rules.at(0).traffic_class, "gold");
  EXPECT_EQ(scenario.classes.at(0).maximum, BitRate::bits_per_second(20'000));
  EXPECT_EQ(scenario.stations[0].limits.memory, ByteCount(32 << 20));
  EXPECT_EQ(scenario.stations[0].tick, Duration::milliseconds(1));
  EXPECT_EQ(scenario.stations[1].limits.memory, ByteCount(0));
  ASSERT_EQ(scenario.stations[0].hosts.size(), 3U);
  EXPECT_EQ(scenario.stations[0].hosts[0].tcp.mss, 1000);
  EXPECT_EQ(scenario.stations[0].cable.delay, Duration::milliseconds(1));
  EXPECT_EQ(scenario.stations[1].hosts[0].tcp.mss, 1360);
  ASSERT_EQ(scenario.flows.size(), 5U);
  EXPECT_EQ(scenario.flows[3].start, experiment.zero() + Duration::milliseconds(1'750));
  EXPECT_EQ(scenario.flows[3].client_host, 2U);
  EXPECT_EQ(scenario.flows[4].client_side, sim::Side::kB);
  EXPECT_EQ(scenario.flows[4].server_host, 1U);
  EXPECT_EQ(scenario.flows[4].client_plan.send_bytes, kUnlimited);
  EXPECT_EQ(experiment.groups.at(1).name, "flow 2");
  EXPECT_EQ(experiment.groups.at(1).first, 4U);
}

// A queue given as a time becomes a size at the configured rate of its direction. Later changes of
// the rate do not matter.
TEST(ScenarioFile, AQueueMayBeATimeAtTheLinksRate) {
  const auto link = [](const std::string& text) {
    return parse_scenario("link: {" + text + "}\nflows: [{client: a, download: 20MB}]\n", "s.yaml")
        .scenario;
  };
  const sim::Scenario both =
      link("both: {rate: 50Mbit, queue: 200ms}, changes: [{at: 1s, rate: 5Mbit}]");
  EXPECT_EQ(both.a_to_b.queue, ByteCount(1'250'000));
  EXPECT_EQ(both.b_to_a.queue, ByteCount(1'250'000));
  const sim::Scenario each =
      link("a_to_b: {queue: 1.5 s, rate: 10Mbit}, b_to_a: {rate: 1Mbit, queue: 50ms}");
  EXPECT_EQ(each.a_to_b.queue, ByteCount(1'875'000));
  EXPECT_EQ(each.b_to_a.queue, ByteCount(6'250));
  EXPECT_EQ(link("both: {rate: 50Mbit, queue: 625kB}").a_to_b.queue, ByteCount(625'000));
}

TEST(ScenarioFile, AQueueThatCannotBeIsToldAtItsPlace) {
  const auto error = [](const std::string& rate, const std::string& queue) {
    return error_of("link: {both: {rate: " + rate + ", queue: " + queue +
                    "}}\nflows: [{client: a, download: 20MB}]\n");
  };
  const std::string place = "s.yaml:1:36: link.both.queue: ";
  EXPECT_EQ(error("50Mbit", "200"),
            place + "\"200\" is neither a size nor a time; write one, like 625kB or 100ms");
  EXPECT_EQ(error("50Mbit", "-1ms"),
            place + "\"-1ms\" is neither a size nor a time; write one, like 625kB or 100ms");
  EXPECT_EQ(error("50Mbit", "0ms"), place + "\"0ms\" is out of range; allowed: 1us to 1h");
  EXPECT_EQ(error("50Mbit", "61min"), place + "\"61min\" is out of range; allowed: 1us to 1h");
  EXPECT_EQ(error("50Mbit", "100us"), place + "\"100us\" at 50Mbit is 625B; allowed: 2kB to 16GiB");
  EXPECT_EQ(error("99Gbit", "10s"), place + "\"10s\" at 99Gbit is 123750MB; allowed: 2kB to 16GiB");
  EXPECT_EQ(error("50Mbit", "1kB"), place + "\"1kB\" is out of range; allowed: 2kB to 16GiB");
}

TEST(ScenarioFile, HostsUseCubicUnlessTheScenarioSaysOtherwise) {
  const auto congestion = [](const std::string& hosts) {
    return congestion_of(parse_scenario(std::string(kMinimal) + hosts, "s.yaml").scenario);
  };
  EXPECT_EQ(congestion(""), "cubic");
  EXPECT_EQ(congestion("hosts: {both: {congestion: newreno}}\n"), "newreno");
  EXPECT_EQ(congestion("hosts: {a: {congestion: newreno}}\n"), "newreno at a, cubic at b");
  EXPECT_EQ(congestion("hosts: {a: {congestion: cubic}, b: {count: 2}}\n"), "cubic");
}

TEST(ScenarioFile, GatewaysTakeTheirController) {
  EXPECT_EQ(parse_scenario(std::string(kMinimal), "s.yaml").scenario.control.controller,
            config::Controller::kFixedRate);
  const Experiment experiment =
      parse_scenario(std::string(kMinimal) +
                         "gateways: {controller: stp, initial_window: 4, threshold: 60, growth: 8, "
                         "avoidance_growth: 2, buffer: 1MiB}\n",
                     "s.yaml");
  const config::RateControl& control = experiment.scenario.control;
  EXPECT_EQ(control.controller, config::Controller::kStp);
  EXPECT_EQ(control.initial_window, 4U);
  EXPECT_EQ(control.threshold, 60U);
  EXPECT_EQ(control.growth, 8U);
  EXPECT_EQ(control.avoidance_growth, 2U);
  EXPECT_EQ(control.buffer, ByteCount(1 << 20));
}

TEST(ScenarioFile, TheSeedOfTheCommandLineWins) {
  EXPECT_EQ(parse_scenario("seed: 3\n" + std::string(kMinimal), "s.yaml", 9).scenario.seed, 9U);
}

struct Mistake {
  std::string_view from;
  std::string_view to;
  std::string_view message;
};

TEST(ScenarioFile, MistakesAreToldWithTheirPlace) {
  const Mistake mistakes[] = {
      {"link:", "lnk:",
       "s.yaml:1:1: lnk: unknown key; did you mean link? allowed here: name, seed, "
       "link, overhead, mtu, gateways, hosts, flows, duration, until, sampling"},
      {"50Mbit", "50Mb",
       "s.yaml:1:21: link.both.rate: \"50Mb\" is not a rate; write a number with "
       "bit, kbit, Mbit or Gbit, like 50Mbit"},
      {"50Mbit", "unlimited",
       "s.yaml:1:21: link.both.rate: is unlimited; the gateways need to know the rate: write one"},
      {"275ms", "275",
       "s.yaml:1:36: link.both.delay: \"275\" is not a time; write a number with ns, "
       "us, ms, s, min or h, like 550ms"},
      {"both", "a_to_b",
       "s.yaml:1:7: link.b_to_a: is missing; write both: {...}, or a_to_b: {...} "
       "and b_to_a: {...}"},
      {"client: a, ", "",
       "s.yaml:2:9: flows[0].client: is missing; write a or b, the station whose "
       "host opens the connection"},
      {"client: a", "client: c",
       "s.yaml:2:18: flows[0].client: \"c\" is not known here; allowed: a, "
       "b"},
      {"download: 20MB", "download: 0B",
       "s.yaml:2:9: flows[0]: moves no bytes; write upload: SIZE (client to server) or download: "
       "SIZE"},
      {"20MB", "20M",
       "s.yaml:2:31: flows[0].download: \"20M\" is not a size; write a number with B, "
       "kB, MB, GB, KiB, MiB or GiB, like 64MiB"},
      {"20MB", "20MB, start: 60s",
       "s.yaml:2:9: flows[0]: begins its last flow at 60s, not within duration 60s; raise "
       "duration"},
      {"20MB", "20MB, spacing: 1s",
       "s.yaml:2:46: flows[0].spacing: has no effect with one flow; write count too"},
      {"20MB", "20MB, client_host: 1",
       "s.yaml:2:50: flows[0].client_host: station a has hosts 0 to 0; write one of them, or raise "
       "hosts"},
      {"[{client: a, download: 20MB}]", "[]",
       "s.yaml:2:8: flows: is empty; describe at least one "
       "flow"},
      {"}}\n", "}, changes: [{at: 1s}]}\n",
       "s.yaml:1:54: link.changes[0]: changes nothing; write rate, delay, loss or outage"},
      {"}}\n", "}, changes: [{at: 61s, loss: 1%}]}\n",
       "s.yaml:1:59: link.changes[0].at: \"61s\" is not within duration 60s; write an earlier "
       "time, "
       "or raise duration"},
      {"}}\n", "}, changes: [{at: 1s, direction: a_to_b, outage: 1s}]}\n",
       "s.yaml:1:90: link.changes[0].outage: contradicts direction: an outage takes both; remove "
       "direction"},
      {"}}\n", "}, changes: [{at: 1s, loss: 1%, until: 5s}]}\n",
       "s.yaml:1:80: link.changes[0].until: has no effect without every; write how often"},
      {"}}\n", "}, changes: [{at: 1s, rate: [5Mbit, 51Mbit], announced: yes}]}\n",
       "s.yaml:1:97: link.changes[0].announced: is a rate above the link's own 50Mbit, which no "
       "gateway obeys; write a lower one, or a faster link"},
      {"}}\n", "}, changes: [{at: 1s, loss: 1%, announced: yes}]}\n",
       "s.yaml:1:84: link.changes[0].announced: has no effect without rate; write the new rate"},
      {"}}\n", "}}\ngateways: {stp: {mtu: 1501}}\n",
       "s.yaml:2:23: gateways.stp.mtu: 1501 exceeds the scenario's mtu 1500; write at most that"},
      {"}}\n", "}}\nmtu: 1400\ngateways: {stp: {mtu: 1500}}\n",
       "s.yaml:3:23: gateways.stp.mtu: 1500 exceeds the scenario's mtu 1400; write at most that"},
      {"}}\n", "}}\ngateways: {controller: fast}\n",
       "s.yaml:2:24: gateways.controller: \"fast\" is not known here; allowed: fixed_rate, hpfp, "
       "tps, stp"},
      {"}}\n", "}}\ngateways: {controller: tps, target: 20Mbit}\n",
       "s.yaml:2:37: gateways.target: is a parameter of controller hpfp, but this link's is tps; "
       "remove it"},
      {"}}\n", "}}\ngateways: {controller: hpfp, target: 60Mbit}\n",
       "s.yaml:2:38: gateways.target: 60Mbit exceeds the link's rate 50Mbit; write at most that"},
      {"}}\n", "}}\ngateways: {stp: {suspect_after: 1s}}\n",
       "s.yaml:2:33: gateways.stp.suspect_after: 1s is not longer than ping_after 1s, so an idle "
       "peer "
       "would always be suspect; write more"},
      {"}}\n", "}}\ngateways: {limits: {memory: 8MiB}, a: {limits: {memory: 8MiB}}}\n",
       "s.yaml:2:48: gateways.a.limits: contradicts gateways.limits; write one of the two"},
      {"}}\n", "}}\nhosts: {both: {count: 1}, a: {count: 2}}\n",
       "s.yaml:2:30: hosts.a: contradicts both; write both, or a and b"},
      {"}}\n", "}}\nhosts: {a: {mss: 1480}}\n",
       "s.yaml:2:18: hosts.a.mss: exceeds mtu 1500 less 40; write at most 1460"},
      {"}}\n", "}}\nhosts: {a: {congestion: reno}}\n",
       "s.yaml:2:25: hosts.a.congestion: \"reno\" is not known here; allowed: cubic, newreno"},
      {"}}\n", "}}\nduration: 1h\nsampling: 1ms\n",
       "s.yaml:3:11: sampling: makes more than 100000 samples of duration 1h; write a longer one"},
      {"}}\n", "}}\nmtu: 100\n",
       "s.yaml:2:6: mtu: \"100\" is out of range; write a whole number from 576 to 9000"},
  };
  for (const Mistake& mistake : mistakes) {
    EXPECT_EQ(error_of(with(mistake.from, mistake.to)), mistake.message);
  }
}

TEST(ScenarioFile, FindsItsTracesBesideItself) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("satlab-scenario-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  const auto write = [&](const char* name, const char* text) {
    std::ofstream(folder / name) << text;
    return folder / name;
  };
  write("loss", "10\n");
  write("delay", "1s 30ms\n2s 20ms\n900s 1ms\n");
  const std::filesystem::path file = write("s.yaml",
                                           "link:\n"
                                           "  both: {rate: 50Mbit, delay: 275ms}\n"
                                           "  discipline: priority\n"
                                           "  traces: {a_to_b: {loss: loss, delay: delay}}\n"
                                           "flows: [{client: a, download: 20MB}]\n");
  const Experiment experiment = load_scenario(file);
  std::filesystem::remove_all(folder);
  ASSERT_TRUE(experiment.scenario.a_to_b.loss_trace);
  EXPECT_EQ(experiment.scenario.a_to_b.loss_trace->lost, (std::vector<std::uint64_t>{10}));
  EXPECT_FALSE(experiment.scenario.b_to_a.loss_trace);
  EXPECT_EQ(experiment.scenario.b_to_a.discipline, config::QueueDiscipline::kPriority);
  ASSERT_EQ(experiment.changes.size(), 2U);  // the third is later than the run
  EXPECT_EQ(experiment.changes[1].at, Duration::seconds(2));
  EXPECT_EQ(experiment.changes[1].delay, Duration::milliseconds(20));
  EXPECT_EQ(experiment.changes[1].ways, Ways::kAToB);
}

TEST(ScenarioFile, EverySampleLoads) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(SATLAB_SAMPLES)) {
    SCOPED_TRACE(entry.path());
    if (entry.path().extension() != ".yaml") continue;
    EXPECT_NO_THROW(load_scenario(entry.path()));
    ++count;
  }
  EXPECT_GE(count, 5);
}

TEST(ScenarioFile, AFileThatIsNotThereIsAnErrorOfTheConfiguration) {
  EXPECT_THROW(load_scenario("/nonexistent/s.yaml"), config::ConfigError);
}

}  // namespace
}  // namespace satrelay::satlab::scenario_file_test
