// A bridged connection is in use if both ports of the gateway have seen it.
#include "relay/gateway/opening/connections_in_use.h"

#include <gtest/gtest.h>

#include "pep/base/random.h"
#include "pep/wire/tcp.h"
#include "tests/unit/relay/gateway/frame_builder.h"

namespace satrelay::gateway::connections_in_use_test {
namespace {

using Flags = wire::TcpFlags;
constexpr Duration kMemory = Duration::seconds(120);
constexpr std::uint32_t kFarAt = 0xffff'ff00U;

class ConnectionsInUseTest : public testing::Test {
 protected:
  static FlowKey flow(unsigned number) {
    return {ip_of("203.0.113.5"),
            ip_of("198.51.100.5"),
            static_cast<std::uint16_t>(number),
            static_cast<std::uint16_t>(80 + (number >> 16)),
            {}};
  }
  void lan(std::uint32_t acknowledgment, std::uint8_t flags = Flags::kAck, unsigned number = 1) {
    table_.look_from_lan(flow(number), {.flags = flags, .acknowledgment = acknowledgment}, now_);
  }
  void wan(std::uint32_t sequence, std::uint8_t flags = Flags::kAck, unsigned number = 1) {
    table_.look_from_wan(flow(number), {.flags = flags, .sequence = sequence}, now_);
  }
  bool has(unsigned number = 1) const { return table_.has(flow(number), now_); }

  Instant now_ = Instant::from_nanoseconds(1);
  ConnectionsInUse table_{{1, 2}, kMemory, 1024};
};

TEST_F(ConnectionsInUseTest, WhoeverSpeaksFirstBothPortsMustAgree) {
  wan(kFarAt);
  EXPECT_FALSE(has());
  lan(kFarAt + 1'000);
  EXPECT_TRUE(has());
  lan(5, Flags::kAck, 2);
  EXPECT_FALSE(has(2));
  wan(4, Flags::kAck, 2);
  EXPECT_TRUE(has(2));
  EXPECT_FALSE(has(3));
}

TEST_F(ConnectionsInUseTest, NoOtherWordOfTheHostDoes) {
  wan(kFarAt);
  lan(kFarAt, Flags::kRst | Flags::kAck);
  lan(kFarAt, Flags::kRst);
  lan(kFarAt, Flags::kSyn | Flags::kAck);
  lan(kFarAt, Flags::kPsh);
  EXPECT_FALSE(has());
  lan(kFarAt + 0x1000'0000U);
  EXPECT_FALSE(has()) << "about something else";
}

TEST_F(ConnectionsInUseTest, EitherHostsSilenceEndsIt) {
  for (const bool far_is_silent : {true, false}) {
    wan(kFarAt);
    lan(kFarAt);
    now_ += kMemory - Duration::seconds(1);
    EXPECT_TRUE(has());
    far_is_silent ? lan(kFarAt) : wan(kFarAt);
    now_ += Duration::seconds(2);
    EXPECT_FALSE(has());
  }
}

TEST_F(ConnectionsInUseTest, SegmentsOfRandomNumbersNeitherEndItNorKeepIt) {
  Random random(1);
  wan(kFarAt);
  lan(kFarAt);
  const std::uint8_t kinds[] = {Flags::kAck, Flags::kFin, Flags::kRst, Flags::kSyn,
                                Flags::kSyn | Flags::kAck};
  const auto far_away = [&] { return kFarAt + 0x2000'0000U + (random.next() & 0xfff'ffffU); };
  for (int i = 0; i < 100'000; ++i) {
    const std::uint8_t flags = kinds[random.below(std::size(kinds))];
    random.chance(0.5) ? wan(static_cast<std::uint32_t>(far_away()), flags)
                       : lan(static_cast<std::uint32_t>(far_away()), flags);
    ASSERT_TRUE(has());
    if (i % 10 == 0) now_ += Duration::milliseconds(10);
    if (i % 1'000 == 0) {
      wan(kFarAt);
      lan(kFarAt);
    }
  }
  now_ += kMemory - Duration::seconds(1);
  for (int i = 0; i < 1'000; ++i) wan(static_cast<std::uint32_t>(far_away()));
  now_ += Duration::seconds(2);
  EXPECT_FALSE(has());
}

TEST_F(ConnectionsInUseTest, OneThatHasEndedStaysSoUntilAnotherBegins) {
  wan(kFarAt);
  lan(kFarAt, Flags::kFin | Flags::kAck);
  wan(kFarAt, Flags::kFin | Flags::kAck);
  EXPECT_TRUE(has());
  lan(kFarAt + 1);
  EXPECT_FALSE(has());
  wan(kFarAt + 1);
  lan(kFarAt + 1);
  EXPECT_FALSE(has()) << "late segments";
  lan(9, Flags::kSyn | Flags::kFin);
  wan(8);
  lan(9);
  EXPECT_FALSE(has()) << "no host begins a connection with a FIN";
  lan(9, Flags::kSyn | Flags::kAck);
  wan(8);
  lan(9);
  EXPECT_TRUE(has());
}

// Each connection of a flood has a place until a connection with more evidence needs it.
TEST_F(ConnectionsInUseTest, AFloodFromOnePortTakesNoPlaceOfAConnection) {
  constexpr unsigned kConnections = 200;
  for (unsigned i = 0; i < kConnections; ++i) {
    wan(7, Flags::kAck, i);
    lan(7, Flags::kAck, i);
  }
  for (unsigned i = kConnections; i < 100'000; ++i) {
    i % 2 == 0 ? wan(7, Flags::kAck, i) : lan(7, Flags::kAck, i);
  }
  for (unsigned i = 0; i < kConnections; ++i) EXPECT_TRUE(has(i)) << i;
  // Frames from the WAN alone do not keep out connections that begin meanwhile.
  for (unsigned i = 100'000; i < 200'000; ++i) wan(7, Flags::kAck, i);
  lan(7, Flags::kAck, 300'000);
  wan(7, Flags::kAck, 300'000);
  EXPECT_TRUE(has(300'000));
}

}  // namespace
}  // namespace satrelay::gateway::connections_in_use_test
