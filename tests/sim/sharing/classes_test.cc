// Classes of traffic on a link, in virtual time: relayed connections and bridged packets together.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "relay/sim/network/network.h"
#include "relay/sim/scenarios/plans.h"
#include "relay/sim/scenarios/scenario.h"
#include "tests/sim/measurements.h"
#include "tests/sim/sharing/udp_traffic.h"

namespace satrelay::sim::classes_test {
namespace {

constexpr Instant kUdpStart = Instant::from_nanoseconds(8'000'000'000);
constexpr Duration kOneWay = Duration::milliseconds(275);
constexpr Duration kMeasured = Duration::seconds(8);
constexpr double kLoad = 0.995;  // Share of the link's rate that is used.
// Share of STP payload in the bytes that the link counts for a full packet.
constexpr double kPayload = 1'450.0 / 1'538;

constexpr BitRate mbit(double n) {
  return BitRate::bits_per_second(static_cast<std::uint64_t>(n * 1e6));
}

config::Rule tcp_rule(std::uint16_t port, const std::string& traffic_class) {
  config::Rule rule;
  rule.match.port = {{port, port}};
  rule.match.protocol = {config::kProtocolTcp};
  rule.compress = config::Compress::kOff;
  rule.traffic_class = traffic_class;
  return rule;
}

config::Rule udp_rule(std::uint16_t port, const std::string& traffic_class) {
  config::Rule rule;
  rule.match.port = {{port, port}};
  rule.match.protocol = {config::kProtocolUdp};
  rule.action = config::Action::kBridge;
  rule.traffic_class = traffic_class;
  return rule;
}

// A network, its UDP traffic, and the rates that arrive.
class Lab {
 public:
  explicit Lab(const Scenario& scenario)
      : scenario_(scenario), network_(scenario_, tracer_), traffic_(network_, kOneWay) {}

  Network& network() { return network_; }
  gateway::Gateway& gateway() { return network_.gateway(Side::kA).engine(); }
  const UdpResult& add_udp(const UdpPlan& plan) { return traffic_.add(plan); }
  void warm_up() { network_.loop().run_until(kUdpStart + Duration::seconds(1)); }
  // Mbit/s of payload to the servers, by flow.
  std::vector<double> relayed(Duration time = kMeasured) {
    std::vector<std::uint64_t> before;
    for (std::size_t i = 0; i < scenario_.flows.size(); ++i) before.push_back(received(i));
    network_.run_for(time);
    std::vector<double> rates;
    for (std::size_t i = 0; i < before.size(); ++i) {
      rates.push_back(static_cast<double>(received(i) - before[i]) * 8 / time.to_seconds() / 1e6);
    }
    return rates;
  }

 private:
  std::uint64_t received(std::size_t flow) { return network_.flow(flow).server.received; }

  Scenario scenario_;
  Tracer tracer_;
  Network network_;
  UdpTraffic traffic_;
};

FlowSpec& add_bulk(Scenario& scenario, std::uint16_t port, std::size_t host = 0) {
  FlowSpec& flow = add_flow(scenario, Side::kA, sender(1U << 30U), receiver());
  flow.server_port = port;
  flow.client_host = flow.server_host = host;
  return flow;
}

// The classes share 3:1 by weight. In the first class relayed and bridged bytes count alike.
TEST(Classes, RelayedAndBridgedTrafficOfAClassShareItsPart) {
  Scenario scenario = make_lab(41, {}, 2);
  scenario.classes = {{.name = "gold", .weight = 3}, {.name = "rest", .weight = 1}};
  scenario.rules = {udp_rule(5'001, "gold"), tcp_rule(81, "gold"), tcp_rule(80, "rest")};
  add_bulk(scenario, 80);
  add_bulk(scenario, 81);
  Lab lab(scenario);
  const UdpResult& udp =
      lab.add_udp({.bits_per_second = 60e6, .start = kUdpStart, .length = Duration::seconds(12)});
  lab.warm_up();
  const std::uint64_t before = udp.received;
  const std::vector<double> tcp = lab.relayed();
  const double udp_mbit =
      static_cast<double>(udp.received - before) * UdpTraffic::frame_bits(1'500) / 8e6;
  std::printf("  gold: TCP %.2f, UDP %.2f Mbit/s; rest: TCP %.2f Mbit/s\n", tcp[1], udp_mbit,
              tcp[0]);
  expect_documented("Classes", "weights 3 and 1", 1, {tcp[1], udp_mbit, tcp[0]});
  // The class has two hosts, one in each source, and each gets half.
  EXPECT_NEAR(tcp[0], 50 * kLoad / 4 * kPayload, 0.3);
  EXPECT_NEAR(tcp[1], 50 * kLoad * 3 / 8 * kPayload, 0.4);
  EXPECT_NEAR(udp_mbit, 50 * kLoad * 3 / 8, 0.4);
}

// One host has a connection and a flood of UDP, the other has a connection. All of it is in one
// class.
TEST(Classes, AHostThatSendsBothWaysHasOneTurn) {
  Scenario scenario = make_lab(49, {}, 2);
  scenario.classes = {{.name = "gold"}};
  scenario.rules = {udp_rule(5'001, "gold"), tcp_rule(80, "gold")};
  add_bulk(scenario, 80, 0);
  add_bulk(scenario, 80, 1);
  Lab lab(scenario);
  const UdpResult& udp = lab.add_udp(
      {.host = 0, .bits_per_second = 60e6, .start = kUdpStart, .length = Duration::seconds(12)});
  lab.warm_up();
  const std::uint64_t before = udp.received;
  const std::vector<double> tcp = lab.relayed();
  const double udp_mbit =
      static_cast<double>(udp.received - before) * UdpTraffic::frame_bits(1'500) / 8e6;
  std::printf("  one host: TCP %.2f, UDP %.2f Mbit/s; the other: TCP %.2f Mbit/s\n", tcp[0],
              udp_mbit, tcp[1]);
  expect_documented("Classes", "an upload and a flood of UDP of one host", 1,
                    {tcp[0], udp_mbit, tcp[1]});
  EXPECT_NEAR(tcp[1], 50 * kLoad / 2 * kPayload, 0.4);
  EXPECT_NEAR(tcp[0], 50 * kLoad / 4 * kPayload, 0.4);
  EXPECT_NEAR(udp_mbit, 50 * kLoad / 4, 0.4);
}

TEST(Classes, AHostGetsAsMuchAsAnotherHoweverManyConnectionsItHas) {
  Scenario scenario = make_lab(42, {}, 2);
  for (int i = 0; i < 9; ++i) add_bulk(scenario, 80, 0);
  add_bulk(scenario, 80, 1);
  Lab lab(scenario);
  lab.warm_up();
  const std::vector<double> tcp = lab.relayed();
  double many = 0;
  for (std::size_t i = 0; i < 9; ++i) {
    many += tcp[i];
    EXPECT_NEAR(tcp[i] / tcp[0], 1, 0.02) << i;
  }
  std::printf("  nine connections %.2f Mbit/s, one of another host %.2f\n", many, tcp[9]);
  expect_documented("Classes", "nine connections of one host", 1, {many, tcp[9]});
  EXPECT_NEAR(many / tcp[9], 1, 0.02);
}

// Hosts behind the peer may take the turns instead. One client has three flows to one server and
// one flow to another.
TEST(Classes, TheHostsMayBeThoseOfTheFarSide) {
  for (const auto fair : {config::FairHosts::kLocal, config::FairHosts::kRemote}) {
    Scenario scenario = make_lab(43, {}, 2);
    scenario.fair_hosts = fair;
    for (int i = 0; i < 4; ++i) add_bulk(scenario, 80, 0).server_host = i == 3 ? 1 : 0;
    Lab lab(scenario);
    lab.warm_up();
    const std::vector<double> tcp = lab.relayed();
    const double alone = fair == config::FairHosts::kRemote ? 3 : 1;
    EXPECT_NEAR(tcp[3] / tcp[0], alone, 0.05);
  }
}

TEST(Classes, AGuaranteeHoldsBesideAHeavierClass) {
  Scenario scenario = make_lab(44, {}, 2);
  scenario.classes = {{.name = "sure", .weight = 1, .guaranteed = mbit(10)},
                      {.name = "heavy", .weight = 99}};
  scenario.rules = {tcp_rule(81, "sure"), tcp_rule(80, "heavy")};
  add_bulk(scenario, 80);
  add_bulk(scenario, 81);
  Lab lab(scenario);
  lab.warm_up();
  const std::vector<double> tcp = lab.relayed();
  EXPECT_NEAR(tcp[1], (10 + (50 * kLoad - 10) / 100) * kPayload, 0.15);
  EXPECT_NEAR(tcp[0] + tcp[1], 50 * kLoad * kPayload, 0.6);
}

// The link has idle capacity, but neither kind of traffic may use it beyond the maximum.
TEST(Classes, AMaximumHoldsForRelayedAndBridgedTrafficTogether) {
  Scenario scenario = make_lab(45, {}, 2);
  scenario.classes = {{.name = "capped", .maximum = mbit(8)}};
  scenario.rules = {udp_rule(5'001, "capped"), tcp_rule(80, "capped")};
  add_bulk(scenario, 80);
  Lab lab(scenario);
  const UdpResult& udp =
      lab.add_udp({.bits_per_second = 2e6, .start = kUdpStart, .length = Duration::seconds(20)});
  lab.warm_up();
  const std::uint64_t before = udp.received;
  const std::vector<double> tcp = lab.relayed();
  const double udp_mbit =
      static_cast<double>(udp.received - before) * UdpTraffic::frame_bits(1'500) / 8e6;
  EXPECT_NEAR(tcp[0] / kPayload + udp_mbit, 8, 0.1);
  EXPECT_NEAR(udp_mbit, 2, 0.02);
  EXPECT_EQ(lab.network().counted(gateway::Counter::kDroppedBridgedQueue), 0U);
}

TEST(Classes, RatesChangeWhileTrafficGoesOn) {
  Scenario scenario = make_lab(46, {}, 2);
  scenario.classes = {{.name = "web"}, {.name = "backup", .maximum = mbit(5)}};
  scenario.rules = {tcp_rule(80, "web"), tcp_rule(873, "backup")};
  add_bulk(scenario, 80);
  add_bulk(scenario, 873);
  Lab lab(scenario);
  lab.warm_up();
  EXPECT_NEAR(lab.relayed()[1], 5 * kPayload, 0.1);
  using Result = gateway::Gateway::ClassResult;
  const auto set = [&](const char* name, const gateway::ClassChange& change) {
    const Result result = lab.gateway().set_class(name, change, lab.network().loop().now());
    lab.network().gateway(Side::kA).wake();
    lab.network().run_for(Duration::seconds(2));
    return result;
  };
  EXPECT_EQ(set("backup", {.maximum = mbit(12)}), Result::kSet);
  EXPECT_NEAR(lab.relayed()[1], 12 * kPayload, 0.2);
  EXPECT_EQ(set("backup", {.maximum = BitRate()}), Result::kSet);
  EXPECT_NEAR(lab.relayed()[1], 50 * kLoad / 2 * kPayload, 0.4);
  EXPECT_EQ(set("web", {.weight = 4}), Result::kSet);
  EXPECT_NEAR(lab.relayed()[1], 50 * kLoad / 5 * kPayload, 0.3);
  EXPECT_EQ(set("backup", {.guaranteed = mbit(20)}), Result::kSet);
  EXPECT_NEAR(lab.relayed()[1], (20 + (50 * kLoad - 20) / 5) * kPayload, 0.4);
  EXPECT_EQ(set("backup", {.as_configured = true}), Result::kSet);
  EXPECT_NEAR(lab.relayed()[1], 5 * kPayload, 0.1);
  EXPECT_EQ(set("nobody", {.weight = 2}), Result::kUnknownClass);
  EXPECT_EQ(set("relayed", {.weight = 2}), Result::kUnknownClass);
  EXPECT_EQ(set("backup", {.guaranteed = mbit(6)}), Result::kContradiction);
  EXPECT_EQ(set("web", {.guaranteed = mbit(44)}), Result::kAboveLink);
}

TEST(Classes, AConnectionWhoseClassIsNoMoreIsOneWithoutAClass) {
  Scenario scenario = make_lab(48, {}, 2);
  scenario.classes = {{.name = "web", .weight = 9}, {.name = "backup", .weight = 4}};
  scenario.rules = {tcp_rule(80, "web"), tcp_rule(873, "backup")};
  add_bulk(scenario, 80);
  add_bulk(scenario, 873);
  Lab lab(scenario);
  lab.warm_up();
  const std::vector<double> before = lab.relayed();
  EXPECT_NEAR(before[0] / before[1], 9.0 / 4, 0.1);
  config::Gateway next = lab.network().gateway_config(Side::kA);
  next.classes = {{.name = "backup", .weight = 4}};
  next.rules[0].traffic_class.clear();
  lab.gateway().reconfigure(next, lab.network().loop().now());
  lab.network().run_for(Duration::seconds(2));
  const std::vector<double> after = lab.relayed();
  EXPECT_NEAR(after[0] / after[1], 1.0 / 4, 0.05);
}

// A call of 50 packets a second, 200 bytes each. Beside it are four connections that take all they
// get, and a flood of UDP of another host. If the call has a class, its own host sends a flood,
// too.
void expect_speech_in_time(BitRate rate, const std::string& traffic_class, const std::string& row) {
  Scenario scenario = make_lab(47, {.rate = rate}, 3);
  if (!traffic_class.empty()) {
    scenario.classes = {{.name = "voice", .guaranteed = BitRate::bits_per_second(120'000)}};
    scenario.rules = {udp_rule(5'004, "voice"), {}};
  }
  for (int i = 0; i < 4; ++i) add_bulk(scenario, 80);
  Lab lab(scenario);
  const double link = static_cast<double>(rate.to_bits_per_second());
  const Duration length = Duration::seconds(20);
  lab.add_udp({.host = 2,
               .bits_per_second = link * 1.2,
               .port = 6'001,
               .start = kUdpStart,
               .length = length});
  if (!traffic_class.empty()) {
    lab.add_udp({.host = 1,
                 .bits_per_second = link * 0.5,
                 .port = 6'002,
                 .start = kUdpStart,
                 .length = length});
  }
  const UdpResult& speech = lab.add_udp({.host = 1,
                                         .bits_per_second = UdpTraffic::frame_bits(200) * 50,
                                         .ip_bytes = 200,
                                         .port = 5'004,
                                         .start = kUdpStart + Duration::seconds(2),
                                         .length = length - Duration::seconds(4)});
  lab.network().loop().run_until(kUdpStart + length + Duration::seconds(5));
  const Duration most = std::max(Duration::milliseconds(30),
                                 rate.time_for(ByteCount(4 * (1'500 + config::kOverheadEthernet))));
  std::printf("  %8.0f kbit/s, %s: waits at most %.1f ms (allowed %.1f), %llu of %llu lost\n",
              link / 1e3, traffic_class.empty() ? "no class" : "class voice",
              speech.longest_wait.to_seconds() * 1e3, most.to_seconds() * 1e3,
              static_cast<unsigned long long>(speech.sent - speech.received),
              static_cast<unsigned long long>(speech.sent));
  expect_documented("Classes", row, 1, {speech.longest_wait.to_seconds() * 1e3});
  expect_documented("Classes", row, 2, {most.to_seconds() * 1e3});
  EXPECT_LE(speech.longest_wait, most);
  EXPECT_EQ(speech.received, speech.sent);
}

TEST(Classes, SpeechInItsClassIsInTimeBesideAnything) {
  expect_speech_in_time(mbit(0.256), "voice", "256 kbit/s |");
  expect_speech_in_time(mbit(0.512), "voice", "512 kbit/s |");
  expect_speech_in_time(mbit(2), "voice", "2 Mbit/s |");
  expect_speech_in_time(mbit(10), "voice", "10 Mbit/s |");
  expect_speech_in_time(mbit(50), "voice", "50 Mbit/s |");
}

// A host that sends less than its part of the link needs no class.
TEST(Classes, SpeechWithoutAClassIsInTimeWhereBridgedShareIsWide) {
  expect_speech_in_time(mbit(10), "", "10 Mbit/s, without a class");
  expect_speech_in_time(mbit(50), "", "50 Mbit/s, the same");
}

}  // namespace
}  // namespace satrelay::sim::classes_test
