// Loss recovery alone, without windows. recovery_test and tail_loss_test have it in an endpoint.
#include "pep/tcp/sending/loss_recovery.h"

#include <gtest/gtest.h>

#include "tests/unit/pep/tcp/sending/parts.h"

namespace satrelay::tcp::test::loss_recovery_test {
namespace {

using Phase = LossRecovery::Phase;
constexpr std::uint32_t kSegment = 1000;

class LossRecoveryTest : public ::testing::Test {
 protected:
  void begin(bool selective) {
    recovery_.establish(selective);
    recovery_.rtt().sample(Duration::milliseconds(10), rto_limits(around().profile()));
  }
  void send(std::size_t segments, Instant now) {
    for (std::size_t i = 0; i < segments; ++i) {
      const std::uint64_t begin = recovery_.board().next();
      recovery_.on_sent({begin, begin + kSegment}, now);
    }
    recovery_.wait_for_acknowledgment(around(), now);
  }
  LossRecovery::Finding acknowledge(std::uint64_t ack, std::vector<Range> sack, Instant now) {
    Acknowledgment acknowledgment;
    acknowledgment.ack = ack;
    acknowledgment.sack = sack;
    return recovery_.handle_acknowledgment(acknowledgment, {false, kSegment}, around(), now);
  }
  Environment& around() { return parts_.around(); }

  Parts parts_;
  LossRecovery recovery_{Profile{}};
};

TEST_F(LossRecoveryTest, ReportsBehindAHoleBeginOneEpisodeWhichEndsAtItsRecoveryPoint) {
  begin(true);
  send(6, at_ms(0));
  EXPECT_FALSE(acknowledge(0, {{1000, 3000}}, at_ms(10)).lost);
  const auto found = acknowledge(0, {{1000, 4000}}, at_ms(10));
  EXPECT_EQ(found.fresh, 1000u);
  EXPECT_TRUE(found.lost);
  EXPECT_EQ(recovery_.phase(), Phase::kFast);
  EXPECT_EQ(recovery_.board().first_lost(), (Range{0, 1000}));
  EXPECT_TRUE(recovery_.forces_retransmission());
  recovery_.on_retransmitted({0, 1000}, around(), at_ms(10));
  EXPECT_FALSE(recovery_.forces_retransmission());

  EXPECT_FALSE(acknowledge(4000, {}, at_ms(20)).recovered);
  EXPECT_TRUE(acknowledge(6000, {}, at_ms(20)).recovered);
  EXPECT_TRUE(recovery_.is_open());
  EXPECT_EQ(parts_.counters().fast_recoveries, 1u);
  EXPECT_FALSE(parts_.armed(Timer::kRetransmission));
}

TEST_F(LossRecoveryTest, WithoutSackTheThirdDuplicateBeginsAnEpisode) {
  begin(false);
  send(6, at_ms(0));
  EXPECT_FALSE(acknowledge(0, {}, at_ms(10)).lost);
  EXPECT_FALSE(acknowledge(0, {}, at_ms(10)).lost);
  EXPECT_TRUE(acknowledge(0, {}, at_ms(10)).lost);
  recovery_.on_retransmitted({0, 1000}, around(), at_ms(10));
  EXPECT_EQ(recovery_.board().pipe(), 3000u);
  // A partial ACK shows the next loss (RFC 6582).
  EXPECT_FALSE(acknowledge(2000, {}, at_ms(20)).recovered);
  EXPECT_EQ(recovery_.board().first_lost(), (Range{2000, 3000}));
  EXPECT_TRUE(recovery_.forces_retransmission());
}

TEST_F(LossRecoveryTest, TimeoutBacksOffAndCountsUntilThePeerTakesSomething) {
  begin(true);
  send(2, at_ms(0));
  const Duration rto = recovery_.rtt().rto();
  EXPECT_EQ(parts_.deadline(Timer::kRetransmission), at_ms(0) + rto);
  recovery_.handle_retransmission_timeout(around(), at_ms(0) + rto);
  EXPECT_EQ(recovery_.phase(), Phase::kLoss);
  EXPECT_EQ(recovery_.retries(), 1u);
  EXPECT_EQ(recovery_.rtt().rto(), rto * 2);
  EXPECT_TRUE(recovery_.board().has_lost());
  acknowledge(1000, {}, at_ms(0) + rto);
  EXPECT_EQ(recovery_.retries(), 0u);
}

TEST_F(LossRecoveryTest, TailIsProbedAfterTwoRoundTrips) {
  begin(true);
  send(2, at_ms(0));
  EXPECT_EQ(parts_.deadline(Timer::kProbe), at_ms(22));
  recovery_.handle_tail_probe_timeout(around(), at_ms(22));
  ASSERT_TRUE(recovery_.owes_tail_probe());
  EXPECT_EQ(recovery_.last_sent(), (Range{1000, 2000}));
  recovery_.drop_tail_probe();
  recovery_.on_retransmitted({1000, 2000}, around(), at_ms(22));
  recovery_.on_tail_probe_sent(true, around());
  EXPECT_FALSE(recovery_.misses_nothing(around().timers));
  send(1, at_ms(23));
  EXPECT_TRUE(acknowledge(3000, {}, at_ms(33)).tail_repaired);
}

TEST_F(LossRecoveryTest, EchoCountsOnceAWindowOfData) {
  begin(true);
  EXPECT_FALSE(recovery_.takes_echo(0));  // nothing is in flight
  send(3, at_ms(0));
  EXPECT_TRUE(recovery_.takes_echo(1000));
  EXPECT_FALSE(recovery_.takes_echo(2000));
  acknowledge(3000, {}, at_ms(10));
  send(1, at_ms(10));
  EXPECT_FALSE(recovery_.takes_echo(3000));
  EXPECT_TRUE(recovery_.takes_echo(4000));
}

}  // namespace
}  // namespace satrelay::tcp::test::loss_recovery_test
