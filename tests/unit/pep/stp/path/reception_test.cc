// A receiver reports about its own machine, and the sender attributes losses to that machine.
#include "pep/stp/path/reception.h"

#include <gtest/gtest.h>

namespace satrelay::stp::reception_test {
namespace {

constexpr Instant at(std::int64_t ms) { return Instant::from_nanoseconds(ms * 1'000'000); }
constexpr Duration ms(std::int64_t n) { return Duration::milliseconds(n); }

TEST(OwnReceptionTest, TellsOnlyWhatIsWorthIt) {
  OwnReception own;
  EXPECT_FALSE(own.has_news(3));
  own.on_packet({Duration::microseconds(900), 1'000}, true);  // missed before this session
  EXPECT_FALSE(own.has_news(3));
  own.on_packet({ms(50), 1'000}, true);
  ASSERT_TRUE(own.has_news(3));
  ReceptionFrame frame = own.tell();
  EXPECT_EQ(frame.waited_us, 50'000U);
  EXPECT_EQ(frame.missed, 0U);
  // A packet that arrives late says nothing about the newest one.
  own.on_packet({ms(1), 1'000}, false);
  EXPECT_EQ(own.tell().waited_us, 50'000U);
  own.on_packet({ms(0), 1'000}, true);
  EXPECT_FALSE(own.has_news(3));
}

TEST(OwnReceptionTest, ACountStandsInSomeReports) {
  OwnReception own;
  own.on_packet({ms(0), 1'000}, true);
  own.on_packet({ms(0), 1'007}, true);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(own.has_news(3));
    const ReceptionFrame frame = own.tell();
    EXPECT_EQ(frame.missed, 7U);
    EXPECT_EQ(frame.waited_us, 0U);
  }
  EXPECT_FALSE(own.has_news(3));
  own.on_packet({ms(0), 1'008}, true);
  EXPECT_TRUE(own.has_news(3));
  // A port that was opened again counts from zero.
  own.on_packet({ms(0), 0}, true);
  EXPECT_EQ(own.tell().missed, 8U);
}

TEST(PeerReceptionTest, WhatIsToldFirstWaitsForItsLosses) {
  PeerReception peer;
  EXPECT_EQ(peer.on_told(2, at(0)), 0U);
  EXPECT_TRUE(peer.on_lost(at(10)));
  EXPECT_TRUE(peer.on_lost(at(20)));
  EXPECT_FALSE(peer.on_lost(at(30)));
  // The same count again, or a lower one, says nothing new.
  EXPECT_EQ(peer.on_told(2, at(40)), 0U);
  EXPECT_EQ(peer.on_told(1, at(40)), 0U);
  EXPECT_FALSE(peer.on_lost(at(50)));
}

TEST(PeerReceptionTest, LossesThatWereFoundFirstAreExplainedLater) {
  PeerReception peer;
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(peer.on_lost(at(10)));
  EXPECT_EQ(peer.on_told(3, at(100)), 3U);
  EXPECT_EQ(peer.on_told(10, at(200)), 2U);
  // Five of the second lot have not been found lost yet.
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(peer.on_lost(at(300)));
  EXPECT_FALSE(peer.on_lost(at(300)));
}

// The port may have missed packets of other senders, and the link may have lost packets before. So
// neither count is kept for long.
TEST(PeerReceptionTest, NeitherIsKeptForLong) {
  PeerReception peer;
  peer.on_told(5, at(0));
  EXPECT_FALSE(peer.on_lost(at(1'000)));
  EXPECT_EQ(peer.on_told(6, at(3'100)), 0U);
}

// However many packets the peer says it missed, no more count than were lost.
TEST(PeerReceptionTest, AnAbsurdCountExplainsOnlyLosses) {
  PeerReception peer;
  EXPECT_FALSE(peer.on_lost(at(0)));
  EXPECT_EQ(peer.on_told(kMaxVarint, at(10)), 1U);
  EXPECT_TRUE(peer.on_lost(at(20)));
  EXPECT_EQ(peer.on_told(kMaxVarint, at(30)), 0U);
  EXPECT_FALSE(peer.on_lost(at(1'200)));
}

}  // namespace
}  // namespace satrelay::stp::reception_test
