#include "relay/gateway/peers/host_evidence.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/unit/relay/gateway/frame_builder.h"

namespace satrelay::gateway::host_evidence_test {
namespace {

HostEvidence evidence(std::string_view near, std::string_view far) {
  return {.near = ip_of(near),
          .far = ip_of(far),
          .near_port = 40'000,
          .far_port = 80,
          .sends = 0xfedc'ba98,
          .expects = 7};
}

TEST(HostEvidence, IsReadAsItWasWritten) {
  for (const auto& each :
       {evidence("203.0.113.5", "198.51.100.5"), evidence("2001:db8:a::5", "2001:db8:b::5")}) {
    std::array<std::byte, kMaxHostEvidence + 3> message{};
    const std::size_t size = write_host_evidence(each, message);
    ASSERT_LE(size, kMaxHostEvidence);
    EXPECT_EQ(message[0], std::byte{kHostEvidenceMessage});
    EXPECT_EQ(parse_host_evidence(ConstBytes(message).first(size)), each);
    EXPECT_EQ(parse_host_evidence(message), each) << "what a later version appends";
    for (std::size_t cut = 0; cut < size; ++cut) {
      EXPECT_FALSE(parse_host_evidence(ConstBytes(message).first(cut))) << cut;
    }
    message[1] = std::byte{5};
    EXPECT_FALSE(parse_host_evidence(message));
  }
}

}  // namespace
}  // namespace satrelay::gateway::host_evidence_test
