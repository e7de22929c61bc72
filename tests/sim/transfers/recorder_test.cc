// The time series of a run agrees with the counters that it samples, and leaves the run unchanged.
#include "relay/sim/checks/recorder.h"

#include <gtest/gtest.h>

#include "relay/sim/network/network.h"
#include "relay/sim/scenarios/plans.h"
#include "relay/sim/scenarios/scenario.h"

namespace satrelay::sim::recorder_test {
namespace {

constexpr std::uint64_t kBytes = 3'000'000;

Scenario lossy_download() {
  Scenario scenario = make_lab(5, {.loss = 0.01});
  add_flow(scenario, Side::kA, requester(100), responder(100, kBytes));
  return scenario;
}

TEST(Recorder, AgreesWithCountersAndOutcomes) {
  Tracer tracer;
  Network network(lossy_download(), tracer);
  Recorder recorder(network, Duration::milliseconds(50));
  ASSERT_TRUE(network.run_until_flows_over(Instant() + Duration::seconds(60)));
  recorder.stop();
  const auto& samples = recorder.samples();
  ASSERT_GT(samples.size(), 20U);
  for (std::size_t i = 1; i < samples.size(); ++i) {
    const Sample& before = samples[i - 1];
    const Sample& after = samples[i];
    if (i + 1 < samples.size()) {
      EXPECT_EQ(after.when - before.when, Duration::milliseconds(50));
    }
    EXPECT_GE(after.stored_at(Side::kA), before.stored_at(Side::kA));
    EXPECT_GE(after.delivered_to(Side::kA), before.delivered_to(Side::kA));
    // Bytes delivered to the application have been stored before. The session counts the headers of
    // blocks, too.
    EXPECT_LE(after.delivered_to(Side::kA), after.stored_at(Side::kA));
    EXPECT_LE(after.link_from(Side::kB).queue_delay, Duration::milliseconds(25));
    EXPECT_LE(after.link_from(Side::kB).queue_delay,
              after.link_from(Side::kB).queue_peak + before.link_from(Side::kB).queue_delay);
  }
  const Sample& end = samples.back();
  EXPECT_EQ(end.when, network.loop().now());
  EXPECT_EQ(end.delivered_to(Side::kA), kBytes);
  EXPECT_EQ(end.flows.at(0).client_received, network.flow(0).client.received);
  EXPECT_EQ(end.flows.at(0).server_written, kBytes);
  const link::DirectionCounters& link = end.link_from(Side::kB).counters;
  EXPECT_GT(link.dropped_loss, 0U);
  // The modem's overhead is larger than Ethernet's header.
  EXPECT_GT(link.bytes_carried, link.bytes_in);
  const stp::Counters& sender = end.gateway(Side::kB).stp;
  EXPECT_EQ(sender.stream_bytes_out, end.stored_at(Side::kA));
  EXPECT_GT(sender.retransmitted_bytes + end.gateway(Side::kA).stp.repair_used, 0U);
}

TEST(Recorder, LeavesTheRunAsItIs) {
  Tracer tracer;
  Network alone(lossy_download(), tracer);
  ASSERT_TRUE(alone.run_until_flows_over(Instant() + Duration::seconds(60)));
  Network watched(lossy_download(), tracer);
  Recorder recorder(watched, Duration::microseconds(1700));
  ASSERT_TRUE(watched.run_until_flows_over(Instant() + Duration::seconds(60)));
  EXPECT_EQ(alone.loop().now(), watched.loop().now());
  EXPECT_EQ(alone.loop().runs(), watched.loop().runs());
  EXPECT_EQ(alone.satellite().from_b().counters().frames_in,
            watched.satellite().from_b().counters().frames_in);
}

TEST(Recorder, AGatewayThatIsDownIsSampledAsSuch) {
  Scenario scenario = lossy_download();
  scenario.restarts.push_back({.side = Side::kA,
                               .when = Instant() + Duration::milliseconds(5500),
                               .down = Duration::seconds(1)});
  Tracer tracer;
  Network network(scenario, tracer);
  Recorder recorder(network, Duration::seconds(1));
  network.run_for(Duration::seconds(8));
  const auto& samples = recorder.samples();
  ASSERT_EQ(samples.size(), 9U);
  EXPECT_TRUE(samples[5].gateway(Side::kA).running);
  EXPECT_FALSE(samples[6].gateway(Side::kA).running);
  EXPECT_EQ(samples[6].gateway(Side::kA).stp.packets_out, 0U);
  EXPECT_TRUE(samples[7].gateway(Side::kA).running);
}

}  // namespace
}  // namespace satrelay::sim::recorder_test
