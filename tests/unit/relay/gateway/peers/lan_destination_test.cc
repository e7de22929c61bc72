#include "relay/gateway/peers/lan_destination.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/unit/relay/gateway/frame_builder.h"

namespace satrelay::gateway::lan_destination_test {
namespace {

LanDestination told(std::string_view near, std::string_view far, std::uint8_t tags) {
  LanDestination told{.stream = stp::StreamId{0x0102'0304'0506'0708U},
                      .near = ip_of(near),
                      .far = ip_of(far),
                      .ethernet = {}};
  told.ethernet.destination = kHostMac;
  told.ethernet.tag_count = tags;
  for (std::size_t i = 0; i < tags; ++i) {
    told.ethernet.tags[i] = {.tpid = 0x8100, .tci = static_cast<std::uint16_t>(7 + i)};
  }
  return told;
}

TEST(LanDestination, IsReadAsItWasWritten) {
  for (const auto& each : {told("203.0.113.5", "198.51.100.5", 0),
                           told("2001:db8:a::5", "2001:db8:b::5", wire::kMaxVlanTags)}) {
    std::array<std::byte, kMaxLanDestination + 3> message{};
    const std::size_t size = write_lan_destination(each, message);
    ASSERT_LE(size, kMaxLanDestination);
    EXPECT_EQ(message[0], std::byte{kLanDestinationMessage});
    EXPECT_EQ(parse_lan_destination(ConstBytes(message).first(size)), each);
    EXPECT_EQ(parse_lan_destination(message), each) << "what a later version appends";
    for (std::size_t cut = 0; cut < size; ++cut) {
      EXPECT_FALSE(parse_lan_destination(ConstBytes(message).first(cut))) << cut;
    }
    message[1] = std::byte{5};
    EXPECT_FALSE(parse_lan_destination(message));
  }
}

TEST(LanDestination, HasTwoTagsAtMost) {
  std::array<std::byte, kMaxLanDestination + 8> message{};
  write_lan_destination(told("203.0.113.5", "198.51.100.5", 2), message);
  message[18] = std::byte{3};
  EXPECT_FALSE(parse_lan_destination(message));
}

}  // namespace
}  // namespace satrelay::gateway::lan_destination_test
