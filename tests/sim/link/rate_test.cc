// The rate controllers over whole gateways: how they follow a change of the link's rate that
// nothing announces, and which share of a lossy link each reaches.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>

#include "relay/sim/network/network.h"
#include "relay/sim/scenarios/plans.h"
#include "relay/sim/scenarios/scenario.h"

namespace satrelay::sim::rate_test {
namespace {

constexpr BitRate kHigh = BitRate::bits_per_second(20'000'000);
constexpr BitRate kLow = BitRate::bits_per_second(2'000'000);
constexpr Duration kRoundTrip = Duration::milliseconds(550);

// A download from B to A that lasts beyond the test.
struct Download {
  explicit Download(std::uint64_t seed, double loss = 0, config::RateControl control = {},
                    config::FeedbackMode mode = config::FeedbackMode::kAdaptive) {
    LinkSpec link;
    link.rate = kHigh;
    link.one_way_delay = kRoundTrip / 2;
    link.loss = loss;
    Scenario scenario = make_lab(seed, link);
    scenario.control = control;
    scenario.stp.feedback.mode = mode;
    for (Station& station : scenario.stations) {
      station.hosts[0].tcp.send_limit = 4 << 20;
      station.hosts[0].tcp.receive_limit = 4 << 20;
    }
    add_flow(scenario, Side::kA, requester(100), responder(100, 500'000'000));
    network.emplace(scenario, tracer);
    network->satellite().on_frame([this](unsigned from, ConstBytes frame) {
      if (from != SatelliteLink::kB) return;
      sent += frame.size() - 14 + config::kOverheadEthernet;
      worst = std::max(worst, queue());
    });
    network->run_for(Duration::seconds(8));
  }
  Duration queue() {
    link::LinkDirection& way = network->satellite().from_b();
    return way.rate().time_for(ByteCount(way.counters().queue_bytes));
  }
  BitRate rate() { return network->gateway(Side::kB).engine().peers().at(0).send_rate; }
  // Share of `of` that B sends over `time`.
  double used(BitRate of, Duration time) {
    const std::uint64_t before = sent;
    worst = Duration::zero();
    network->run_for(time);
    return static_cast<double>(sent - before) / static_cast<double>(of.bytes_in(time).value());
  }
  Tracer tracer;
  std::optional<Network> network;
  std::uint64_t sent = 0;
  Duration worst;
};

TEST(Rate, AnUnannouncedStepIsFoundAndItsQueueGoneInFourRoundTrips) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    Download download(seed, 0.001 * static_cast<double>(seed - 1));
    ASSERT_EQ(download.rate(), kHigh.scaled(995, 1000));
    download.network->satellite().from_b().set_rate(kLow);
    download.network->run_for(kRoundTrip * 4);
    const double share = download.used(kLow, Duration::seconds(5));
    std::printf("  seed %d: %.3f of a tenth from 4 round trips on, queue up to %.1f ms\n",
                static_cast<int>(seed), share, download.worst.to_seconds() * 1e3);
    EXPECT_LT(download.worst, Duration::milliseconds(25));
    EXPECT_GT(share, 0.9);
    download.network->satellite().from_b().set_rate(kHigh);
    download.network->run_for(Duration::seconds(20));
    EXPECT_EQ(download.rate(), kHigh.scaled(995, 1000));
  }
}

// Share of the link's rate that is used from the third to the fifth second after an unannounced
// fade has ended.
double back_after(config::Controller controller, BitRate fade, Duration length) {
  config::RateControl control;
  control.controller = controller;
  Download download(1, 0, control);
  download.network->satellite().from_b().set_rate(fade);
  download.network->run_for(length);
  download.network->satellite().from_b().set_rate(kHigh);
  download.network->run_for(Duration::seconds(2));
  const double share = download.used(kHigh, Duration::seconds(3));
  std::printf("  %s, %lld s at %.0f Mbit/s: %.3f, queue up to %.1f ms\n",
              config::to_string(controller),
              static_cast<long long>(length.to_milliseconds() / 1000),
              static_cast<double>(fade.to_bits_per_second()) / 1e6, share,
              download.worst.to_seconds() * 1e3);
  EXPECT_LT(download.worst, Duration::milliseconds(25));
  return share;
}

TEST(Rate, IsBackTwoSecondsAfterAFadeThatNobodyTold) {
  for (const auto controller : {config::Controller::kFixedRate, config::Controller::kHpfp}) {
    for (const std::uint64_t tenths : {1U, 2U, 5U, 9U}) {
      EXPECT_GT(back_after(controller, kHigh.scaled(tenths, 10), Duration::seconds(10)), 0.95);
    }
  }
  for (const std::int64_t seconds : {2, 60}) {
    EXPECT_GT(back_after(config::Controller::kFixedRate, kLow, Duration::seconds(seconds)), 0.95);
  }
}

TEST(Rate, LossAloneIsNeverCongestion) {
  Download download(1, 0.1);
  EXPECT_GT(download.used(kHigh, Duration::seconds(10)), 0.99);
  EXPECT_EQ(download.rate(), kHigh.scaled(995, 1000));
}

// Share of 20 Mbit/s that each controller sends, from 8 s after the start.
TEST(Rate, ShareOfALossyLink) {
  struct Row {
    config::Controller controller;
    config::FeedbackMode mode;
    double least[3];
  };
  const Row rows[] = {
      {config::Controller::kFixedRate, config::FeedbackMode::kAdaptive, {0.99, 0.99, 0.99}},
      {config::Controller::kHpfp, config::FeedbackMode::kHpfp, {0.98, 0.98, 0.98}},
      {config::Controller::kTps, config::FeedbackMode::kMNack, {0.90, 0.15, 0.05}},
      {config::Controller::kStp, config::FeedbackMode::kAdaptive, {0.95, 0.95, 0.95}}};
  std::printf(
      "  20 Mbit/s, RTT 550 ms, sent of the link's rate from 13 to 18 s\n"
      "  %-12s %6s %6s %6s\n",
      "loss", "0", "1e-3", "1e-2");
  for (const Row& row : rows) {
    std::printf("  %-12s", config::to_string(row.controller));
    for (int i = 0; i < 3; ++i) {
      config::RateControl control;
      control.controller = row.controller;
      constexpr double kLoss[] = {0, 1e-3, 1e-2};
      Download download(1, kLoss[i], control, row.mode);
      const double share = download.used(kHigh, Duration::seconds(5));
      std::printf(" %6.3f", share);
      EXPECT_GE(share, row.least[i]);
    }
    std::printf("\n");
  }
}

}  // namespace
}  // namespace satrelay::sim::rate_test
