#include "relay/link/frame_priority.h"

#include <gtest/gtest.h>

#include <array>

#include "pep/control/rate_controller.h"
#include "pep/wire/checksum.h"

namespace satrelay::link::frame_priority_test {
namespace {

// An Ethernet header, `kTags` VLAN tags, and the shortest IPv4 packet.
template <std::size_t kTags>
auto frame_with(std::uint8_t traffic_class) {
  std::array<std::byte, 14 + 4 * kTags + 20> frame{};
  for (std::size_t i = 0; i < kTags; ++i) frame[12 + 4 * i] = std::byte{0x81};
  std::byte* const ip = frame.data() + 14 + 4 * kTags;
  ip[-2] = std::byte{0x08};
  ip[0] = std::byte{0x45};
  ip[1] = std::byte{traffic_class};
  ip[3] = std::byte{20};
  ip[8] = std::byte{64};
  ip[9] = std::byte{17};
  store_u16(ip + 10, static_cast<std::uint16_t>(~wire::checksum_sum(ConstBytes(ip, 20))));
  return frame;
}

TEST(FramePriority, FollowsTheCodePointsOfTheGateways) {
  using control::Priority;
  for (const Priority p :
       {Priority::kHigh, Priority::kLow, Priority::kStartHigh, Priority::kStartLow}) {
    const auto traffic_class = static_cast<std::uint8_t>(control::dscp_of(p) << 2 | 0b01);
    EXPECT_EQ(priority_of(frame_with<0>(traffic_class)), static_cast<std::uint8_t>(p));
    EXPECT_EQ(priority_of(frame_with<1>(traffic_class)), static_cast<std::uint8_t>(p));
  }
}

TEST(FramePriority, AllElseIsHigh) {
  EXPECT_EQ(priority_of(frame_with<0>(0b101'110 << 2)), 0);
  auto arp =
      frame_with<0>(static_cast<std::uint8_t>(control::dscp_of(control::Priority::kLow) << 2));
  arp[13] = std::byte{0x06};
  EXPECT_EQ(priority_of(arp), 0);
  EXPECT_EQ(priority_of(ConstBytes(arp).first(10)), 0);
  EXPECT_EQ(priority_of({}), 0);
}

}  // namespace
}  // namespace satrelay::link::frame_priority_test
