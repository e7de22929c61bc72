// The meter finds the same worst window as a search of all windows.
#include "relay/sim/network/link_meter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "pep/base/random.h"

namespace satrelay::sim::link_meter_test {
namespace {

constexpr BitRate mbit(double n) {
  return BitRate::bits_per_second(static_cast<std::uint64_t>(n * 1e6));
}
constexpr Instant at_ms(double n) {
  return Instant::from_nanoseconds(static_cast<std::int64_t>(n * 1e6));
}
constexpr LinkMeter::Sort kOwnUdp{.kind = gateway::FrameKind::kUdp, .is_own = true};

// 10 Mbit/s carry 25,000 octets in 20 ms. 1.02 of that may leave, 5,000 octets for 4 ms more, and
// the 3,000 beside.
TEST(LinkMeter, ABurstMayBeFourMillisecondsAndWhatIsAllowedBesideIt) {
  for (const std::uint64_t more : {0U, 1U}) {
    LinkMeter meter;
    const LinkMeter::Limit limit{mbit(10), ByteCount(3'000)};
    meter.add(1'000, kOwnUdp, limit, at_ms(100));
    for (int i = 1; i <= 32; ++i) meter.add(1'000, kOwnUdp, limit, at_ms(120));
    meter.add(500 + more, {}, limit, at_ms(120));
    EXPECT_EQ(meter.worst().empty(), more == 0);
    if (more == 0) continue;
    EXPECT_EQ(meter.worst(),
              "33501 octets in 20.000 ms until 0.120000 s, 33500 are allowed at 10.000 Mbit/s: "
              "501 bridged malformed, 33000 own UDP");
  }
}

// The load is half a percent above the allowed 1.02. Only long windows show it.
TEST(LinkMeter, LittleTooMuchForLongIsTooMuch) {
  for (const double excess : {1.015, 1.025}) {
    LinkMeter meter;
    const LinkMeter::Limit limit{mbit(10), ByteCount(3'000)};
    for (int i = 0; i < 4'000; ++i) meter.add(1'250, kOwnUdp, limit, at_ms(i / excess));
    EXPECT_EQ(meter.worst().empty(), excess < 1.02) << meter.worst();
  }
}

TEST(LinkMeter, TheHighestRateInTheWindowCounts) {
  LinkMeter meter;
  // A second at 10 Mbit/s, then a burst when only a tenth of that rate is in force.
  for (int i = 0; i < 1'000; ++i) {
    meter.add(1'250, kOwnUdp, {mbit(10), ByteCount(3'000)}, at_ms(i));
  }
  for (int i = 0; i < 10; ++i) {
    meter.add(1'250, kOwnUdp, {mbit(1), ByteCount(3'000)}, at_ms(1'000));
  }
  EXPECT_NE(meter.worst(), "") << "windows that begin with the burst have seen a tenth only";
}

struct Sent {
  std::uint64_t octets;
  LinkMeter::Limit limit;
  Instant at;
};

double excess_of_all_windows(const std::vector<Sent>& sent) {
  double worst = 0;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    double octets = 0;
    LinkMeter::Limit limit;
    for (std::size_t k = i; k < sent.size(); ++k) {
      octets += static_cast<double>(sent[k].octets);
      limit = {std::max(limit.rate, sent[k].limit.rate),
               std::max(limit.beside, sent[k].limit.beside)};
      const Duration window = std::max(sent[k].at - sent[i].at, LinkMeter::kShortestWindow);
      // The shortest window may hold later frames. Their limits count too.
      const bool is_last = k + 1 == sent.size() || sent[k + 1].at - sent[i].at > window;
      if (window == LinkMeter::kShortestWindow && !is_last) continue;
      const double rate = static_cast<double>(limit.rate.to_bits_per_second()) / 8;
      const double allowed =
          rate * (1.02 * window.to_seconds() + 0.004) + static_cast<double>(limit.beside.value());
      worst = std::max(worst, octets - allowed);
    }
  }
  return worst;
}

TEST(LinkMeter, FindsTheWorstOfAllWindows) {
  Random random(7);
  int exceeded = 0;
  for (int run = 0; run < 200; ++run) {
    LinkMeter meter;
    std::vector<Sent> sent;
    Instant now = at_ms(5);
    LinkMeter::Limit limit{mbit(1 + static_cast<double>(random.below(20))), ByteCount(3'000)};
    const double load = 0.5 + static_cast<double>(random.below(50)) / 100;
    for (int i = 0; i < 400; ++i) {
      if (random.below(40) == 0) limit.rate = mbit(1 + static_cast<double>(random.below(20)));
      if (random.below(60) == 0) limit.beside = ByteCount(1'000 + random.below(4'000));
      const std::uint64_t octets = 60 + random.below(1'440);
      const double seconds =
          static_cast<double>(octets) * 8 / static_cast<double>(limit.rate.to_bits_per_second());
      // Frames come in bursts, at `load` on average.
      if (random.below(6) == 0) {
        now += Duration::nanoseconds(static_cast<std::int64_t>(6e9 * seconds / load));
      }
      sent.push_back({octets, limit, now});
      meter.add(octets, kOwnUdp, limit, now);
    }
    const double excess = excess_of_all_windows(sent);
    EXPECT_EQ(excess > 0, !meter.worst().empty()) << run << ": " << meter.worst();
    EXPECT_NEAR(meter.excess(), excess, 0.01) << run;
    if (excess > 0) ++exceeded;
  }
  EXPECT_GT(exceeded, 20);
  EXPECT_LT(exceeded, 195);
}

}  // namespace
}  // namespace satrelay::sim::link_meter_test
