// How close one stream comes to the bound of a known link, in virtual time: 50 Mbit/s, 550 ms round
// trip, 20 MB. The time ends with the receiver's last byte.
#include <gtest/gtest.h>

#include <cstdio>
#include <vector>

#include "pep/stp/wire/frames.h"
#include "pep/stp/wire/packet.h"
#include "tests/unit/pep/stp/application.h"

namespace satrelay::stp::test::goodput_test {
namespace {

constexpr std::uint64_t kBytes = 20'000'000;
constexpr Duration kOneWay = Duration::milliseconds(275);
constexpr BitRate kRate = BitRate::bits_per_second(50'000'000);

EndConfig goodput_config(bool even) {
  EndConfig config = end_config(even);
  config.arena_bytes = 160 << 20;
  config.block_size = 16384;
  config.rate = kRate;
  config.session.feedback.budget = BitRate::bits_per_second(50'000);
  return config;
}

struct Result {
  double seconds = 0;
  double return_bits_per_second = 0;
  Counters sender;
};

Result transfer(double loss, std::uint64_t seed, std::uint64_t window = 64 << 20) {
  ChannelFaults faults;
  faults.loss = loss;
  EndConfig receiver = goodput_config(false);
  receiver.session.streams.receive_limit = window;
  Network net(goodput_config(true), receiver, kOneWay, faults, seed);
  for (int end = 0; end < 2; ++end) net.start(end, end == 0 ? 1000 : 2000);
  net.run(Duration::seconds(10));
  net.apps[0].chunk = 65536;
  std::uint64_t back = 0;
  net.on_packet = [&](int end, ConstBytes packet) {
    if (end == 1) back += packet.size() + 28;
  };
  const Instant start = net.now;
  net.apps[0].open(kBytes, 0, net.now);
  EXPECT_TRUE(net.run(Duration::seconds(60), [&] { return net.apps[1].bytes_read == kBytes; }));
  EXPECT_EQ(net.error(), "");
  Result result;
  result.seconds = (net.now - start).to_seconds();
  result.return_bits_per_second = static_cast<double>(back) * 8 / result.seconds;
  result.sender = net.session(0).counters();
  return result;
}

class LossyGoodputTest : public ::testing::TestWithParam<double> {};

TEST_P(LossyGoodputTest, EndsWithinTwoRoundTripsOfTheBound) {
  const double loss = GetParam();
  // The time that the unique bytes take at the rate that loss leaves, with the headers of full
  // packets, plus one way.
  const double overhead = 1500.0 / (1472 - 12 - 8);
  const double bound = kBytes * 8.0 * overhead /
                           (static_cast<double>(kRate.to_bits_per_second()) * 0.995 * (1 - loss)) +
                       kOneWay.to_seconds();
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const Result result = transfer(loss, seed);
    std::printf(
        "loss %4.1f%%: %.3f s, bound %.3f s, share %.1f%%; lost %llu, spurious %llu, probes %llu, "
        "feedback %.1f kbit/s\n",
        loss * 100, result.seconds, bound, 100 * bound / result.seconds,
        static_cast<unsigned long long>(result.sender.packets_lost),
        static_cast<unsigned long long>(result.sender.spurious_losses),
        static_cast<unsigned long long>(result.sender.tail_probes),
        result.return_bits_per_second / 1000);
    EXPECT_LT(result.seconds, bound + 2 * 0.55);
    EXPECT_EQ(result.sender.spurious_losses, 0U);
  }
}

// A long report has many parts, of which some are lost. The next report repeats them, so the sender
// asks for nothing. An answer would use up the budget of the next reports.
TEST(GoodputTest, LostPartsOfALongReportAreNotAskedFor) {
  ChannelFaults faults;
  faults.loss = 0.1;
  EndConfig ends[2];
  for (const bool even : {true, false}) {
    EndConfig& end = ends[even ? 0 : 1];
    end = goodput_config(even);
    end.rate = BitRate::bits_per_second(1'000'000'000);
    end.session.datagram.size = 576;
    end.session.feedback.budget = BitRate::bits_per_second(1'500'000);
    end.session.streams.receive_limit = 1 << 30;
    end.arena_bytes = 300 << 20;
  }
  Network net(ends[0], ends[1], Duration::milliseconds(100), faults, 1);
  for (int end = 0; end < 2; ++end) net.start(end, end == 0 ? 1000 : 2000);
  net.run(Duration::seconds(5));
  net.apps[0].chunk = 65536;
  net.apps[0].open(1ULL << 40, 0, net.now);
  net.run(Duration::milliseconds(1500));
  net.channels[1].set_faults({});
  net.run(Duration::milliseconds(300));
  int parts = 0;
  int pings = 0;
  net.on_packet = [&](int end, ConstBytes packet) {
    const bool long_report = end == 1 && packet.size() > 300;
    if (end == 1) {
      // Never all three parts that report on the same packets.
      net.channels[1].outage = long_report && ++parts % 10 == 0;
    } else if (load_u8(packet.data() + kHeaderSize) ==
               static_cast<std::uint8_t>(FrameType::kPing)) {
      ++pings;
    }
  };
  net.run(Duration::milliseconds(1'000));
  EXPECT_GT(parts, 100);
  EXPECT_LT(pings, 3);
}

// Copies leave for the third power of the loss, and for some more packets near the end of the
// window.
TEST(GoodputTest, WhatIsLostThreeTimesIsSentTwice) {
  const Result much = transfer(0.2, 1);
  const double packets = kBytes / 1452.0 / 0.8;
  EXPECT_GT(static_cast<double>(much.sender.copies_out), packets * 0.008 / 2);
  EXPECT_LT(static_cast<double>(much.sender.copies_out), packets * 0.008 * 2);
  EXPECT_LT(transfer(0.01, 1).sender.copies_out, 3U);
}

// The window is little larger than what is in flight in a round trip and a feedback interval. That
// is enough, because it is renewed in small parts.
TEST(GoodputTest, AWindowOfTheBandwidthDelayProductFillsTheLink) {
  const double path = static_cast<double>(kRate.to_bits_per_second()) / 8 * (0.55 + 0.025);
  const Result roomy = transfer(0, 1);
  const Result tight = transfer(0, 1, static_cast<std::uint64_t>(path * 1.12));
  EXPECT_LT(tight.seconds, roomy.seconds * 1.01);
}

INSTANTIATE_TEST_SUITE_P(Loss, LossyGoodputTest, ::testing::Values(0.0, 0.01, 0.05));

}  // namespace
}  // namespace satrelay::stp::test::goodput_test
