#include "pep/stp/path/probe_timer.h"

#include <gtest/gtest.h>

namespace satrelay::stp::probe_timer_test {
namespace {

Instant at(std::int64_t ms) { return Instant() + Duration::milliseconds(ms); }

// The patience is 800 ms for a round trip of 500 ms and reports every 25 ms.
struct ProbeTimerTest : testing::Test {
  ProbeTimerTest() {
    probes.start(at(0));
    probes.set_patience(Duration::milliseconds(500), Duration::milliseconds(25));
  }
  void send(int packets, Instant now) {
    for (int i = 0; i < packets; ++i) probes.on_sent(now);
  }
  ProbeTimer probes{{}};
};

TEST_F(ProbeTimerTest, ManyPacketsWithoutAReportMeanSilence) {
  send(10, at(1000));
  EXPECT_FALSE(probes.probe_due(at(1799)));
  ASSERT_TRUE(probes.probe_due(at(1800)));
  EXPECT_TRUE(probes.on_probe(at(1800)));
  EXPECT_TRUE(probes.frozen());
  probes.on_report(at(2300));
  EXPECT_FALSE(probes.frozen());
}

// A lone packet may be lost by chance. So the next packets need not wait for a report on it.
TEST_F(ProbeTimerTest, AFewPacketsWithoutAReportAreAskedAboutFirst) {
  send(1, at(1000));
  ASSERT_TRUE(probes.probe_due(at(1800)));
  EXPECT_TRUE(probes.on_probe(at(1800)));
  EXPECT_FALSE(probes.frozen());
  send(100, at(1850));
  for (std::int64_t ms = 1900; ms < 2600; ms += 100) {
    ASSERT_TRUE(probes.probe_due(at(ms)));
    EXPECT_FALSE(probes.on_probe(at(ms)));
    EXPECT_FALSE(probes.frozen()) << ms;
  }
  // The first probe should have been answered by now.
  EXPECT_FALSE(probes.on_probe(at(2600)));
  EXPECT_TRUE(probes.frozen());
}

// On a narrow return link, reports are rare.
TEST_F(ProbeTimerTest, AProbeIsAnsweredBeforeThePeerIsSuspect) {
  for (const std::int64_t interval : {1'130, 2'000, 60'000}) {
    probes.set_patience(Duration::milliseconds(550), Duration::milliseconds(interval));
    probes.on_report(at(1'000));
    probes.on_heard(at(1'000));
    EXPECT_GE(probes.patience(), Duration::milliseconds(550 + interval)) << "a report is due";
    EXPECT_LE(probes.suspect_at(), at(1'000 + 4'100)) << "whatever the peer says";
    if (interval > 2'000) continue;
    EXPECT_GE(probes.suspect_at(), at(1'000) + probes.patience() + Duration::milliseconds(650));
  }
}

TEST_F(ProbeTimerTest, AnOutageIsMoreThanOneUnansweredProbe) {
  send(10, at(1000));
  probes.on_probe(at(1800));
  EXPECT_FALSE(probes.is_outage(Duration::milliseconds(500), at(2499)));
  EXPECT_TRUE(probes.is_outage(Duration::milliseconds(500), at(2500)));
}

TEST_F(ProbeTimerTest, AnIdlePeerIsAskedWhenNothingWasHeardForLong) {
  probes.on_heard(at(100));
  EXPECT_FALSE(probes.ping_due(at(1099)));
  EXPECT_TRUE(probes.ping_due(at(1100)));
  EXPECT_FALSE(probes.silent(at(3099)));
  EXPECT_TRUE(probes.silent(at(3100)));
}

}  // namespace
}  // namespace satrelay::stp::probe_timer_test
