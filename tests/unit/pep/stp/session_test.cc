// One stream at a time between two sessions.
#include <gtest/gtest.h>

#include "pep/stp/wire/packet.h"
#include "tests/unit/pep/stp/application.h"

namespace satrelay::stp::test {
namespace {

class SessionTest : public ::testing::Test {
 protected:
  explicit SessionTest(ChannelFaults faults = {})
      : net(end_config(true), end_config(false), Duration::milliseconds(275), faults, 1) {
    net.start(0, 1000);
    net.start(1, 2000);
    net.run(Duration::seconds(2));
  }
  Network net;
};

TEST_F(SessionTest, BothSidesBecomeAlive) {
  EXPECT_EQ(net.session(0).peer_state(), PeerState::kAlive);
  EXPECT_EQ(net.session(1).peer_state(), PeerState::kAlive);
  EXPECT_EQ(net.session(0).peer_epoch(), 2000U);
  EXPECT_EQ(net.session(1).peer_epoch(), 1000U);
  EXPECT_EQ(net.apps[0].alive, 1);
  EXPECT_EQ(net.apps[1].alive, 1);
  EXPECT_NEAR(net.session(0).smoothed_rtt().to_seconds(), 0.55, 0.01);
}

TEST_F(SessionTest, MovesAStreamBothWays) {
  ASSERT_TRUE(net.apps[0].open(1'000'000, 300'000, net.now));
  EXPECT_TRUE(net.run(Duration::seconds(10), [&] {
    return net.apps[0].finished_flows == 1 && net.apps[1].finished_flows == 1;
  })) << net.error();
  EXPECT_EQ(net.error(), "");
  EXPECT_EQ(net.apps[1].bytes_read, 1'000'000U);
  EXPECT_EQ(net.apps[0].bytes_read, 300'000U);
  net.run(Duration::seconds(2));
  EXPECT_EQ(net.ends[0]->arena().used_blocks(), 0U);
  EXPECT_EQ(net.ends[1]->arena().used_blocks(), 0U);
  EXPECT_EQ(net.session(0).stream_count(), 0U);
  EXPECT_EQ(net.session(1).stream_count(), 0U);
  EXPECT_EQ(net.session(0).counters().packets_lost, 0U);
}

// What is sent on a silent path is large and small in turn, and each connection begins with a large
// one: none takes up where that with another peer has stopped.
TEST_F(SessionTest, AConnectionRemembersNothingOfTheOneBefore) {
  int large = 0;
  Instant first_large, outage;
  net.on_packet = [&](int end, ConstBytes packet) {
    if (end == 0 && packet.size() > 1200 && large++ == 0) first_large = net.now;
  };
  const auto fall_silent = [&] {
    ASSERT_TRUE(net.apps[0].open(1, 1, net.now));
    net.run(Duration::seconds(10), [&] { return net.apps[0].finished_flows == 1; });
    net.apps[0].finished_flows = 0;
    large = 0;
    outage = net.now;
    net.channels[0].outage = net.channels[1].outage = true;
    net.run(Duration::seconds(60), [&] { return large == 2; });
    net.channels[0].outage = net.channels[1].outage = false;
    net.run(Duration::seconds(30), [&] { return net.both_alive(); });
  };
  fall_silent();
  const Duration patience = first_large - outage;
  // The next one would be small.
  net.channels[0].outage = net.channels[1].outage = true;
  net.run(Duration::seconds(60), [&] { return large == 3; });
  net.channels[0].outage = net.channels[1].outage = false;
  net.start(1, 3000);
  ASSERT_TRUE(net.run(Duration::seconds(30), [&] { return net.session(0).peer_epoch() == 3000; }));
  net.run(Duration::seconds(5));
  fall_silent();
  EXPECT_EQ(first_large - outage, patience);
}

}  // namespace
}  // namespace satrelay::stp::test
