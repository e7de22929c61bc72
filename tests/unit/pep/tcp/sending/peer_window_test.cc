// The peer's window, and the persist timer.
#include "pep/tcp/sending/peer_window.h"

#include <gtest/gtest.h>

#include "tests/unit/pep/tcp/sending/parts.h"

namespace satrelay::tcp::test::peer_window_test {
namespace {

constexpr Duration kRto = Duration::milliseconds(300);

Acknowledgment with_window(std::uint64_t ack, std::uint64_t window, std::int64_t sequence = 0) {
  Acknowledgment acknowledgment;
  acknowledgment.ack = ack;
  acknowledgment.window = window;
  acknowledgment.sequence = sequence;
  return acknowledgment;
}

TEST(PeerWindow, AnOlderSegmentChangesTheWindowOnlyIfItAcknowledgesData) {
  Parts parts;
  PeerWindow peer;
  peer.establish(5000);
  EXPECT_EQ(peer.edge(), 5000u);
  EXPECT_TRUE(peer.take(with_window(0, 4000, 10), {0, 2000}, kRto, parts.around(), at_ms(0)));
  EXPECT_FALSE(peer.take(with_window(0, 9000, 9), {0, 2000}, kRto, parts.around(), at_ms(0)));
  EXPECT_EQ(peer.edge(), 4000u);
  EXPECT_TRUE(peer.take(with_window(1000, 9000, 9), {0, 2000}, kRto, parts.around(), at_ms(0)));
  EXPECT_EQ(peer.edge(), 10'000u);
  EXPECT_EQ(peer.beyond(9000), 1000u);
  EXPECT_EQ(peer.beyond(11'000), 0u);
  EXPECT_EQ(peer.largest(), 9000u);
}

TEST(PeerWindow, HalfTheLargestWindowIsWorthwhile) {
  PeerWindow peer;
  peer.establish(1001);
  EXPECT_FALSE(peer.makes_worthwhile(500));
  EXPECT_TRUE(peer.makes_worthwhile(501));
}

TEST(PeerWindow, ClosedWindowIsProbedWithBackOffUntilThePeerIsGivenUp) {
  Profile profile;
  profile.data_retries = 2;
  Parts parts(profile);
  PeerWindow peer;
  peer.establish(0);
  peer.wait_for_room(kRto, parts.around(), at_ms(0));
  EXPECT_EQ(parts.deadline(Timer::kPersist), at_ms(300));
  EXPECT_EQ(peer.handle_timeout(0, true, parts.around(), at_ms(300)), TimeoutOutcome::kContinues);
  EXPECT_EQ(parts.deadline(Timer::kPersist), at_ms(900));
  EXPECT_TRUE(peer.take_urgent_probe());
  EXPECT_TRUE(peer.take_probe());
  EXPECT_FALSE(peer.owes_probe());
  peer.on_answer();
  EXPECT_EQ(peer.probes_unanswered(), 0u);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(peer.handle_timeout(0, false, parts.around(), at_ms(900)),
              TimeoutOutcome::kContinues);
  }
  EXPECT_EQ(peer.handle_timeout(0, false, parts.around(), at_ms(900)), TimeoutOutcome::kGivesUp);
}

TEST(PeerWindow, TinyWindowIsUsedWhenTheTimerExpires) {
  Parts parts;
  PeerWindow peer;
  peer.establish(0);
  peer.wait_for_room(kRto, parts.around(), at_ms(0));
  EXPECT_TRUE(peer.take(with_window(0, 10), {0, 0}, kRto, parts.around(), at_ms(100)));
  EXPECT_EQ(parts.deadline(Timer::kPersist), at_ms(300));  // never later
  EXPECT_FALSE(peer.makes_worthwhile(10));
  peer.handle_timeout(0, false, parts.around(), at_ms(300));
  EXPECT_FALSE(peer.owes_probe());
  EXPECT_TRUE(peer.makes_worthwhile(10));
  peer.on_sent(parts.around());
  EXPECT_FALSE(peer.makes_worthwhile(10));
  EXPECT_FALSE(parts.armed(Timer::kPersist));
}

}  // namespace
}  // namespace satrelay::tcp::test::peer_window_test
