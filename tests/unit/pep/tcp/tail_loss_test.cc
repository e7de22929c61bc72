// Tail loss probes, duplicate reports and reordering (RFC 8985) as a peer sees them.
#include "pep/tcp/sending/tail_loss_probe.h"
#include "tests/unit/pep/tcp/script.h"

namespace satrelay::tcp::test::tail_loss_test {
namespace {

constexpr char kSack[] = "mss 1000 sackok";

// A connection with a round trip of 10 ms.
void establish(Script& s, const std::string& options = kSack) {
  s.accept("S 0:0 win 65535 " + options);
  s.out();
  s.wait(ms(10));
  s.in(". 1:1 ack 1 win 65535");
  ASSERT_EQ(s.endpoint().state(), State::kEstablished);
  s.out_all();
}

TEST(TailLoss, ProbeRepairsALostTailAfterTwoRoundTrips) {
  Script s;
  establish(s);
  s.write(3000);
  EXPECT_EQ(s.out_all().size(), 3u);
  EXPECT_EQ(s.wait_for_timer(), ms(22));  // 2 SRTT, and 2 ms for a busy peer
  EXPECT_EQ(s.out_all(), Lines{"P. 2001:3001 ack 1"});
  EXPECT_EQ(s.endpoint().counters().tail_loss_probes, 1u);
  // The first of the three segments has arrived, the second has not.
  s.wait(ms(10));
  s.in(". 1:1 ack 1001 sack 2001:3001");
  // The second was sent a round trip and more before the probe, so it is not merely late.
  EXPECT_EQ(s.out_all(), Lines{". 1001:2001 ack 1"});
  s.in(". 1:1 ack 3001");
  EXPECT_EQ(s.endpoint().sending().unacknowledged(), 0u);
  EXPECT_EQ(s.endpoint().counters().retransmission_timeouts, 0u);
}

TEST(TailLoss, ASingleSegmentWaitsForADelayedAck) {
  Script s;
  establish(s);
  s.write(100);
  s.out_all();
  EXPECT_GE(s.wait_for_timer(), ms(210));  // the RTO, at which the probe leaves instead
  EXPECT_EQ(s.out_all(), Lines{"P. 1:101 ack 1"});
  EXPECT_EQ(s.endpoint().counters().retransmission_timeouts, 0u);
  EXPECT_GE(s.wait_for_timer(), ms(210));  // the RTO itself, the last resort
  EXPECT_EQ(s.out_all(), Lines{"P. 1:101 ack 1"});
  EXPECT_EQ(s.endpoint().counters().retransmission_timeouts, 1u);
}

TEST(TailLoss, NewDataIsTheBetterProbeAndMayExceedTheCongestionWindow) {
  Script s;
  establish(s);
  s.write(20'000);
  EXPECT_EQ(s.out_all().size(), 10u);
  s.wait_for_timer();
  EXPECT_EQ(s.out_all(), Lines{". 10001:11001 ack 1"});
  EXPECT_EQ(s.endpoint().counters().tail_loss_probes, 1u);
  EXPECT_EQ(s.endpoint().counters().retransmitted_segments, 0u);
}

// The answer arrives between the timer and the next segment. No tail is left, so the window is
// probed instead.
TEST(TailLoss, AProbeIsNotOwedWhenAllHasArrived) {
  for (const std::uint64_t window : {std::uint64_t{0}, std::uint64_t{600}}) {
    Script s;
    establish(s);
    s.in(". 1:1 ack 1 win 3000");
    s.write(5000);
    EXPECT_EQ(s.out_all().size(), 3u);
    s.wait_for_timer();
    s.in(". 1:1 ack 3001 win " + std::to_string(window));
    EXPECT_EQ(s.out(), "-");
    ASSERT_FALSE(s.endpoint().next_timeout().is_never());
    s.wait_for_timer();
    EXPECT_EQ(s.out(), window == 0 ? ". 3000:3000 ack 1" : ". 3001:3601 ack 1");
    EXPECT_EQ(s.endpoint().counters().tail_loss_probes, 0u);
  }
}

TEST(TailLoss, OneProbeAtATime) {
  Script s;
  establish(s);
  s.write(2000);
  s.out_all();
  s.wait_for_timer();
  EXPECT_EQ(s.out_all().size(), 1u);
  s.wait_for_timer();  // the RTO
  EXPECT_EQ(s.endpoint().counters().retransmission_timeouts, 1u);
  EXPECT_EQ(s.endpoint().counters().tail_loss_probes, 1u);
  EXPECT_EQ(s.out_all(), Lines{". 1:1001 ack 1"});
}

TEST(TailLoss, ALossThatTheProbeRepairedReducesTheWindow) {  // section 7.4
  Script s;
  establish(s);
  s.write(3000);
  s.out_all();
  s.wait_for_timer();
  EXPECT_EQ(s.out_all().size(), 1u);
  s.wait(ms(10));
  s.in(". 1:1 ack 3001");  // of the original, or of the probe?
  EXPECT_EQ(s.endpoint().sending().congestion_window(), 10'000u);
  s.write(4000);
  s.out_all();
  s.wait(ms(10));
  s.in(". 1:1 ack 7001");  // no duplicate was reported: it was the probe
  EXPECT_EQ(s.endpoint().sending().congestion_window(),
            3000u);  // half the flight; the ACK adds a segment
}

TEST(TailLoss, ANeedlessProbeDoesNotReduceIt) {
  for (const char* answer : {". 1:1 ack 3001 sack 2001:3001", ". 1:1 ack 3001"}) {
    Script s;
    establish(s);
    s.write(3000);
    s.out_all();
    s.wait_for_timer();
    s.out_all();
    s.in(". 1:1 ack 3001");
    s.wait(ms(10));
    s.in(answer);
    s.write(4000);
    s.out_all();
    s.wait(ms(10));
    s.in(". 1:1 ack 7001");
    EXPECT_EQ(s.endpoint().sending().congestion_window(), 10'000u) << answer;
  }
}

TEST(TailLoss, AFinIsProbedForToo) {
  Script s;
  establish(s);
  s.write(2000);
  s.endpoint().close();
  EXPECT_EQ(s.out_all().size(), 2u);
  s.wait_for_timer();
  EXPECT_EQ(s.out_all(), Lines{"FP. 1001:2001 ack 1"});
  s.in(". 1:1 ack 2002");
  EXPECT_EQ(s.endpoint().state(), State::kFinWait2);
}

TEST(TailLoss, NoneWithoutSack) {
  Script s;
  establish(s, "mss 1000");
  s.write(3000);
  s.out_all();
  EXPECT_GE(s.wait_for_timer(), ms(210));
  EXPECT_EQ(s.endpoint().counters().retransmission_timeouts, 1u);
  EXPECT_EQ(s.endpoint().counters().tail_loss_probes, 0u);
}

TEST(TailLoss, NoneIntoAClosedWindow) {
  Script s;
  establish(s);
  s.write(3000);
  s.out_all();
  s.in(". 1:1 ack 1 win 0");
  s.wait(ms(100));
  EXPECT_EQ(s.out_all(), Lines{});
}

TEST(TailLoss, ProbeTimeoutOfTheRfc) {
  const Duration delay = ms(200);
  EXPECT_EQ(TailLossProbe::timeout(Duration::zero(), false, delay), Duration::seconds(1));
  EXPECT_EQ(TailLossProbe::timeout(ms(30), false, delay), ms(62));
  EXPECT_EQ(TailLossProbe::timeout(ms(30), true, delay), ms(260));
}

// --- reordering --------------------------------------------------------------------------------

TEST(Reordering, ALateSegmentIsNotSentAgain) {
  Script s;
  establish(s);
  s.write(3000);
  s.out_all();
  s.wait(ms(10));
  s.in(". 1:1 ack 1 sack 1001:2001");
  s.in(". 1:1 ack 1 sack 1001:3001");
  s.wait(ms(2));  // a quarter of the round trip is 2.5 ms
  EXPECT_EQ(s.out(), "-");
  s.in(". 1:1 ack 3001");
  s.wait(ms(200));
  EXPECT_EQ(s.out(), "-");
  EXPECT_EQ(s.endpoint().counters().retransmitted_segments, 0u);
}

TEST(Reordering, IsToleratedOnceItWasSeen) {
  Script s;
  establish(s);
  s.write(10'000);
  s.out_all();
  s.wait(ms(10));
  s.in(". 1:1 ack 1 sack 1001:2001");
  s.in(". 1:1 ack 2001");
  s.in(". 1:1 ack 2001 sack 3001:10001");  // without reordering it would be lost
  EXPECT_EQ(s.out(), "-");
  s.wait(ms(1));
  s.in(". 1:1 ack 10001");
  EXPECT_EQ(s.endpoint().counters().retransmitted_segments, 0u);
  EXPECT_EQ(s.endpoint().counters().fast_recoveries, 0u);
}

TEST(Reordering, DuplicateReportsAreCountedWhereverTheyLie) {  // RFC 2883 section 4
  Script s;
  establish(s);
  s.write(5000);
  s.out_all();
  s.wait(ms(10));
  s.in(". 1:1 ack 2001 sack 1:1001");               // below the ACK
  s.in(". 1:1 ack 2001 sack 3001:3501,3001:4001");  // inside the second block
  s.in(". 1:1 ack 2001 sack 3001:4001");
  EXPECT_EQ(s.endpoint().counters().needless_retransmissions, 2u);
}

}  // namespace
}  // namespace satrelay::tcp::test::tail_loss_test
