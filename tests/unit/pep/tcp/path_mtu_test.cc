// ICMP "too big" (RFC 1191, RFC 8201, RFC 5927).
#include "tests/unit/pep/tcp/script.h"

namespace satrelay::tcp::test::path_mtu_test {
namespace {

void too_big(Script& s, std::uint32_t sequence, std::uint16_t limit) {
  s.endpoint().handle_packet_too_big(kOurIsn + sequence, limit, s.now());
}

TEST(PathMtu, WhatIsUnderWayGoesAgainInSmallerSegmentsAtOnce) {
  for (const char* options : {"mss 1460 sackok", "mss 1460"}) {
    Script s;
    s.establish_as_server(options);
    s.write(4000);
    EXPECT_EQ(s.out_all().size(), 3u);
    too_big(s, 1, 1360);
    EXPECT_EQ(s.out_all(), (Lines{". 1:1361 ack 1", ". 1361:2721 ack 1", "P. 2721:4001 ack 1"}));
    // The error is no sign of congestion.
    EXPECT_EQ(s.endpoint().congestion_window(), 14'600u);
    EXPECT_EQ(s.endpoint().send_mss(), 1360);
    s.in(". 1:1 ack 4001");
    EXPECT_EQ(s.endpoint().counters().fast_recoveries, 0u);
    s.write(2000);
    EXPECT_EQ(s.out_all(), (Lines{". 4001:5361 ack 1", "P. 5361:6001 ack 1"}));
    EXPECT_EQ(s.endpoint().counters().path_mtu_reductions, 1u);
  }
}

TEST(PathMtu, OptionsCountAgainstIt) {
  Script s;
  s.establish_as_server("mss 1460 sackok ts 1 0");
  s.write(3000);
  s.out_all();
  too_big(s, 1, 1000);
  EXPECT_EQ(s.endpoint().send_mss(), 988);
  EXPECT_EQ(s.out().substr(0, 7), ". 1:989");
}

TEST(PathMtu, WhatWasSentBeforeTheQuotedSegmentIsNotRepeated) {
  Script s;
  s.establish_as_server();
  s.write(4000);
  s.out_all();
  too_big(s, 2921, 536);
  EXPECT_EQ(s.out().substr(0, 11), ". 2921:3457");
}

TEST(PathMtu, OnlyWhatQuotesOutstandingDataIsBelieved) {  // RFC 5927 section 4.1
  Script s;
  s.establish_as_server();
  s.write(1000);
  s.out();
  s.in(". 1:1 ack 501");
  for (const std::uint32_t sequence : {0U, 500U, 1001U, 50'000U, 0x8000'0000U}) {
    too_big(s, sequence, 536);
    EXPECT_EQ(s.endpoint().send_mss(), 1460) << sequence;
  }
  too_big(s, 501, 536);
  EXPECT_EQ(s.endpoint().send_mss(), 536);
}

TEST(PathMtu, NeverGrowsNorFallsWithoutBound) {
  Script s;
  s.establish_as_server();
  s.write(1000);
  s.out();
  too_big(s, 1, 1460);
  too_big(s, 1, 9000);
  EXPECT_EQ(s.out(), "-");
  too_big(s, 1, 0);
  EXPECT_EQ(s.endpoint().send_mss(), 512);
}

TEST(PathMtu, MeansNothingBeforeAndAfterTheConnection) {
  Script s;
  s.connect("mss 1460");
  s.out();
  too_big(s, 0, 536);
  s.in("S. 0:0 ack 1 mss 1460");
  EXPECT_EQ(s.endpoint().send_mss(), 1460);
  s.endpoint().abort(s.now());
  too_big(s, 1, 536);
  EXPECT_EQ(s.endpoint().counters().path_mtu_reductions, 0u);
}

}  // namespace
}  // namespace satrelay::tcp::test::path_mtu_test
