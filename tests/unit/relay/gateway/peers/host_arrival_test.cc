#include "relay/gateway/peers/host_arrival.h"

#include <gtest/gtest.h>

#include <array>
#include <string_view>

#include "tests/unit/relay/gateway/frame_builder.h"

namespace satrelay::gateway::host_arrival_test {
namespace {

HostArrival arrival(std::string_view host, std::uint8_t tags) {
  HostArrival arrival{.host = ip_of(host), .ethernet = {}};
  arrival.ethernet.source = kHostMac;
  arrival.ethernet.tag_count = tags;
  for (std::size_t i = 0; i < tags; ++i) {
    arrival.ethernet.tags[i] = {.tpid = 0x8100, .tci = static_cast<std::uint16_t>(7 + i)};
  }
  return arrival;
}

TEST(HostArrival, IsReadAsItWasWritten) {
  for (const auto& each :
       {arrival("203.0.113.5", 0), arrival("2001:db8:a::5", wire::kMaxVlanTags)}) {
    std::array<std::byte, kMaxHostArrival + 3> message{};
    const std::size_t size = write_host_arrival(each, message);
    ASSERT_LE(size, kMaxHostArrival);
    EXPECT_EQ(message[0], std::byte{kHostArrivalMessage});
    EXPECT_EQ(parse_host_arrival(ConstBytes(message).first(size)), each);
    EXPECT_EQ(parse_host_arrival(message), each) << "what a later version appends";
    for (std::size_t cut = 0; cut < size; ++cut) {
      EXPECT_FALSE(parse_host_arrival(ConstBytes(message).first(cut))) << cut;
    }
    message[1] = std::byte{5};
    EXPECT_FALSE(parse_host_arrival(message));
  }
}

TEST(HostArrival, HasTwoTagsAtMost) {
  std::array<std::byte, kMaxHostArrival + 8> message{};
  write_host_arrival(arrival("203.0.113.5", 2), message);
  message[6] = std::byte{3};
  EXPECT_FALSE(parse_host_arrival(message));
}

}  // namespace
}  // namespace satrelay::gateway::host_arrival_test
