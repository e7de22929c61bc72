// Data and windows in ESTABLISHED, without loss: segmentation, ACK timing, flow control.
#include "tests/unit/pep/tcp/script.h"

namespace satrelay::tcp::test::data_test {
namespace {

// --- sending ---------------------------------------------------------------------------------

TEST(Send, SegmentsFillTheMssAndThePushEndsTheData) {
  Script s;
  s.establish_as_server();
  s.write(3000);
  EXPECT_EQ(s.out_all(), (Lines{". 1:1461 ack 1", ". 1461:2921 ack 1", "P. 2921:3001 ack 1"}));
  EXPECT_EQ(s.endpoint().sending().unacknowledged(), 3000u);
  s.in(". 1:1 ack 3001");
  EXPECT_EQ(s.endpoint().sending().unacknowledged(), 0u);
  EXPECT_EQ(s.out(), "-");
  EXPECT_TRUE(s.endpoint().next_timeout().is_never());
}

TEST(Send, SmallWritesAreNotDelayed) {  // Nagle is off
  Script s;
  s.establish_as_server();
  s.write(1);
  EXPECT_EQ(s.out(), "P. 1:2 ack 1");
  s.write(2);
  EXPECT_EQ(s.out(), "P. 2:4 ack 1");
}

TEST(Send, PayloadShrinksByTheOptionsItTravelsWith) {
  Script s;
  s.establish_as_server("mss 1460 sackok ts 1 0");
  s.in(". 101:201 ack 1 ts 1 1000");
  s.in(". 301:401 ack 1 ts 1 1000");
  EXPECT_EQ(s.out_all(), Lines{". 1:1 ack 1 ts 1000 1 sack 301:401,101:201"});
  s.write(1460);
  // 1460 - 12 for timestamps - 4 - 8 * 2
  EXPECT_EQ(s.out(), ". 1:1429 ack 1 ts 1000 1 sack 301:401,101:201");
  EXPECT_EQ(s.out(), "P. 1429:1461 ack 1 ts 1000 1 sack 301:401,101:201");
}

TEST(Send, InitialWindowIsTenSegments) {
  Script s;
  s.establish_as_server("mss 1000 sackok");
  s.write(20'000);
  EXPECT_EQ(s.out_all().size(), 10u);
  s.in(". 1:1 ack 2001");
  EXPECT_EQ(s.out_all().size(), 4u);  // two acknowledged, two of growth
}

TEST(Send, StopsAtThePeersWindow) {
  Script s;
  s.establish_as_server("mss 1000");
  s.in(". 1:1 ack 1 win 2500");
  s.write(6000);
  // The largest window was 65535, so half a segment is not worth sending yet.
  EXPECT_EQ(s.out_all(), (Lines{". 1:1001 ack 1", ". 1001:2001 ack 1"}));
  s.in(". 1:1 ack 2001 win 2000");
  EXPECT_EQ(s.out_all(), (Lines{". 2001:3001 ack 1", ". 3001:4001 ack 1"}));
}

// A large window holds very many segments that carry next to nothing. Their records would be as
// large as their data, and one ACK of all of them would take long to handle.
TEST(Send, SegmentsUnderWayAreBoundedByTheirNumberToo) {
  constexpr std::uint32_t kMss = 48;
  Script::Setup setup{Script::plain_config()};
  setup.config.send_limit = 8U << 20;
  setup.arena_bytes = 16U << 20;
  Script s(setup);
  s.establish_as_server("mss 48 sackok ws 10");
  std::uint64_t sent = 0;
  std::size_t most = 0;
  s.write(4U << 20);
  for (int flight = 0; flight < 16; ++flight) {
    std::size_t segments = 0;
    for (; s.endpoint().poll_segment(s.now()); ++segments) sent += kMss;
    most = std::max(most, segments);
    s.in(". 1:1 ack " + std::to_string(1 + sent) + " win 65535");
  }
  EXPECT_EQ(most, SentSegments::kMostTiny);
}

TEST(Send, OldWindowIsNotTakenFromAReorderedSegment) {
  Script s;
  s.establish_as_server();
  s.in(". 101:201 ack 1 win 9000");
  EXPECT_EQ(s.endpoint().sending().peer_window(), 9000u);
  s.in(". 1:101 ack 1 win 20");
  EXPECT_EQ(s.endpoint().sending().peer_window(), 9000u);
}

TEST(Send, SendLimitBoundsTheBuffer) {
  Config config = Script::plain_config();
  config.send_limit = 5000;
  Script s({config});
  s.establish_as_server();
  EXPECT_EQ(s.endpoint().sending().writable(), 5000u);
  EXPECT_EQ(s.endpoint().write(pattern_bytes(0, 7000)), 5000u);
  EXPECT_EQ(s.endpoint().sending().writable(), 0u);
  s.out_all();
  s.in(". 1:1 ack 1461");
  EXPECT_EQ(s.endpoint().sending().writable(), 1460u);
}

TEST(Send, WindowIsHalvedToTheInitialOneAfterIdleness) {
  Script s;
  s.establish_as_server("mss 1000 sackok");
  std::size_t position = 1;
  for (int round = 0; round < 3; ++round) {
    s.write(30'000);
    for (Lines sent = s.out_all(); !sent.empty(); sent = s.out_all()) {
      position += 1000 * sent.size();
      s.in(". 1:1 ack " + std::to_string(position));
    }
  }
  EXPECT_GT(s.endpoint().sending().congestion_window(), 20'000u);
  s.wait(Duration::seconds(5));
  s.write(30'000);
  EXPECT_EQ(s.out_all().size(), 10u);
}

// --- receiving and acknowledging ----------------------------------------------------------------

// Uses up the quick ACKs at the start.
void use_up_quick_acks(Script& s) {
  for (int i = 0; i < 16; ++i) {
    s.in(". " + std::to_string(1 + i * 1460) + ":" + std::to_string(1461 + i * 1460) + " ack 1");
    EXPECT_EQ(s.out(), ". 1:1 ack " + std::to_string(1461 + i * 1460));
    s.consume(1460);
  }
  EXPECT_EQ(s.out(), "-");
}

TEST(Receive, QuickAcksAtFirstThenEverySecondSegment) {
  Script s;
  s.establish_as_server();
  use_up_quick_acks(s);
  s.in(". 23361:24821 ack 1");
  EXPECT_EQ(s.out(), "-");
  s.in(". 24821:26281 ack 1");
  EXPECT_EQ(s.out(), ". 1:1 ack 26281");
  EXPECT_EQ(s.out(), "-");
}

TEST(Receive, LoneSegmentIsAcknowledgedAfterTheDelay) {
  Script s;
  s.establish_as_server();
  use_up_quick_acks(s);
  s.in(". 23361:24821 ack 1");
  EXPECT_EQ(s.out(), "-");
  EXPECT_EQ(s.wait_for_timer(), ms(40));
  EXPECT_EQ(s.out(), ". 1:1 ack 24821");
  EXPECT_TRUE(s.endpoint().next_timeout().is_never());
}

TEST(Receive, MergedSegmentsDoNotStretchLaterAcks) {
  Script s;
  s.establish_as_server();
  use_up_quick_acks(s);
  s.in(". 23361:43361 ack 1");  // a device on the way has merged many segments
  EXPECT_EQ(s.out(), ". 1:1 ack 43361");
  s.in(". 43361:44821 ack 1");
  EXPECT_EQ(s.out(), "-");
  s.in(". 44821:46281 ack 1");
  EXPECT_EQ(s.out(), ". 1:1 ack 46281");
  s.consume(22'920);
}

TEST(Receive, DataCarriesTheAck) {
  Script s;
  s.establish_as_server();
  use_up_quick_acks(s);
  s.in(". 23361:24821 ack 1");
  s.write(10);
  EXPECT_EQ(s.out(), "P. 1:11 ack 24821");
  EXPECT_EQ(s.out(), "-");
  s.in(". 24821:24821 ack 11");
  EXPECT_TRUE(s.endpoint().next_timeout().is_never());
}

TEST(Receive, OutOfOrderGapFillAndDuplicateAreAcknowledgedAtOnce) {
  Script s;
  s.establish_as_server();
  use_up_quick_acks(s);
  s.in(". 24821:26281 ack 1");
  EXPECT_EQ(s.out(), ". 1:1 ack 23361 sack 24821:26281");
  s.in(". 23361:24821 ack 1");
  EXPECT_EQ(s.out(), ". 1:1 ack 26281");
  s.in(". 23361:24821 ack 1");
  EXPECT_EQ(s.out(), ". 1:1 ack 26281 sack 23361:24821");  // RFC 2883
  EXPECT_EQ(s.out(), "-");
  EXPECT_EQ(s.endpoint().counters().duplicate_bytes_in, 1460u);
  s.consume(2920);
}

TEST(Receive, SackBlocksComeMostRecentFirst) {
  Script s;
  s.establish_as_server();
  s.in(". 101:201 ack 1");
  EXPECT_EQ(s.out(), ". 1:1 ack 1 sack 101:201");
  s.in(". 501:601 ack 1");
  EXPECT_EQ(s.out(), ". 1:1 ack 1 sack 501:601,101:201");
  s.in(". 301:401 ack 1");
  EXPECT_EQ(s.out(), ". 1:1 ack 1 sack 301:401,501:601,101:201");
  s.in(". 701:801 ack 1");
  EXPECT_EQ(s.out(), ". 1:1 ack 1 sack 701:801,301:401,501:601,101:201");
  s.in(". 901:1001 ack 1");
  EXPECT_EQ(s.out(), ". 1:1 ack 1 sack 901:1001,701:801,301:401,501:601");
  s.in(". 201:301 ack 1");  // joins the first two blocks
  EXPECT_EQ(s.out(), ". 1:1 ack 1 sack 101:401,901:1001,701:801");
  s.in(". 1:101 ack 1");
  EXPECT_EQ(s.out(), ". 1:1 ack 401 sack 901:1001,701:801");
  s.consume(400);
}

TEST(Receive, ThreeBlocksFitBesideTimestamps) {
  Script s;
  s.establish_as_server("mss 1460 sackok ts 1 0");
  for (const int at : {101, 301, 501, 701}) {
    s.in(". " + std::to_string(at) + ":" + std::to_string(at + 100) + " ack 1 ts 2 1000");
  }
  EXPECT_EQ(s.out(), ". 1:1 ack 1 ts 1000 1 sack 701:801,501:601,301:401");
}

TEST(Receive, OverlapIsStoredOnce) {
  Script s;
  s.establish_as_server();
  s.in(". 1:101 ack 1");
  s.in(". 51:151 ack 1");
  EXPECT_EQ(s.out(), ". 1:1 ack 151 sack 51:101");
  s.consume(150);
}

// --- the window we offer -------------------------------------------------------------------------

Script::Setup limited(std::uint64_t limit) {
  Config config = Script::plain_config();
  config.receive_limit = limit;
  return {config};
}

TEST(Window, ShrinksAsDataWaitsAndReopensWithoutSilliness) {
  Script s(limited(4000));
  s.establish_as_server("mss 1000 sackok");
  s.in(". 1:1001 ack 1");
  s.out();
  EXPECT_EQ(s.window(), 3000u);
  s.in(". 1001:4001 ack 1");
  EXPECT_EQ(s.out(), ". 1:1 ack 4001");
  EXPECT_EQ(s.window(), 0u);
  s.consume(1000);
  EXPECT_EQ(s.out(), "-");  // less than min(limit / 2, MSS)
  s.consume(459);
  EXPECT_EQ(s.out(), "-");
  s.consume(1);
  EXPECT_EQ(s.out(), ". 1:1 ack 4001");
  EXPECT_EQ(s.window(), 1460u);
  EXPECT_EQ(s.out(), "-");
}

TEST(Window, NoUpdateWhileThereIsRoom) {
  Script s;
  s.establish_as_server();
  s.in(". 1:1461 ack 1");
  s.out();
  s.consume(1460);
  EXPECT_EQ(s.out(), "-");
}

TEST(Window, DataBeyondTheEdgeIsNotTaken) {
  Script s(limited(1000));
  s.establish_as_server();
  s.in(". 1:1201 ack 1");
  EXPECT_EQ(s.out(), ". 1:1 ack 1001");
  EXPECT_EQ(s.window(), 0u);
  s.in(". 1001:1002 ack 1");  // a window probe
  EXPECT_EQ(s.out(), ". 1:1 ack 1001");
  s.in(". 2001:2101 ack 1");
  EXPECT_EQ(s.out(), ". 1:1 ack 1001");
  EXPECT_EQ(s.endpoint().received().stored(), 1000u);
  s.consume(1000);
}

TEST(Window, AckOnAProbeOfTheClosedWindowStillCounts) {
  Script s(limited(1000));
  s.establish_as_server();
  s.write(100);
  EXPECT_EQ(s.out(), "P. 1:101 ack 1");
  s.in(". 1:1001 ack 1");
  s.out();
  s.in(". 1001:1002 ack 101");
  EXPECT_EQ(s.endpoint().sending().unacknowledged(), 0u);
}

TEST(Window, LoweredLimitTakesNothingBack) {
  Script s(limited(10'000));
  s.establish_as_server();
  s.endpoint().set_receive_limit(2000);
  s.in(". 1:1461 ack 1");
  s.out();
  EXPECT_EQ(s.window(), 10'000u - 1460);
  s.in(". 1461:10001 ack 1");
  s.out();
  EXPECT_EQ(s.window(), 0u);
  EXPECT_EQ(s.endpoint().received().readable(), 10'000u);
  s.consume(9000);
  EXPECT_EQ(s.out(), ". 1:1 ack 10001");
  EXPECT_EQ(s.window(), 1000u);
}

TEST(Window, RaisedLimitIsAnnouncedWhenThePeerMayBeWaiting) {
  Script s(limited(1000));
  s.establish_as_server();
  s.in(". 1:1001 ack 1");
  s.out();
  s.endpoint().set_receive_limit(50'000);
  EXPECT_EQ(s.out(), ". 1:1 ack 1001");
  EXPECT_EQ(s.window(), 49'000u);
}

TEST(Window, LimitZeroClosesAndReopens) {
  Script s(limited(3000));
  s.establish_as_server();
  s.endpoint().set_receive_limit(0);
  s.in(". 1:3001 ack 1");
  s.out();
  EXPECT_EQ(s.window(), 0u);
  s.consume(3000);
  EXPECT_EQ(s.out(), "-");
  s.endpoint().set_receive_limit(3000);
  EXPECT_EQ(s.out(), ". 1:1 ack 3001");
  EXPECT_EQ(s.window(), 3000u);
}

TEST(Window, ScaledFieldRoundsUpByLessThanAUnit) {
  Config config = Script::plain_config();
  config.receive_limit = 2000;
  config.window_scale = 14;
  Script s({config});
  s.establish_as_server("mss 1460 sackok ws 0");
  s.in(". 1:1001 ack 1");
  s.out();
  EXPECT_EQ(s.window(), 1U << 14);  // less than a unit, but not shown as closed
  s.in(". 1001:2001 ack 1");
  s.in(". 2001:3001 ack 1");
  s.out();
  EXPECT_EQ(s.window(), 0u);
  EXPECT_GE(s.endpoint().received().readable(), 2000u);  // what was promised is stored
  s.consume(3000);
  EXPECT_EQ(s.out(), ". 1:1 ack 3001");
  EXPECT_EQ(s.window(), 1U << 14);
}

// --- arena ---------------------------------------------------------------------------------------

TEST(Memory, WhatCannotBeStoredIsNotAcknowledged) {
  Script::Setup setup = limited(64'000);
  setup.arena_bytes = 4 * 1024;
  setup.block_size = 1024;
  Script s(setup);
  s.establish_as_server();
  EXPECT_LE(s.endpoint().receiving().window(), 4096u);
  std::vector<BlockIndex> taken(3);
  for (BlockIndex& block : taken) block = s.arena().allocate();
  s.in(". 1:1461 ack 1");
  EXPECT_EQ(s.out(), ". 1:1 ack 1025");
  s.in(". 1025:1461 ack 1");
  EXPECT_EQ(s.out(), ". 1:1 ack 1025");
  EXPECT_EQ(s.endpoint().counters().unstored_bytes_in, 436u + 436u);
  for (const BlockIndex block : taken) s.arena().release(block);
  s.in(". 1025:1461 ack 1");
  s.consume(1460);
}

TEST(Memory, LastBlocksAreKeptForInOrderData) {
  Script::Setup setup = limited(64'000);
  setup.arena_bytes = 8 * 1024;
  setup.block_size = 1024;
  Script s(setup);
  s.establish_as_server();
  EXPECT_EQ(s.endpoint().write(pattern_bytes(0, 8192)), 5u * 1024);
  s.in(". 1025:2049 ack 1");  // out of order: the reserve is not used
  EXPECT_EQ(s.out().substr(0, 15), ". 1:1461 ack 1");
  s.in(". 1:1025 ack 1");
  EXPECT_EQ(s.endpoint().received().readable(), 1024u);
}

// Single bytes, each of which makes a piece of its own. A few are kept, and the others are treated
// as lost. The stream goes on all the same.
TEST(Memory, ScatteredBytesAreKeptInAFewPieces) {
  Script s(limited(64'000));
  s.establish_as_server();
  for (std::uint32_t i = 0; i < 1000; ++i) {
    const std::uint32_t at = 3 + 2 * (i * 389 % 1000);
    s.in(". " + std::to_string(at) + ":" + std::to_string(at + 1) + " ack 1");
    s.out();
  }
  const RangeSet& kept = s.endpoint().received().out_of_order();
  const std::size_t most = Reassembler::kFewestPieces;
  EXPECT_EQ(kept.range_count(), most);
  EXPECT_EQ(s.endpoint().counters().scattered_bytes_in, 1000u - most);
  EXPECT_EQ(s.endpoint().counters().bytes_in, most);
  // A byte that extends a piece or closes a gap is always stored.
  const Range first = kept.ranges().front();
  s.in(". " + std::to_string(first.end + 1) + ":" + std::to_string(first.end + 2) + " ack 1");
  s.out();
  EXPECT_EQ(kept.ranges().front().end, first.end + 1);
  s.in(". 1:1461 ack 1");
  s.out_all();
  s.in(". 1461:2921 ack 1");
  EXPECT_EQ(s.out_all().back().substr(0, 15), ". 1:1 ack 2921 ");
  EXPECT_TRUE(kept.empty());
  s.consume(2920);
}

// --- zero window ---------------------------------------------------------------------------------

TEST(ZeroWindow, IsProbedWithBackoffForAsLongAsThePeerAnswers) {
  Script s;
  s.establish_as_server();
  s.in(". 1:1 ack 1 win 0");
  s.write(5000);
  EXPECT_EQ(s.out(), "-");
  Duration last;
  for (int i = 0; i < 40; ++i) {
    const Duration waited = s.wait_for_timer();
    EXPECT_GE(waited, last);
    EXPECT_LE(waited, Duration::seconds(60));
    last = waited;
    EXPECT_EQ(s.out(), ". 0:0 ack 1");
    EXPECT_EQ(s.out(), "-");
    s.in(". 1:1 ack 1 win 0");
    EXPECT_EQ(s.out(), "-");
  }
  EXPECT_EQ(last, Duration::seconds(60));
  s.in(". 1:1 ack 1 win 3000");
  EXPECT_EQ(s.out_all(), (Lines{". 1:1461 ack 1", ". 1461:2921 ack 1"}));
  EXPECT_EQ(s.endpoint().counters().zero_window_probes, 40u);
}

TEST(ZeroWindow, UnansweredProbesEndTheConnection) {
  Script s;
  s.establish_as_server();
  s.in(". 1:1 ack 1 win 0");
  s.write(1);
  s.out();
  for (int i = 0; i < 22; ++i) {
    s.wait_for_timer();
    EXPECT_EQ(s.out(), ". 0:0 ack 1");
  }
  s.wait_for_timer();
  EXPECT_EQ(s.endpoint().lifecycle().reason(), CloseReason::kTimeout);
  EXPECT_EQ(s.out(), "R. 1:1 ack 1");
}

TEST(ZeroWindow, FinIsProbedForToo) {
  Script s;
  s.establish_as_server();
  s.in(". 1:1 ack 1 win 0");
  s.endpoint().close();
  EXPECT_EQ(s.out(), "-");
  s.wait_for_timer();
  EXPECT_EQ(s.out(), ". 0:0 ack 1");
  s.in(". 1:1 ack 1 win 10");
  EXPECT_EQ(s.out(), "F. 1:1 ack 1");
}

TEST(ZeroWindow, OverDataInFlightIsNotATimeoutWhileThePeerAnswers) {
  Script s;
  s.establish_as_server();
  s.write(1000);
  EXPECT_EQ(s.out(), "P. 1:1001 ack 1");
  for (int i = 0; i < 30; ++i) {
    s.in(". 1:1 ack 1 win 0");
    s.wait_for_timer();
    EXPECT_EQ(s.out(), "P. 1:1001 ack 1");
  }
  s.in(". 1:1 ack 1001 win 5000");
  EXPECT_EQ(s.endpoint().sending().unacknowledged(), 0u);
}

TEST(ZeroWindow, SmallOpeningIsUsedAfterTheOverrideTimeout) {
  Script s;
  s.establish_as_server();
  s.in(". 1:1 ack 1 win 100");
  s.write(5000);
  EXPECT_EQ(s.out(), "-");  // too small a window to use
  s.wait_for_timer();
  EXPECT_EQ(s.out(), ". 1:101 ack 1");
  s.in(". 1:1 ack 101 win 1460");
  EXPECT_EQ(s.out(), ". 101:1561 ack 1");
}

// A host that never has room for more than one octet. Such a host once drew 76,683 segments in 15
// s.
TEST(SillyWindow, OfAnOctetIsUsedAtThePaceOfTheOverrideTimer) {
  Script s;
  s.establish_as_server("mss 1460 sackok", 1);
  s.write(5000);
  EXPECT_EQ(s.out(), "-");
  int segments = 0;
  const Instant end = s.now() + Duration::seconds(15);
  for (std::uint64_t next = 1; s.now() < end; ++next) {
    s.wait_for_timer();
    const std::string range = std::to_string(next) + ":" + std::to_string(next + 1);
    ASSERT_EQ(s.out(), ". " + range + " ack 1");
    ++segments;
    s.wait(ms(1));
    s.in(". 1:1 ack " + std::to_string(next + 1) + " win 1");
    EXPECT_EQ(s.out(), "-");
  }
  EXPECT_GE(segments, 60);
  EXPECT_LE(segments, 75) << "one every 200 ms";
  // A host that sends more often than that does not postpone the timer.
  Script speaks;
  speaks.establish_as_server("mss 1460 sackok", 16);
  speaks.write(5000);
  segments = 0;
  std::uint64_t acknowledged = 1;
  for (int i = 0; i < 20; ++i) {
    speaks.wait(ms(100));
    for (std::string out = speaks.out(); out != "-"; out = speaks.out()) {
      const std::string sent =
          " " + std::to_string(acknowledged) + ":" + std::to_string(acknowledged + 16) + " ";
      if (out.find(sent) == std::string::npos) continue;
      acknowledged += 16;
      ++segments;
    }
    // The window of this host closes now and then, and opens again.
    const std::string begin = std::to_string(1 + i * 10);
    speaks.in(". " + begin + ":" + std::to_string(11 + i * 10) + " ack " +
              std::to_string(acknowledged) + (i % 3 == 2 ? " win 0" : " win 16"));
    if (i % 3 == 2) {
      speaks.in(". " + std::to_string(11 + i * 10) + ":" + std::to_string(11 + i * 10) + " ack " +
                std::to_string(acknowledged) + " win 16");
    }
  }
  EXPECT_GE(segments, 4) << "in 2 s";
  EXPECT_LE(segments, 11);
  speaks.consume(200);
  // The sender uses a window at once if all its bytes fit, or if a small host may have no larger
  // one.
  Script last;
  last.establish_as_server("mss 1460 sackok", 1);
  last.write(1);
  EXPECT_EQ(last.out(), "P. 1:2 ack 1");
  Script small;
  small.establish_as_server("mss 1460 sackok", 64);
  small.write(5000);
  EXPECT_EQ(small.out(), ". 1:65 ack 1");
}

}  // namespace
}  // namespace satrelay::tcp::test::data_test
