// At a hub, one peer or one host takes all that it can get. The others still get their parts.
#include "relay/gateway/flows/table/flow_quotas.h"

#include <string>

#include "pep/base/random.h"
#include "tests/unit/relay/gateway/hub_fixture.h"

namespace satrelay::gateway::flow_quotas_test {
namespace {

constexpr std::size_t kGreedy = 0, kModest = 1;
constexpr std::string_view kFar[2] = {"10.1.0.1", "10.2.0.1"};  // a host behind each peer

std::string lan_host(unsigned number) { return "192.168.7." + std::to_string(number); }

class QuotasTest : public HubTest {
 protected:
  using HubTest::HubTest;
  // The peer opens a flow to the host. Returns whether the hub accepts it.
  bool opens(std::size_t peer, const std::string& host) {
    OpenMetadata metadata = open_of(kFar[peer], host);
    metadata.client_port = ++port_;
    const std::size_t refused = reasons_[peer].size();
    open(peer, metadata);
    return reasons_[peer].size() == refused;
  }
  unsigned open_all(std::size_t peer, unsigned most, unsigned hosts) {
    unsigned taken = 0;
    for (unsigned i = 0; i < most; ++i) taken += opens(peer, lan_host(1 + i % hosts)) ? 1U : 0U;
    return taken;
  }
  // The host connects to a host behind the peer. Returns whether the SYN was accepted, with a flow
  // or a cookie.
  bool connects(const std::string& host, std::size_t peer) {
    wire::TcpHeader header = syn(1'000);
    header.source_port = ++port_;
    return lan(tcp_frame(host, kFar[peer], header)) == Verdict::kConsumed;
  }
  // Completes the handshake that connects() has begun. Then the host sends `bytes` bytes.
  void finish_handshake(const std::string& host, std::size_t peer, std::size_t bytes = 0) {
    poll();
    std::optional<wire::TcpHeader> answer;
    for (const FrameBytes& frame : on_lan_) {
      const auto tcp = wire::parse_tcp(look_at(frame).payload);
      if (tcp && tcp->header.destination_port == port_) answer = tcp->header;
    }
    on_lan_.clear();
    ASSERT_TRUE(answer);
    wire::TcpHeader header = syn(1'001);
    header.source_port = port_;
    header.flags = wire::TcpFlags::kAck;
    header.acknowledgment = answer->sequence + 1;
    header.options = {};
    lan(tcp_frame(host, kFar[peer], header));
    for (std::size_t sent = 0; sent < bytes; sent += 1460, header.sequence += 1460) {
      lan(tcp_frame(host, kFar[peer], header, host_to_server(), noise()));
    }
    poll();
  }
  // Bytes that cannot be compressed.
  std::string noise() {
    std::string bytes(1460, '\0');
    for (char& each : bytes) each = static_cast<char>(random_.below(256));
    return bytes;
  }
  PeerSnapshot peer(std::size_t which) const { return hub_->peers()[which]; }
  void check_accounts() const { EXPECT_EQ(hub_->audit(), std::nullopt); }

  std::uint16_t port_ = 40'000;
  Random random_{1};
};

// There are 16 flows, and 4 of them are kept for each of the two peers.
TEST_F(QuotasTest, APeerThatOpensAllItCanLeavesTheOtherItsPart) {
  EXPECT_EQ(open_all(kGreedy, 20, 10), 12U);
  EXPECT_EQ(count(Counter::kFlowsRefusedPeerPart), 8U);
  EXPECT_EQ(count(Counter::kFlowsResetNoResources), 0U);
  EXPECT_EQ(peer(kGreedy).flows, 12U);
  EXPECT_EQ(peer(kGreedy).flows_refused, 8U);
  EXPECT_EQ(reasons_[kGreedy].back(), stp::ResetReason::kNoResources);
  EXPECT_EQ(open_all(kModest, 5, 10), 4U) << "its part";
  EXPECT_EQ(peer(kModest).flows, 4U);
  EXPECT_EQ(peer(kGreedy).flows, 12U) << "nothing is taken back";
  check_accounts();
}

// Flows count whether hosts here open them towards the peer or the peer opens them.
TEST_F(QuotasTest, WhatHostsOpenTowardsAPeerCountsToo) {
  unsigned taken = 0;
  for (unsigned i = 0; i < 6; ++i) taken += connects(lan_host(10 + i), kGreedy) ? 1U : 0U;
  EXPECT_EQ(taken, 6U);
  EXPECT_EQ(open_all(kGreedy, 10, 10), 6U);
  EXPECT_FALSE(connects(lan_host(20), kGreedy));
  EXPECT_EQ(count(Counter::kBridgedPeerPart), 1U);
  EXPECT_EQ(peer(kGreedy).flows_refused, 4U + 1U);
  EXPECT_TRUE(connects(lan_host(20), kModest));
  check_accounts();
}

// One peer's flows take half of all flows at the only server of the LAN. The other peer still gets
// its own part.
TEST_F(QuotasTest, APeerKeepsNoServerFromAnother) {
  EXPECT_EQ(open_all(kGreedy, 12, 1), 8U);
  EXPECT_EQ(count(Counter::kFlowsRefusedHostPart), 4U);
  EXPECT_EQ(open_all(kModest, 5, 1), 4U);
  check_accounts();
}

TEST_F(QuotasTest, AHostOfTheLanNeverHasMoreThanHalfOfWhatTheOthersLeave) {
  // There are fewer half-open flows: 4 of 8, and all but 2 of those towards either peer. Beyond
  // that the host gets cookies, one for each place that it may still have.
  unsigned answered = 0;
  for (unsigned i = 0; i < 14; ++i) answered += connects(lan_host(1), i % 2) ? 1U : 0U;
  EXPECT_EQ(answered, 8U);
  EXPECT_EQ(hub_->flow_count(), 4U);
  EXPECT_EQ(count(Counter::kSynCookiesSent), 4U);
  EXPECT_EQ(count(Counter::kBridgedHalfOpenFull), 6U);
  for (unsigned i = 0; i < 2; ++i) EXPECT_TRUE(connects(lan_host(2), i % 2));
  EXPECT_TRUE(connects(lan_host(3), kModest));
  EXPECT_EQ(hub_->flow_count(), 7U) << "no other host is answered by cookies";
  check_accounts();
}

// The same for flows with a complete handshake.
TEST_F(QuotasTest, AHostWithHalfOfTheFlowsIsBridged) {
  unsigned taken = 0;
  for (unsigned i = 0; i < 16; ++i) {
    if (!connects(lan_host(1), i % 2)) continue;
    ++taken;
    finish_handshake(lan_host(1), i % 2);
  }
  EXPECT_EQ(taken, 8U);
  EXPECT_EQ(count(Counter::kBridgedHostPart), 8U);
  EXPECT_TRUE(connects(lan_host(2), kGreedy));
  EXPECT_TRUE(connects(lan_host(2), kModest));
  check_accounts();
}

// --- memory --------------------------------------------------------------------------------------

config::Gateway small_memory() {
  config::Gateway config = hub();
  config.limits.flows = config.limits.half_open = 1'024;
  config.limits.memory = ByteCount(4U << 20);
  return config;
}

class MemoryQuotasTest : public QuotasTest {
 protected:
  MemoryQuotasTest() : QuotasTest(small_memory()) {}
};

// Hosts here send to hosts behind a peer that takes nothing any more. So their bytes stay here.
TEST_F(MemoryQuotasTest, APeerThatTakesNothingLeavesTheOtherItsMemory) {
  deaf_[kGreedy] = true;
  unsigned begun = 0;
  for (; begun < 60; ++begun) {
    const std::string host = lan_host(1 + begun);
    if (!connects(host, kGreedy)) break;
    finish_handshake(host, kGreedy, 70'000);
  }
  EXPECT_GT(begun, 10U);
  EXPECT_LT(begun, 60U);
  EXPECT_GT(count(Counter::kBridgedMemoryLow), 0U);
  EXPECT_EQ(peer(kGreedy).state, stp::PeerState::kAlive);
  EXPECT_GT(peer(kGreedy).arena_used, 1U << 20);
  const std::size_t before = hub_->flow_count();
  EXPECT_TRUE(connects(lan_host(200), kModest));
  EXPECT_EQ(hub_->flow_count(), before + 1);
  check_accounts();
}

// A host of the LAN sends to peers that take nothing, so its bytes stay here.
TEST_F(MemoryQuotasTest, AHostLeavesHalfOfTheMemoryToTheOthers) {
  deaf_[kGreedy] = deaf_[kModest] = true;
  unsigned begun = 0;
  for (; begun < 60 && connects(lan_host(1), begun % 2); ++begun) {
    finish_handshake(lan_host(1), begun % 2, 70'000);
  }
  EXPECT_LT(begun, 60U);
  const std::size_t before = hub_->flow_count();
  EXPECT_TRUE(connects(lan_host(2), kModest));
  EXPECT_TRUE(connects(lan_host(2), kGreedy));
  EXPECT_EQ(hub_->flow_count(), before + 2);
  check_accounts();
}

}  // namespace
}  // namespace satrelay::gateway::flow_quotas_test
