// Which connections a peer has refused lately.
#include "relay/gateway/addresses/far/peer_refusals.h"

#include <gtest/gtest.h>

#include <array>
#include <string_view>
#include <tuple>

#include "tests/unit/relay/gateway/frame_builder.h"

namespace satrelay::gateway::peer_refusals_test {
namespace {

constexpr FarGatewayId kPeer(0), kOtherPeer(1);
constexpr auto kOne = "203.0.113.5";
constexpr auto kOther = "203.0.113.6";

class PeerRefusalsTest : public testing::Test {
 protected:
  bool is_doubtful(std::string_view client, std::string_view server = "198.51.100.1",
                   FarGatewayId peer = kPeer) const {
    return refusals_.is_doubtful(peer, ip_of(client), ip_of(server), now_);
  }
  Instant now_ = Instant::from_nanoseconds(1);
  PeerRefusals refusals_{HashKey{1, 2}};
};

TEST_F(PeerRefusalsTest, ARefusedClientIsDoubtfulForADay) {
  refusals_.note_client(kPeer, ip_of(kOne), now_);
  EXPECT_TRUE(is_doubtful(kOne));
  EXPECT_TRUE(is_doubtful(kOne, "198.51.100.2")) << "whatever the server";
  EXPECT_FALSE(is_doubtful(kOne, "198.51.100.1", kOtherPeer)) << "another peer";
  EXPECT_FALSE(is_doubtful(kOther));
  now_ += PeerRefusals::kClientsKept - Duration::seconds(1);
  EXPECT_TRUE(is_doubtful(kOne));
  now_ += Duration::seconds(1);
  EXPECT_FALSE(is_doubtful(kOne));
}

TEST_F(PeerRefusalsTest, AClientThatIsAcceptedIsDoubtfulNoMore) {
  refusals_.note_client(kPeer, ip_of(kOne), now_);
  refusals_.note_client(kPeer, ip_of(kOther), now_);
  refusals_.note_accepted(kOtherPeer, ip_of(kOne), now_);
  EXPECT_TRUE(is_doubtful(kOne)) << "by another peer";
  refusals_.note_accepted(kPeer, ip_of(kOne), now_);
  EXPECT_FALSE(is_doubtful(kOne));
  EXPECT_TRUE(is_doubtful(kOther));
  refusals_.note_client(kPeer, ip_of(kOne), now_);
  EXPECT_TRUE(is_doubtful(kOne));
}

// A subnet that the peer's prefixes do not list.
TEST_F(PeerRefusalsTest, ANetworkOfThreeRefusedClientsIsDoubtful) {
  for (const auto& [clients, further, outside] :
       {std::tuple{std::array{"203.0.113.5", "203.0.113.6", "203.0.113.7"}, "203.0.113.200",
                   "203.0.114.5"},
        std::tuple{std::array{"2001:db8:a::5", "2001:db8:a::6", "2001:db8:a::7"},
                   "2001:db8:a::ffff:1", "2001:db8:a:1::5"}}) {
    refusals_.note_client(kPeer, ip_of(clients[0]), now_);
    refusals_.note_client(kPeer, ip_of(clients[1]), now_);
    refusals_.note_client(kPeer, ip_of(clients[1]), now_);
    EXPECT_FALSE(is_doubtful(further)) << "one twice is one";
    refusals_.note_client(kPeer, ip_of(clients[2]), now_);
    EXPECT_TRUE(is_doubtful(further));
    EXPECT_FALSE(is_doubtful(outside));
    EXPECT_FALSE(is_doubtful(further, "198.51.100.1", kOtherPeer)) << "another peer";
  }
  now_ += PeerRefusals::kClientsKept;
  EXPECT_FALSE(is_doubtful("203.0.113.200"));
}

TEST_F(PeerRefusalsTest, OneAcceptedClientEndsTheSuspicionOfItsNetwork) {
  for (const char* const client : {kOne, kOther, "203.0.113.7"}) {
    refusals_.note_client(kPeer, ip_of(client), now_);
  }
  refusals_.note_accepted(kPeer, ip_of("203.0.113.200"), now_);
  EXPECT_FALSE(is_doubtful("203.0.113.201"));
  EXPECT_TRUE(is_doubtful(kOne)) << "it was refused itself";
  for (const char* const client : {"203.0.113.20", "203.0.113.21", "203.0.113.22"}) {
    refusals_.note_client(kPeer, ip_of(client), now_);
  }
  EXPECT_FALSE(is_doubtful("203.0.113.201")) << "the peer lists a part of it";
}

TEST_F(PeerRefusalsTest, AServerWithoutRoomIsDoubtfulForTenSeconds) {
  refusals_.note_full(kPeer, ip_of("198.51.100.1"), now_);
  EXPECT_TRUE(is_doubtful(kOne));
  EXPECT_TRUE(is_doubtful(kOther));
  EXPECT_FALSE(is_doubtful(kOne, "198.51.100.2"));
  EXPECT_FALSE(is_doubtful(kOne, "198.51.100.1", kOtherPeer));
  now_ += PeerRefusals::kServersKept;
  EXPECT_FALSE(is_doubtful(kOne));
}

TEST_F(PeerRefusalsTest, ManyClientsDoNotDisplaceAServer) {
  refusals_.note_full(kPeer, ip_of("198.51.100.1"), now_);
  now_ += Duration::seconds(1);
  for (unsigned i = 0; i < 4 * PeerRefusals::kClients; ++i) {
    const auto octet = [i](unsigned shift) { return static_cast<std::uint8_t>(i >> shift); };
    refusals_.note_client(kPeer, IpAddress::v4({10, octet(16), octet(8), octet(0)}), now_);
  }
  EXPECT_TRUE(is_doubtful(kOne));
}

}  // namespace
}  // namespace satrelay::gateway::peer_refusals_test
