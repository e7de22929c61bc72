// The peer, of an older version, refuses connections. Tests what the gateway learns from that.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "relay/gateway/addresses/far/peer_refusals.h"
#include "tests/unit/relay/gateway/hub_fixture.h"

namespace satrelay::gateway::refused_by_peer_test {
namespace {

using stp::ResetReason;
using Flags = wire::TcpFlags;

constexpr auto kOne = "203.0.113.5";
constexpr auto kOther = "203.0.113.6";
constexpr auto kServerThere = "10.1.0.5";
constexpr auto kServerBeside = "10.1.0.6";

class RefusedByPeer : public HubTest {
 protected:
  // A SYN of a new connection. Returns the gateway's immediate answer to it.
  std::optional<wire::TcpHeader> ask(std::string_view client,
                                     std::string_view server = kServerThere) {
    syn_ = syn(++sequence_ * 100'000);
    syn_.source_port = ++port_;
    EXPECT_EQ(lan(tcp_frame(client, server, syn_)), Verdict::kConsumed);
    return answer();
  }
  std::optional<wire::TcpHeader> answer() {
    on_lan_.clear();
    poll();
    for (const FrameBytes& bytes : on_lan_) {
      const Frame frame = look_at(bytes);
      if (frame.kind == FrameKind::kTcp) return wire::parse_tcp(frame.payload)->header;
    }
    return std::nullopt;
  }
  void acknowledge(std::string_view client, std::string_view server,
                   const wire::TcpHeader& answer) {
    wire::TcpHeader ack = syn_;
    ack.flags = Flags::kAck;
    ack.options = {};
    ++ack.sequence;
    ack.acknowledgment = answer.sequence + 1;
    lan(tcp_frame(client, server, ack));
    step();
  }
  // The peer ends the latest flow.
  void end(ResetReason reason) {
    ASSERT_FALSE(streams_[0].empty());
    terminals_[0].session().streams().reset(streams_[0].back(), reason, now_);
    step();
    step();
  }
  // The gateway answers the SYN itself, as it does not know better, and the peer refuses the
  // connection.
  void refuse(std::string_view client, ResetReason reason = ResetReason::kPolicy) {
    const auto synack = ask(client);
    ASSERT_TRUE(synack && synack->flags == (Flags::kSyn | Flags::kAck));
    acknowledge(client, kServerThere, *synack);
    end(reason);
  }

  wire::TcpHeader syn_;
  std::uint32_t sequence_ = 0;
  std::uint16_t port_ = 40'000;
};

TEST_F(RefusedByPeer, TheServerAnswersAClientThatWasRefusedOnce) {
  refuse(kOne);
  EXPECT_FALSE(ask(kOne)) << "its server has to";
  EXPECT_FALSE(ask(kOne, kServerBeside)) << "whatever the server";
  EXPECT_EQ(count(Counter::kHandshakesLearnt), 2U);
  EXPECT_TRUE(ask(kOne, "10.2.0.5")) << "another peer";
  EXPECT_TRUE(ask(kOther)) << "another client";
  now_ += PeerRefusals::kClientsKept;
  for (int i = 0; i < 40; ++i) step();
  EXPECT_TRUE(ask(kOne));
}

// Without a reset the connection is established, as without gateways.
TEST_F(RefusedByPeer, AConnectionThatIsRefusedAgainIsBridgedWhenItsSynIsRepeated) {
  refuse(kOne);
  ASSERT_FALSE(ask(kOne));
  step();
  const wire::TcpHeader refused = syn_;
  on_lan_.clear();
  end(ResetReason::kPolicy);
  EXPECT_TRUE(on_lan_.empty()) << "no reset";
  EXPECT_EQ(lan(tcp_frame(kOne, kServerThere, refused)), Verdict::kBridge);
  EXPECT_FALSE(ask(kOne)) << "the next one is not bridged: the peer may take it";
}

TEST_F(RefusedByPeer, AClientThatIsAcceptedIsAnsweredHereAgain) {
  refuse(kOne);
  ASSERT_FALSE(ask(kOne));
  step();
  terminals_[0].session().streams().confirm(streams_[0].back(),
                                            {.answered = true, .window = 64'000}, now_);
  on_lan_.clear();
  step();
  EXPECT_FALSE(on_lan_.empty()) << "its answer";
  EXPECT_TRUE(ask(kOne));
}

// The peer may lack room for one server or one connection only, and have room for others.
TEST_F(RefusedByPeer, WantOfRoomIsRememberedOfTheServerAloneAndBridgesNothing) {
  refuse(kOne, ResetReason::kNoResources);
  EXPECT_FALSE(ask(kOther)) << "its server answers, if there is room";
  EXPECT_TRUE(ask(kOther, kServerBeside));
  EXPECT_TRUE(ask(kOne, kServerBeside));
  now_ += PeerRefusals::kServersKept;
  EXPECT_TRUE(ask(kOther));
}

}  // namespace
}  // namespace satrelay::gateway::refused_by_peer_test
