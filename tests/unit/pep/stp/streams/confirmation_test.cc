#include "pep/stp/streams/confirmation.h"

#include <gtest/gtest.h>

#include "tests/unit/pep/stp/application.h"

namespace satrelay::stp::test::confirmation_test {
namespace {

TEST(ConfirmationExchangeTest, OnlyTheNewestCountsAndNothingIsTakenBack) {
  ConfirmationExchange exchange;
  EXPECT_FALSE(exchange.hear(0, {.answered = true})) << "frames are numbered from 1 on";
  EXPECT_TRUE(exchange.hear(5, {.answered = true, .delivered = 100, .window = 10}));
  EXPECT_FALSE(exchange.hear(4, {.delivered = 200}));
  EXPECT_TRUE(exchange.hear(6, {.delivered = 50, .window = 20}));
  EXPECT_EQ(exchange.theirs(), (Confirmation{.answered = true, .delivered = 100, .window = 20}));
  EXPECT_FALSE(exchange.hear(7, {.delivered = 60, .window = 20})) << "nothing new";
}

TEST(ConfirmationExchangeTest, OfUrgentMarksTheNewestCountsHoweverFarAnotherWas) {
  ConfirmationExchange exchange;
  EXPECT_TRUE(exchange.hear(1, {.urgent = {.mark = std::uint64_t{1} << 60U}}));
  EXPECT_TRUE(exchange.hear(3, {.urgent = {.after = 5, .mark = 9}}));
  EXPECT_FALSE(exchange.hear(2, {.urgent = {.mark = 7}}));
  EXPECT_FALSE(exchange.hear(4, {}));
  EXPECT_EQ(exchange.theirs().urgent, (UrgentNotice{.after = 5, .mark = 9}));
}

TEST(ConfirmationExchangeTest, IsAcknowledgedWhenItsLastFrameIs) {
  ConfirmationExchange exchange;
  EXPECT_TRUE(exchange.all_acknowledged());
  EXPECT_TRUE(exchange.say({.answered = true}));
  EXPECT_FALSE(exchange.say({.answered = true}));
  const std::uint64_t first = exchange.on_sent();
  const std::uint64_t second = exchange.on_sent();
  EXPECT_FALSE(exchange.is_newest(first));
  EXPECT_TRUE(exchange.is_newest(second));
  exchange.on_acknowledged(first);
  EXPECT_FALSE(exchange.all_acknowledged());
  exchange.on_acknowledged(second);
  EXPECT_TRUE(exchange.all_acknowledged());
}

// The path loses 30% of all packets. The newest state arrives, and its sender knows that it has.
TEST(ConfirmationTest, ArrivesWhateverIsLost) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Network net(end_config(true), end_config(false), Duration::milliseconds(275), {.loss = 0.3},
                seed);
    net.start(0, 1000);
    net.start(1, 2000);
    ASSERT_TRUE(net.run(Duration::seconds(30), [&] {
      return net.session(0).peer_state() == PeerState::kAlive &&
             net.session(1).peer_state() == PeerState::kAlive;
    }));
    const auto id = net.apps[0].open(1'000, 50'000'000, net.now);
    ASSERT_TRUE(id);
    for (std::uint64_t i = 1; i <= 50; ++i) {
      net.session(0).streams().confirm(*id, {.answered = true, .delivered = i * 1'000, .window = i},
                                       net.now);
      net.run(Duration::milliseconds(20));
    }
    EXPECT_TRUE(
        net.run(Duration::seconds(20), [&] { return net.session(0).streams().confirmed(*id); }));
    EXPECT_EQ(net.session(1).streams().confirmation(*id),
              (Confirmation{.answered = true, .delivered = 50'000, .window = 50}));
    // Progress is not sent more often than reports are.
    EXPECT_LT(net.session(0).counters().confirmations_out, 60U);
    EXPECT_EQ(net.error(), "");
  }
}

// Another stream may have sent its progress just before.
TEST(ConfirmationTest, TheFirstUrgentMarkDoesNotWaitForTheClock) {
  Network net(end_config(true), end_config(false), Duration::milliseconds(275), {}, 1);
  net.start(0, 1000);
  net.start(1, 2000);
  net.run(Duration::seconds(5));
  const auto busy = net.apps[0].open(1'000, 50'000'000, net.now);
  const auto marked = net.apps[0].open(1'000, 50'000'000, net.now);
  ASSERT_TRUE(busy && marked);
  net.run(Duration::seconds(2));
  const auto frames = [&] { return net.session(0).counters().confirmations_out; };
  net.session(0).streams().confirm(*busy, {.window = 1}, net.now);
  net.run(Duration::milliseconds(1));
  EXPECT_EQ(frames(), 1U);
  net.session(0).streams().confirm(*marked, {.urgent = {.after = 0, .mark = 5}}, net.now);
  net.run(Duration::milliseconds(1));
  EXPECT_EQ(frames(), 2U);
  net.session(0).streams().confirm(*marked, {.urgent = {.after = 5, .mark = 9}}, net.now);
  net.run(Duration::milliseconds(1));
  EXPECT_EQ(frames(), 2U);
}

// A receiver does not record a packet that names a stream before its OPEN. So the packet would
// count as lost.
TEST(ConfirmationTest, FollowsItsOpen) {
  EndConfig end = end_config(true);
  end.session.repair.mode = FecMode::kOff;
  EndConfig other = end_config(false);
  other.session.repair.mode = FecMode::kOff;
  Network net(end, other, Duration::milliseconds(275), {}, 1);
  net.start(0, 1000);
  net.start(1, 2000);
  net.run(Duration::seconds(5));
  for (int i = 0; i < 10; ++i) {
    const auto id = net.apps[0].open(1'000, 10'000, net.now);
    ASSERT_TRUE(id);
    net.session(0).streams().confirm(*id, {.answered = true}, net.now);
    net.run(Duration::milliseconds(400));
    EXPECT_TRUE(net.session(1).streams().confirmation(*id).answered);
  }
  net.run(Duration::seconds(5));
  EXPECT_EQ(net.session(0).counters().packets_lost, 0U);
  EXPECT_EQ(net.session(0).counters().confirmations_out, 10U);
  EXPECT_EQ(net.error(), "");
}

// A packet is refused, because the OPEN of its stream was lost, and the path duplicates it. It must
// not count as received twice: the sender would never again believe a report of more bytes than
// were sent.
TEST(ConfirmationTest, RefusedTwiceIsNotReceivedTwice) {
  EndConfig end = end_config(true);
  end.session.repair.mode = FecMode::kOff;
  EndConfig other = end_config(false);
  other.session.repair.mode = FecMode::kOff;
  Network net(end, other, Duration::milliseconds(275), {.duplicate = 1.0}, 1);
  net.start(0, 1000);
  net.start(1, 2000);
  net.run(Duration::seconds(5));
  net.channels[0].outage = true;
  const auto id = net.apps[0].open(1'000, 100'000'000, net.now);
  ASSERT_TRUE(id);
  net.run(Duration::milliseconds(1));
  net.channels[0].outage = false;
  for (std::uint64_t i = 1; i <= 20; ++i) {
    net.session(0).streams().confirm(*id, {.answered = true, .window = i}, net.now);
    net.run(Duration::milliseconds(25));
  }
  net.run(Duration::seconds(10));
  EXPECT_EQ(net.session(0).counters().malformed, 0U);
  EXPECT_GT(net.session(1).counters().refused_packets_in, 0U);
  EXPECT_EQ(net.session(1).streams().confirmation(*id),
            (Confirmation{.answered = true, .window = 20}));
  EXPECT_EQ(net.error(), "");
}

}  // namespace
}  // namespace satrelay::stp::test::confirmation_test
