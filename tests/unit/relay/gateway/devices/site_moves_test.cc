// A host moves with its MAC and its address from the LAN of gateway A to the LAN of gateway B,
// where the server is. Or a forger claims that it has moved.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "relay/gateway/peers/host_arrival.h"
#include "tests/unit/relay/gateway/devices/mac_moves_fixture.h"
#include "tests/unit/relay/gateway/hub_fixture.h"

namespace satrelay::gateway::site_moves_test {
namespace {

using Flags = wire::TcpFlags;

class SiteMoves : public MacMoves {
 protected:
  FrameBytes told(const MacAddress& mac, const MacAddress& to) const {
    return claim_frame(client_, mac, to);
  }
  void far_lan(const FrameBytes& frame) { b_->handle_frame(PortId::kLan, frame, now_); }
  std::uint64_t far_count(Counter counter) const { return b_->counters()[counter]; }

  // ARP shows the host on its LAN, and the host has a connection.
  void begin(const LanPlace& place) {
    vlan_ = place.vlan;
    client_ = place.client;
    lan(told(kHostMac, MacAddress::broadcast()));
    open(place);
    ASSERT_EQ(far_count(Counter::kFlowsFromPeer), 1U);
    take_far();
    far_.clear();
  }
  void take_far() {
    FrameBytes bytes(b_->max_frame_size());
    while (const std::size_t size = b_->poll_frame(PortId::kLan, bytes, now_).size) {
      far_.emplace_back(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
      const Frame frame = look_at(far_.back());
      const bool is_question = frame.kind == FrameKind::kArp || frame.kind == FrameKind::kIcmp;
      if (is_question) ++far_questions_;
      if (is_question && answers_there_) far_lan(told(kHostMac, kPeerMac));
    }
  }
  void take_near() {
    const std::size_t before = questions();
    take();
    if (questions() > before && answers_here_) lan(told(kHostMac, kGatewayMac));
  }
  // Like carry(), but the gateway may have held frames of hosts.
  void pass(Gateway& from, Gateway& to) {
    FrameBytes frame(from.max_frame_size());
    for (;;) {
      const Polled polled = from.poll_frame(PortId::kWan, frame, now_);
      if (polled.kind == Polled::Kind::kNothing) return;
      if (polled.size > 0) {
        to.handle_frame(PortId::kWan, ConstBytes(frame).first(polled.size), now_);
      }
    }
  }
  void go_on(Duration time) {
    for (const Instant end = now_ + time; now_ < end;) {
      now_ += Duration::milliseconds(10);
      if (a_->next_timeout() <= now_) a_->handle_timeout(now_);
      if (b_->next_timeout() <= now_) b_->handle_timeout(now_);
      pass(*a_, *b_);
      pass(*b_, *a_);
      take_near();
      take_far();
    }
  }
  // A TCP segment to the far LAN, by its destination, its flags and its MAC.
  std::optional<wire::TcpHeader> far_segment(std::string_view to, std::uint8_t flags,
                                             const MacAddress& mac) const {
    for (const FrameBytes& bytes : far_) {
      const Frame frame = look_at(bytes);
      if (frame.kind != FrameKind::kTcp || frame.ip.destination != ip_of(to)) continue;
      const auto tcp = wire::parse_tcp(frame.payload);
      if ((tcp->header.flags & flags) == flags && frame.ethernet.destination == mac) {
        return tcp->header;
      }
    }
    return std::nullopt;
  }

  std::vector<FrameBytes> far_;  // sent to the far LAN
  std::size_t far_questions_ = 0;
  bool answers_there_ = false;
  bool answers_here_ = false;
};

class MovedHost : public SiteMoves, public testing::WithParamInterface<LanPlace> {};

TEST_P(MovedHost, BothHostsAreResetWithinThreeSeconds) {
  begin(GetParam());
  answers_there_ = true;
  far_lan(told(kHostMac, MacAddress::broadcast()));
  go_on(Duration::seconds(3));
  EXPECT_EQ(far_count(Counter::kArrivalsTold), 1U);
  EXPECT_EQ(count(Counter::kArrivalsHeard), 1U);
  EXPECT_EQ(count(Counter::kFlowsResetMoved), 1U);
  EXPECT_EQ(far_count(Counter::kFlowsResetMoved), 1U);
  EXPECT_EQ(far_count(Counter::kFlowsOrphaned), 1U);
  EXPECT_EQ(questions(), 2U);
  const auto to_server = far_segment(server_, Flags::kRst, kServerMac);
  ASSERT_TRUE(to_server);
  EXPECT_EQ(to_server->source_port, 40'000);
  ASSERT_TRUE(far_segment(client_, Flags::kSyn, kHostMac));
  // The host's challenge ACK, if the gateway sees it, or any other segment of the host.
  wire::TcpHeader challenge = segment(0);
  far_lan(frame_of(challenge, {}, ethernet(kHostMac)));
  take_far();
  const auto to_client = far_segment(client_, Flags::kRst, kHostMac);
  ASSERT_TRUE(to_client);
  EXPECT_EQ(to_client->sequence, challenge.acknowledgment);
  // A switch of that LAN must not learn either host at the gateway's port. Else it would filter the
  // SYN, and misdirect later frames between the two.
  for (const FrameBytes& bytes : far_) EXPECT_EQ(look_at(bytes).ethernet.source, kPeerMac);
  // The gateway asks the host for a few seconds only, since a new connection may have the same
  // ports.
  go_on(Duration::seconds(12));
  EXPECT_EQ(far_count(Counter::kOrphansReset), 1U);
}

INSTANTIATE_TEST_SUITE_P(Hosts, MovedHost,
                         testing::Values(LanPlace{.client = kClient, .server = kServer},
                                         LanPlace{.client = kClient, .server = kServer, .vlan = 7},
                                         LanPlace{.client = kClientV6, .server = kServerV6}));

// On the new LAN a forger answers in the host's name. The host itself answers on its own LAN.
TEST_F(SiteMoves, TenThousandForgedClaimsASecondEndNoFlowOfALiveHost) {
  begin({.client = kClient, .server = kServer});
  answers_there_ = answers_here_ = true;
  const FrameBytes forged = told(kHostMac, MacAddress::broadcast());
  for (int i = 0; i < 500; ++i) {
    for (int n = 0; n < 100; ++n) {
      far_lan(forged);
      wan(forged);
    }
    go_on(Duration::milliseconds(10));
  }
  EXPECT_EQ(count(Counter::kFlowsResetMoved), 0U);
  EXPECT_EQ(count(Counter::kFlowsResetTimeout), 0U);
  EXPECT_GE(count(Counter::kArrivalsDisputed), 2U);
  EXPECT_LE(far_questions_, 3U) << "a question after two seconds, and another after four";
  EXPECT_LE(questions(), 3U);
  EXPECT_EQ(a_->unfinished_flows(), 1U);
}

// The host answers no ARP in time, but it sends a segment.
TEST_F(SiteMoves, AHostThatSendsAnythingIsThere) {
  begin({.client = kClient, .server = kServer});
  answers_there_ = true;
  far_lan(told(kHostMac, MacAddress::broadcast()));
  go_on(Duration::milliseconds(500));
  ASSERT_EQ(count(Counter::kArrivalsHeard), 1U);
  lan(frame_of(segment(0), "more", ethernet(kHostMac)));
  go_on(Duration::seconds(3));
  EXPECT_EQ(count(Counter::kFlowsResetMoved), 0U);
  EXPECT_EQ(count(Counter::kArrivalsDisputed), 1U);
}

TEST_F(SiteMoves, AClaimThatNobodyAnswersForIsNotTold) {
  begin({.client = kClient, .server = kServer});
  for (int i = 0; i < 10; ++i) {
    far_lan(told(kHostMac, MacAddress::broadcast()));
    go_on(Duration::milliseconds(100));
  }
  go_on(Duration::seconds(2));
  EXPECT_EQ(far_questions_, 2U);
  EXPECT_EQ(far_count(Counter::kArrivalsTold), 0U);
  EXPECT_EQ(questions(), 0U);
  EXPECT_EQ(count(Counter::kFlowsResetMoved), 0U);
}

// A claim from the WAN is not about a host of this LAN.
TEST_F(SiteMoves, AClaimFromTheWanDrawsNoQuestion) {
  begin({.client = kClient, .server = kServer});
  answers_there_ = true;
  wan(told(kHostMac, MacAddress::broadcast()));
  b_->handle_frame(PortId::kWan, told(kHostMac, MacAddress::broadcast()), now_);
  go_on(Duration::seconds(2));
  EXPECT_EQ(far_questions_ + questions(), 0U);
}

// A forger claims the host's address for its own MAC. But a host that has moved keeps its MAC.
TEST_F(SiteMoves, AnotherMacIsNotTheHost) {
  begin({.client = kClient, .server = kServer});
  const FrameBytes forged = told(kForgedMac, MacAddress::broadcast());
  far_lan(forged);
  go_on(Duration::milliseconds(20));
  far_lan(told(kForgedMac, kPeerMac));
  go_on(Duration::seconds(3));
  EXPECT_EQ(far_count(Counter::kArrivalsTold), 1U);
  EXPECT_EQ(count(Counter::kArrivalsRefused), 1U);
  EXPECT_EQ(questions(), 0U);
  EXPECT_EQ(count(Counter::kFlowsResetMoved), 0U);
}

// A host behind a router answers no ARP here, and its frames have the MAC of the router.
TEST_F(SiteMoves, OfAHostThatArpHasNotToldOfNothingIsBelieved) {
  open({.client = kClient, .server = kServer});
  answers_there_ = true;
  far_lan(told(kHostMac, MacAddress::broadcast()));
  go_on(Duration::seconds(3));
  EXPECT_EQ(count(Counter::kArrivalsRefused), 1U);
  EXPECT_EQ(questions(), 0U);
  EXPECT_EQ(count(Counter::kFlowsResetMoved), 0U);
}

constexpr auto kHere = "203.0.113.5";
constexpr auto kFirst = "10.1.0.5", kSecond = "10.2.0.5";  // behind the terminals
constexpr MacAddress kOtherMac{{2, 0, 0, 0, 9, 9}};

class HubMoves : public HubTest {
 protected:
  using HubTest::HubTest;
  static FrameBytes arp(std::string_view host, const MacAddress& mac, const MacAddress& to) {
    wire::EthernetHeader ethernet;
    ethernet.source = mac;
    ethernet.destination = to;
    return arp_frame(ethernet, {.operation = wire::ArpOperation::kReply,
                                .sender_mac = mac,
                                .sender = ip_of(host),
                                .target_mac = to,
                                .target = ip_of(host)});
  }
  bool has_asked() const {
    return std::ranges::any_of(
        on_lan_, [](const FrameBytes& bytes) { return look_at(bytes).kind == FrameKind::kArp; });
  }
  void says(std::size_t terminal, std::string_view host, const MacAddress& mac) {
    HostArrival arrival{.host = ip_of(host), .ethernet = {}};
    arrival.ethernet.source = mac;
    std::array<std::byte, kMaxHostArrival> message{};
    const std::size_t size = write_host_arrival(arrival, message);
    EXPECT_TRUE(
        terminals_[terminal].session().streams().open(ConstBytes(message).first(size), 0, now_));
    step();
  }
};

// A peer without a flow of the host reports that the host has moved. That ends no flow of another
// peer.
TEST_F(HubMoves, EndFlowsWithThePeerThatSaysSo) {
  lan(arp(kHere, kServerMac, MacAddress::broadcast()));
  open(0, open_of(kFirst, kHere));
  ASSERT_EQ(count(Counter::kFlowsFromPeer), 1U);
  says(1, "203.0.113.6", kServerMac);
  says(1, kHere, kOtherMac);
  EXPECT_EQ(count(Counter::kArrivalsRefused), 2U);
  says(1, kHere, kServerMac);
  EXPECT_EQ(count(Counter::kArrivalsHeard), 1U);
  for (int i = 0; i < 30; ++i) step();
  EXPECT_TRUE(has_asked());
  EXPECT_EQ(count(Counter::kFlowsResetMoved), 0U);
  says(0, kHere, kServerMac);
  for (int i = 0; i < 30; ++i) step();
  EXPECT_EQ(count(Counter::kFlowsResetMoved), 1U);
}

class HubMovesOfOld : public HubMoves {
 protected:
  HubMovesOfOld() : HubMoves(hub(), Knows::kUnknown) {}
};

TEST_F(HubMovesOfOld, AreNoMatterToAPeerThatDoesNotUnderstandThem) {
  open(1, open_of(kSecond, kHere));
  on_lan_.clear();
  lan(arp(kSecond, kHostMac, MacAddress::broadcast()));
  for (int i = 0; i < 10; ++i) step();
  EXPECT_FALSE(has_asked());
  EXPECT_EQ(count(Counter::kArrivalsTold) + count(Counter::kArrivalsUntold), 0U);
  says(1, kHere, kServerMac);
  step();
  EXPECT_EQ(count(Counter::kArrivalsHeard) + count(Counter::kArrivalsRefused), 0U);
  EXPECT_EQ(reasons_[1], std::vector<stp::ResetReason>{stp::ResetReason::kPolicy});
}

}  // namespace
}  // namespace satrelay::gateway::site_moves_test
