// RATE: one end tells the other the capacity of the direction towards itself.
#include "pep/stp/connection/capacity_announcement.h"

#include <gtest/gtest.h>

#include "tests/unit/pep/stp/application.h"

namespace satrelay::stp::test::capacity_announcement_test {
namespace {

BitRate megabits(std::uint64_t n) { return BitRate::bits_per_second(n * 1'000'000); }

TEST(CapacityAnnouncementTest, TheNewestReplacesWhatIsStillToBeSaid) {
  CapacityAnnouncement own;
  EXPECT_FALSE(own.due());
  own.announce(megabits(5));
  own.announce(megabits(7));
  const RateFrame frame = own.take();
  EXPECT_EQ(frame.capacity, megabits(7));
  EXPECT_FALSE(own.due());
  own.announce(megabits(9));
  const RateFrame newer = own.take();
  own.on_lost(frame.sequence);
  EXPECT_FALSE(own.due()) << "the lost one has been replaced";
  own.on_lost(newer.sequence);
  EXPECT_EQ(own.take().capacity, megabits(9));
}

TEST(CapacityAnnouncementTest, ANewPeerIsToldWhatHolds) {
  CapacityAnnouncement own;
  own.on_new_session();
  EXPECT_FALSE(own.due());
  own.announce(megabits(5));
  own.take();
  own.on_new_session();
  EXPECT_EQ(own.take().capacity, megabits(5));
  own.announce(BitRate());
  own.take();
  own.on_new_session();
  EXPECT_FALSE(own.due());
}

TEST(AnnouncedCapacityTest, AnOvertakenAnnouncementHasNoEffect) {
  AnnouncedCapacity of_peer;
  EXPECT_TRUE(of_peer.accept({2, megabits(5)}));
  EXPECT_FALSE(of_peer.accept({1, megabits(50)}));
  EXPECT_FALSE(of_peer.accept({2, megabits(50)}));
  EXPECT_EQ(of_peer.capacity(), megabits(5));
  EXPECT_FALSE(of_peer.accept({3, megabits(5)}));
  EXPECT_TRUE(of_peer.accept({4, megabits(6)}));
}

class CapacityTest : public ::testing::Test {
 protected:
  void start(double loss) {
    net.emplace(end_config(true), end_config(false), Duration::milliseconds(250),
                ChannelFaults{.loss = loss}, 1);
    net->start(0, 1000);
    net->start(1, 2000);
    ASSERT_TRUE(net->run(Duration::seconds(20),
                         [&] { return net->apps[0].alive > 0 && net->apps[1].alive > 0; }));
  }
  bool heard(BitRate capacity, Duration time) {
    return net->run(time, [&] { return net->session(1).peer_capacity() == capacity; });
  }
  std::optional<Network> net;
};

TEST_F(CapacityTest, ReachesThePeerInHalfARoundTrip) {
  start(0);
  net->session(0).announce_capacity(megabits(5));
  EXPECT_TRUE(heard(megabits(5), Duration::milliseconds(251)));
  EXPECT_EQ(net->apps[1].capacities, 1);
  net->run(Duration::seconds(10));
  EXPECT_EQ(net->session(0).counters().capacities_out, 1U) << "said once, and settled";
  net->session(0).announce_capacity(BitRate());
  EXPECT_TRUE(heard(BitRate(), Duration::milliseconds(251)));
}

TEST_F(CapacityTest, IsRepeatedUntilItArrives) {
  start(0);
  net->channels[0].outage = true;
  net->session(0).announce_capacity(megabits(5));
  net->run(Duration::seconds(5));
  EXPECT_TRUE(net->session(1).peer_capacity().is_zero());
  net->channels[0].outage = false;
  EXPECT_TRUE(heard(megabits(5), Duration::seconds(2)));
}

TEST_F(CapacityTest, TheLastOfManyHoldsWhateverIsLost) {
  start(0.3);
  for (std::uint64_t n = 1; n <= 100; ++n) {
    net->session(0).announce_capacity(megabits(n));
    net->run(Duration::milliseconds(20));
  }
  EXPECT_TRUE(heard(megabits(100), Duration::seconds(20)));
  net->run(Duration::seconds(20));
  EXPECT_EQ(net->session(1).peer_capacity(), megabits(100));
}

TEST_F(CapacityTest, AnEndThatHasRestartedIsToldAgainAndForgetsWhatItWasTold) {
  start(0);
  net->session(0).announce_capacity(megabits(5));
  ASSERT_TRUE(heard(megabits(5), Duration::seconds(1)));
  net->stop(1);
  net->start(1, 3000);
  EXPECT_TRUE(net->session(1).peer_capacity().is_zero());
  EXPECT_TRUE(heard(megabits(5), Duration::seconds(3)));
  // The announcing end restarts, so nothing is announced any more.
  net->stop(0);
  net->start(0, 4000);
  EXPECT_TRUE(heard(BitRate(), Duration::seconds(3)));
}

}  // namespace
}  // namespace satrelay::stp::test::capacity_announcement_test
