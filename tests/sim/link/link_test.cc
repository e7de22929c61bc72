// Rate and delay steps, traces and priorities of the simulated satellite link, seen through whole
// networks.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "pep/control/rate_controller.h"
#include "pep/wire/ethernet.h"
#include "pep/wire/ip.h"
#include "relay/sim/checks/checks.h"
#include "relay/sim/checks/recorder.h"
#include "relay/sim/network/network.h"
#include "relay/sim/scenarios/plans.h"
#include "relay/sim/scenarios/scenario.h"

namespace satrelay::sim::link_test {
namespace {

using control::Priority;

Instant at(std::int64_t milliseconds) { return Instant() + Duration::milliseconds(milliseconds); }

std::vector<std::byte> udp_of(Priority priority, const HostSpec& from, const HostSpec& to) {
  std::vector<std::byte> frame(1514);
  wire::EthernetHeader ethernet;
  ethernet.destination = to.addresses.mac;
  ethernet.source = from.addresses.mac;
  ethernet.type = wire::EtherType::kIpv4;
  wire::write_ethernet(ethernet, frame);
  wire::IpHeader ip;
  ip.source = from.addresses.v4;
  ip.destination = to.addresses.v4;
  ip.protocol = wire::kProtocolUdp;
  ip.traffic_class = static_cast<std::uint8_t>(control::dscp_of(priority) << 2);
  ip.payload_size = 1480;
  wire::write_ip(ip, MutableBytes(frame).subspan(ethernet.size()));
  return frame;
}

TEST(Link, PrioritiesAreReadFromTheCodePointOfFrames) {
  Scenario scenario = make_lab(1, {.rate = BitRate::bits_per_second(10'000'000)});
  scenario.gateways_present = false;
  scenario.a_to_b.discipline = config::QueueDiscipline::kPriority;
  scenario.a_to_b.queue = ByteCount(10 * 1538);
  Tracer tracer;
  Network network(scenario, tracer);
  SimHost& from = network.host(Side::kA, 0);
  SimHost& to = network.host(Side::kB, 0);
  std::vector<Priority> arrived;
  to.on_other_frame([&](ConstBytes frame) {
    const auto ip = wire::parse_ip(frame.subspan(14));
    arrived.push_back(control::priority_of(static_cast<std::uint8_t>(ip->traffic_class >> 2)));
  });
  // Eight frames of each class in turn, sent at a hundred times the link's rate.
  for (int i = 0; i < 8; ++i) {
    for (const Priority p :
         {Priority::kStartLow, Priority::kStartHigh, Priority::kLow, Priority::kHigh}) {
      from.send_raw(udp_of(p, from.spec(), to.spec()));
    }
  }
  network.run_for(Duration::seconds(1));
  // The first frame was being transmitted before any other arrived. Among the rest the highest
  // class is complete.
  EXPECT_EQ(std::ranges::count(arrived, Priority::kHigh), 8);
  EXPECT_EQ(std::ranges::count(arrived, Priority::kLow), 1);
  EXPECT_EQ(std::ranges::count(arrived, Priority::kStartHigh), 0);
  EXPECT_EQ(std::ranges::count(arrived, Priority::kStartLow), 1);
  const link::DirectionCounters c = network.satellite().from_a().counters();
  EXPECT_EQ(c.queue_full_high, 0U);
  EXPECT_EQ(c.queue_full_low, 7U);
  EXPECT_EQ(c.queue_full_start_high, 8U);
  EXPECT_EQ(c.queue_full_start_low, 7U);
}

TEST(Link, ADelayStepShowsInTheRoundTrip) {
  Scenario scenario = make_lab(2, {.one_way_delay = Duration::milliseconds(30)});
  for (config::LinkDirection* way : {&scenario.a_to_b, &scenario.b_to_a}) {
    way->delay_steps = {{Duration::seconds(7), Duration::milliseconds(12)}};
  }
  add_flow(scenario, Side::kA, requester(100), responder(100, 30'000'000));
  Tracer tracer;
  Network network(scenario, tracer);
  Recorder recorder(network, Duration::milliseconds(500));
  ASSERT_TRUE(network.run_until_flows_over(at(60'000)));
  for (const std::string& broken : check_flows(network)) ADD_FAILURE() << broken;
  const auto rtt = [&](std::size_t half_second) {
    return recorder.samples().at(half_second).gateway(Side::kB).rtt.to_milliseconds();
  };
  EXPECT_GE(rtt(13), 60);
  EXPECT_LT(rtt(13), 90);
  EXPECT_GE(rtt(17), 24);
  EXPECT_LT(rtt(17), 54);
}

TEST(Link, ARateStepDownFillsTheQueueAndIsCounted) {
  Scenario scenario = make_lab(3, {});
  scenario.b_to_a.rate_steps = {{Duration::seconds(7), BitRate::bits_per_second(5'000'000)},
                                {Duration::seconds(9), BitRate::bits_per_second(50'000'000)}};
  scenario.b_to_a.queue = ByteCount(625'000);
  add_flow(scenario, Side::kA, requester(100), responder(100, 20'000'000));
  Tracer tracer;
  Network network(scenario, tracer);
  Recorder recorder(network, Duration::milliseconds(100));
  ASSERT_TRUE(network.run_until_flows_over(at(120'000)));
  for (const std::string& broken : check_flows(network)) ADD_FAILURE() << broken;
  const auto carried = [&](std::size_t from, std::size_t to) {
    return recorder.samples().at(to).link_from(Side::kB).counters.bytes_carried -
           recorder.samples().at(from).link_from(Side::kB).counters.bytes_carried;
  };
  // Full to within a packet, until the sender can know about the step and slow down.
  EXPECT_NEAR(static_cast<double>(carried(71, 75)), 0.4 * 5e6 / 8, 1538);
  EXPECT_GT(carried(65, 69), 2'400'000U);
  EXPECT_GT(recorder.samples().at(75).link_from(Side::kB).counters.dropped_queue, 0U);
  EXPECT_GT(recorder.samples().at(72).link_from(Side::kB).queue_delay, Duration::milliseconds(500));
}

TEST(Link, ATraceAndAnOutageLoseWhatTheySay) {
  Scenario scenario = make_lab(4, {});
  scenario.b_to_a.loss_trace = config::LossTrace{.lost = {5, 50, 51, 99}, .period = 100};
  scenario.b_to_a.outages = {{Duration::milliseconds(6'000), Duration::milliseconds(100)}};
  add_flow(scenario, Side::kA, requester(100), responder(100, 6'000'000));
  Tracer tracer;
  Network network(scenario, tracer);
  ASSERT_TRUE(network.run_until_flows_over(at(60'000)));
  for (const std::string& broken : check_flows(network)) ADD_FAILURE() << broken;
  const link::DirectionCounters c = network.satellite().from_b().counters();
  EXPECT_GT(c.dropped_outage, 300U);  // In 100 ms, 50 Mbit/s are 406 frames.
  EXPECT_LT(c.dropped_outage, 420U);
  const std::uint64_t sent = c.frames_in - c.dropped_outage;
  EXPECT_NEAR(static_cast<double>(c.dropped_loss), static_cast<double>(sent) * 0.04, 4);
}

TEST(Link, JumboFramesPassFromHostToHost) {
  Scenario scenario = make_lab(5, {.loss = 0.01});
  set_mtu(scenario, {.lan = 9000, .wan = 9000});
  add_flow(scenario, Side::kA, sender(5'000'000), receiver());
  Tracer tracer;
  Network network(scenario, tracer);
  std::size_t largest = 0;
  network.satellite().on_frame(
      [&](unsigned, ConstBytes frame) { largest = std::max(largest, frame.size()); });
  ASSERT_TRUE(network.run_until_flows_over(at(60'000)));
  for (const std::string& broken : check_flows(network)) ADD_FAILURE() << broken;
  EXPECT_EQ(largest, 9014U);
}

}  // namespace
}  // namespace satrelay::sim::link_test
