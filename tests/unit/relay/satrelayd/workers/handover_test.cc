#include "relay/satrelayd/workers/handover.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <array>
#include <thread>

#include "tests/unit/relay/dpdk/device/packet_fixture.h"

namespace satrelay::satrelayd::handover_test {
namespace {

using What = Handover::What;

class HandoverTest : public dpdk::PacketTest {
 protected:
  static Handover::Item item(std::uint8_t fill, What what = What::kFrame,
                             gateway::PortId port = gateway::PortId::kWan) {
    return {.what = what, .port = port, .packet = packet_of(100, fill)};
  }
  static bool rings(const Handover& handover, unsigned worker) {
    pollfd watched{.fd = handover.descriptor(worker), .events = POLLIN, .revents = 0};
    return ::poll(&watched, 1, 0) == 1;
  }
  static std::array<Handover::Item, Handover::kBurst> none() { return {}; }
};

TEST_F(HandoverTest, GivesInOrderToOneOnly) {
  eal();
  {
    Handover handover("four", 4);
    Handover::Item first = item(1, What::kSend, gateway::PortId::kLan), second = item(2);
    ASSERT_TRUE(handover.give(1, 3, first));
    ASSERT_TRUE(handover.give(1, 3, second));
    EXPECT_FALSE(first.packet);
    auto items = none();
    for (const auto& [to, from] : {std::pair(0U, 1U), std::pair(2U, 1U), std::pair(3U, 0U)}) {
      EXPECT_EQ(handover.take(to, from, items), 0U);
    }
    ASSERT_EQ(handover.take(3, 1, items), 2U);
    EXPECT_EQ(items[0].what, What::kSend);
    EXPECT_EQ(items[0].port, gateway::PortId::kLan);
    EXPECT_EQ(items[0].packet.bytes()[0], std::byte{1});
    EXPECT_EQ(items[1].what, What::kFrame);
    EXPECT_EQ(items[1].port, gateway::PortId::kWan);
    EXPECT_EQ(items[1].packet.bytes()[0], std::byte{2});
  }
  EXPECT_EQ(used(), 0U);
}

TEST_F(HandoverTest, TellsSinceWhenAPacketIsUnderWay) {
  eal();
  Handover handover("since", 2);
  const Instant since = Instant::from_nanoseconds(123'456'789'012'345'678);
  for (const What what : {What::kFrame, What::kHeard, What::kSend}) {
    Handover::Item one = item(1, what);
    one.since = since;
    ASSERT_TRUE(handover.give(0, 1, one));
  }
  auto items = none();
  ASSERT_EQ(handover.take(1, 0, items), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(items[i].since, since);
  EXPECT_EQ(items[2].what, What::kSend);
}

TEST_F(HandoverTest, TellsOfLossesAndDelays) {
  eal();
  Handover handover("notes", 3);
  handover.note_lost(0, 2);
  handover.note_lost(0, 2);
  handover.note_missed(0, 7);
  EXPECT_EQ(handover.lost(0, 2), 2U);
  EXPECT_EQ(handover.lost(0, 1), 0U);
  EXPECT_EQ(handover.lost(2, 0), 0U);
  EXPECT_EQ(handover.missed(0), 7U);
  EXPECT_EQ(handover.missed(1), 0U);
  EXPECT_FALSE(handover.take_late(1));
  const Instant since = Instant::from_nanoseconds(1'000);
  handover.note_late(1, since, since + Duration::milliseconds(3));
  EXPECT_FALSE(handover.take_late(2));
  const auto late = handover.take_late(1);
  ASSERT_TRUE(late);
  EXPECT_EQ(late->since, since);
  EXPECT_EQ(late->now, since + Duration::milliseconds(3));
  EXPECT_FALSE(handover.take_late(1)) << "told once";
  // Several bursts that leave late after one stall make one note.
  for (int i = 0; i < 3; ++i) {
    handover.note_late(1, since + Duration::milliseconds(10 + i),
                       since + Duration::milliseconds(20 + i));
  }
  const auto whole = handover.take_late(1);
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->since, since + Duration::milliseconds(10));
  EXPECT_EQ(whole->now, since + Duration::milliseconds(22));
  EXPECT_FALSE(handover.take_late(1));
}

TEST_F(HandoverTest, LeavesThePacketToItsOwnerWithoutRoom) {
  eal();
  {
    Handover handover("two", 2);
    for (std::size_t i = 0; i < Handover::kRoom; ++i) {
      Handover::Item one = item(1);
      ASSERT_TRUE(handover.give(0, 1, one));
    }
    Handover::Item more = item(7);
    EXPECT_FALSE(handover.give(0, 1, more));
    ASSERT_TRUE(more.packet);
    EXPECT_EQ(more.packet.bytes()[0], std::byte{7});
    EXPECT_TRUE(handover.give(1, 0, more)) << "the other way has room of its own";
  }
  EXPECT_EQ(used(), 0U) << "what nobody has taken goes back to the pool";
}

TEST_F(HandoverTest, AStormOfWhatIsOverheardLeavesRoomForFrames) {
  eal();
  {
    Handover handover("two", 2);
    for (std::size_t i = 0; i < Handover::kRoomToHear; ++i) {
      Handover::Item heard = item(1, What::kHeard);
      ASSERT_TRUE(handover.give(0, 1, heard));
    }
    Handover::Item heard = item(7, What::kHeard);
    EXPECT_FALSE(handover.give(0, 1, heard));
    EXPECT_TRUE(heard.packet);
    for (std::size_t i = Handover::kRoomToHear; i < Handover::kRoom; ++i) {
      Handover::Item one = item(1);
      ASSERT_TRUE(handover.give(0, 1, one)) << i;
    }
  }
  EXPECT_EQ(used(), 0U);
}

TEST_F(HandoverTest, RingsUntilItIsAnswered) {
  eal();
  Handover handover("two", 2);
  EXPECT_FALSE(rings(handover, 1));
  handover.wake(1);
  handover.wake(1);
  EXPECT_TRUE(rings(handover, 1));
  EXPECT_FALSE(rings(handover, 0));
  handover.answer_bell(1, false);
  EXPECT_FALSE(rings(handover, 1));
  handover.wake(1);
  EXPECT_TRUE(rings(handover, 1));
}

TEST_F(HandoverTest, LosesNothingBetweenTwoThreads) {
  eal();
  Handover handover("two", 2);
  constexpr unsigned kCount = 20'000;
  unsigned taken = 0;
  bool in_order = true, in_time = true;
  std::thread taker([&] {
    while (taken < kCount && in_time) {
      pollfd watched{.fd = handover.descriptor(1), .events = POLLIN, .revents = 0};
      in_time = ::poll(&watched, 1, 5000) == 1;  // false: a wake-up was lost
      handover.answer_bell(1, true);
      auto items = none();
      while (const std::size_t count = handover.take(1, 0, items)) {
        for (std::size_t i = 0; i < count; ++i) {
          in_order &= items[i].packet.bytes()[0] == static_cast<std::byte>(taken++);
        }
      }
    }
  });
  for (unsigned i = 0; i < kCount; ++i) {
    Handover::Item one{.what = What::kFrame, .port = {}, .packet = {}};
    while (!one.packet) {
      one.packet = pool().allocate();
      if (!one.packet) std::this_thread::yield();
    }
    one.packet.room()[0] = static_cast<std::byte>(i);
    one.packet.set_size(60);
    while (!handover.give(0, 1, one)) std::this_thread::yield();
    handover.wake(1);
  }
  taker.join();
  EXPECT_TRUE(in_time);
  EXPECT_TRUE(in_order);
  EXPECT_EQ(taken, kCount);
}

}  // namespace
}  // namespace satrelay::satrelayd::handover_test
