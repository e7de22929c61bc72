// Which addresses a peer or a host may use. One of a hub's two terminals claims hosts that are not
// its own, and a host of the hub's LAN uses an address of a terminal.
#include "relay/gateway/rules/claims.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "relay/gateway/frames/open_metadata.h"
#include "relay/gateway/gateway.h"
#include "relay/gateway/peers/host_evidence.h"
#include "tests/support/gateway_config.h"
#include "tests/unit/relay/gateway/frame_builder.h"
#include "tests/unit/relay/gateway/hub_fixture.h"

namespace satrelay::gateway::claims_test {
namespace {

using stp::ResetReason;
using Flags = wire::TcpFlags;

// --- the rule ----------------------------------------------------------------------------------

class ClaimsTest : public testing::Test {
 protected:
  bool allows(std::size_t peer, std::string_view there, std::string_view here,
              const wire::EthernetHeader& ethernet = host_to_server()) {
    const IpAddress far = ip_of(there), near = ip_of(here);
    const Policy policy(config_);
    return Claims(config_, policy).allow(FarGatewayId(peer), {far, near, ethernet});
  }
  config::Gateway config_ = hub();
};

TEST_F(ClaimsTest, APeerSpeaksForTheHostsBehindItAndForNoOther) {
  EXPECT_TRUE(allows(0, "10.1.0.5", "203.0.113.5"));
  EXPECT_TRUE(allows(0, "2001:db8:1::5", "2001:db8::9"));
  EXPECT_FALSE(allows(1, "10.1.0.5", "203.0.113.5"));
  EXPECT_FALSE(allows(1, "2001:db8:1::5", "2001:db8::9"));
  EXPECT_FALSE(allows(0, "203.0.113.7", "203.0.113.5")) << "a host of this LAN, or of nobody";
  EXPECT_TRUE(allows(0, "10.1.0.5", "10.2.0.5")) << "from terminal to terminal";
}

TEST_F(ClaimsTest, TheLongestPrefixSaysWhoseAHostIs) {
  config_.peers[1].prefixes.push_back(*IpPrefix::parse("10.1.7.0/24"));
  EXPECT_TRUE(allows(0, "10.1.6.5", "203.0.113.5"));
  EXPECT_FALSE(allows(0, "10.1.7.5", "203.0.113.5"));
  EXPECT_TRUE(allows(1, "10.1.7.5", "203.0.113.5"));
}

TEST_F(ClaimsTest, APeerForEverythingSpeaksForAllThatIsNobodyElses) {
  config_.peers.push_back(test::peer_config("rest", "192.0.2.4", {"0.0.0.0/0", "::/0"}));
  EXPECT_TRUE(allows(2, "198.51.100.1", "203.0.113.5"));
  EXPECT_TRUE(allows(2, "2001:db8:ffff::1", "2001:db8::9"));
  EXPECT_FALSE(allows(2, "10.1.0.5", "203.0.113.5"));
  EXPECT_FALSE(allows(2, "2001:db8:2::5", "2001:db8::9"));
  const Policy policy(config_);
  const Claims claims(config_, policy);
  EXPECT_TRUE(claims.is_behind_a_peer(ip_of("10.1.0.5")));
  EXPECT_FALSE(claims.is_behind_a_peer(ip_of("203.0.113.5"))) << "this LAN lies in it, too";
}

TEST_F(ClaimsTest, NeitherEndIsAnythingButAHost) {
  config_.peers.push_back(test::peer_config("rest", "192.0.2.4", {"0.0.0.0/0", "::/0"}));
  for (const std::string_view none :
       {"0.0.0.0", "0.1.2.3", "127.0.0.1", "169.254.1.1", "224.0.0.1", "255.255.255.255",
        "192.0.2.1" /* this gateway */, "192.0.2.2" /* a peer */, "192.0.2.7" /* all there */}) {
    EXPECT_FALSE(allows(2, none, "203.0.113.5")) << none;
    EXPECT_FALSE(allows(0, "10.1.0.5", none)) << none;
  }
  for (const std::string_view none :
       {"::", "::1", "::ffff:10.1.0.5", "::10.1.0.5", "fe80::1", "febf::1", "ff02::1"}) {
    EXPECT_FALSE(allows(2, none, "2001:db8::9")) << none;
    EXPECT_FALSE(allows(0, "2001:db8:1::5", none)) << none;
  }
  EXPECT_TRUE(allows(2, "192.0.2.6", "203.0.113.5"));
  EXPECT_TRUE(allows(2, "fec0::1", "2001:db8::9"));
  EXPECT_FALSE(allows(0, "10.1.0.5", "10.1.0.5")) << "a host with itself";
}

TEST_F(ClaimsTest, FramesGoFromOneStationToAnotherAndCarryIp) {
  const auto with = [&](auto&& change) {
    wire::EthernetHeader header = host_to_server();
    change(header);
    return allows(0, "10.1.0.5", "203.0.113.5", header);
  };
  EXPECT_FALSE(with([](auto& h) { h.destination = MacAddress::broadcast(); }));
  EXPECT_FALSE(with([](auto& h) { h.source.octets[0] = 1; }));
  EXPECT_FALSE(with([](auto& h) { h.destination = {}; }));
  EXPECT_FALSE(with([](auto& h) { h.source = {}; }));
  const auto tagged = [&](std::uint16_t outer, std::uint16_t inner) {
    return with([&](auto& h) {
      h.tag_count = 2;
      h.tags = {{{outer, 7}, {inner, 8}}};
    });
  };
  EXPECT_TRUE(tagged(0x88a8, 0x8100));
  EXPECT_FALSE(tagged(0x0806, 0x8100)) << "a frame that would be ARP";
  EXPECT_FALSE(tagged(0x8100, 0x0800));
}

// --- a gateway ---------------------------------------------------------------------------------

TEST_F(HubTest, AnOpenInTheNameOfAnotherTerminalsHostReachesNoServer) {
  open(1, open_of("10.1.0.5", "203.0.113.5"));
  EXPECT_FALSE(syn_on_lan());
  EXPECT_EQ(reasons_[1], std::vector<ResetReason>{ResetReason::kPolicy});
  EXPECT_EQ(count(Counter::kFlowsRefusedForeign), 1U);
  EXPECT_EQ(count(Counter::kFlowsFromPeer), 0U);
  open(1, open_of("10.2.0.5", "203.0.113.5"));
  ASSERT_TRUE(syn_on_lan());
  EXPECT_EQ(syn_on_lan()->frame.ip.source, ip_of("10.2.0.5"));
  EXPECT_EQ(count(Counter::kFlowsFromPeer), 1U);
  EXPECT_EQ(count(Counter::kFlowsRefusedForeign), 1U);
}

TEST_F(HubTest, AnOpenToNoHostReachesNobody) {
  for (const std::string_view server : {"192.0.2.1", "192.0.2.3", "255.255.255.255", "127.0.0.1"}) {
    open(0, open_of("10.1.0.5", server));
  }
  EXPECT_EQ(count(Counter::kFlowsRefusedForeign), 4U);
  EXPECT_FALSE(syn_on_lan());
}

TEST_F(HubTest, EvidenceConcernsTheHostsBehindItsSender) {
  const auto hears_host = [&](std::string_view far) {
    wire::TcpHeader tcp;
    tcp.source_port = 80;
    tcp.destination_port = 40'000;
    tcp.flags = wire::TcpFlags::kAck;
    hub_->handle_frame(PortId::kLan, tcp_frame("203.0.113.5", far, tcp), now_);
    std::swap(tcp.source_port, tcp.destination_port);
    hub_->handle_frame(PortId::kWan,
                       tcp_frame(far, "203.0.113.5", tcp, host_to_server().reversed()), now_);
  };
  const auto says = [&](std::string_view host) {
    const HostEvidence evidence{.near = ip_of(host),
                                .far = ip_of("203.0.113.5"),
                                .near_port = 40'000,
                                .far_port = 80,
                                .sends = 1'000'000'000,
                                .expects = 2'000'000'000};
    std::array<std::byte, kMaxHostEvidence> message{};
    const std::size_t size = write_host_evidence(evidence, message);
    EXPECT_TRUE(terminals_[1].session().streams().open(ConstBytes(message).first(size), 0, now_));
    step();
    step();
  };
  hears_host("10.1.0.5");
  hears_host("10.2.0.5");
  on_lan_.clear();
  says("10.1.0.5");
  EXPECT_EQ(count(Counter::kEvidenceRefused), 1U);
  EXPECT_TRUE(on_lan_.empty());
  says("10.2.0.5");
  EXPECT_EQ(count(Counter::kEvidenceRefused), 1U);
  ASSERT_EQ(on_lan_.size(), 1U) << "the host is asked";
  EXPECT_EQ(look_at(on_lan_[0]).ip.destination, ip_of("203.0.113.5"));
}

// The good entries of a list take effect, whatever stands between them.
TEST_F(HubTest, AListOfFlowsConcernsTheHostsBehindItsSender) {
  stp::Session& session = terminals_[1].session();
  constexpr std::array<std::byte, 1> kFlowsMessage{std::byte{0xc2}};
  const auto stream = session.streams().open(kFlowsMessage, 0, now_);
  ASSERT_TRUE(stream);
  const auto list = [&](std::uint8_t client_at_receiver, const OpenMetadata& flow) {
    std::array<std::byte, 2 + kMaxOpenMetadata> entry{};
    const std::size_t size = write_open_metadata(flow, MutableBytes(entry).subspan(2));
    entry[0] = std::byte{client_at_receiver};
    entry[1] = static_cast<std::byte>(size);
    EXPECT_EQ(session.streams().write(*stream, ConstBytes(entry).first(2 + size), now_), 2 + size);
  };
  list(0, open_of("10.1.0.5", "203.0.113.5"));  // t1's client
  list(1, open_of("203.0.113.5", "10.1.0.5"));  // t1's server
  list(1, open_of("203.0.113.5", "127.0.0.1"));
  list(0, open_of("10.2.0.5", "203.0.113.6"));
  session.streams().finish(*stream);
  for (int i = 0; i < 5; ++i) step();
  EXPECT_EQ(count(Counter::kOrphansRefused), 3U);
  EXPECT_EQ(count(Counter::kFlowsOrphaned), 1U);
  EXPECT_EQ(reasons_[1], std::vector<ResetReason>{ResetReason::kPolicy});
  ASSERT_TRUE(syn_on_lan());
  EXPECT_EQ(syn_on_lan()->frame.ip.destination, ip_of("203.0.113.6"));
}

// A host of this LAN uses the address of a host behind a peer. The peer gets nothing of that.
TEST_F(HubTest, ASynFromTheLanInTheNameOfATerminalsHostIsNotRelayed) {
  EXPECT_EQ(lan(tcp_frame("10.1.0.5", "10.2.0.5", syn(1000))), Verdict::kBridge);
  EXPECT_EQ(count(Counter::kBridgedForeignSource), 1U);
  EXPECT_EQ(lan(tcp_frame("10.1.0.5", "10.1.0.9", syn(2000))), Verdict::kBridge);
  EXPECT_EQ(count(Counter::kBridgedForeignSource), 2U);
  EXPECT_EQ(count(Counter::kFlowsAccepted), 0U);
  EXPECT_EQ(lan(tcp_frame("203.0.113.5", "10.2.0.5", syn(3000))), Verdict::kConsumed);
  EXPECT_EQ(count(Counter::kFlowsAccepted), 1U);
}

// From terminal to terminal, by a router of the hub's LAN. The router sends the hub's own SYN back,
// with another MAC, TTL and VLAN, and the hub relays it. A SYN with another number is a forgery.
TEST_F(HubTest, ASynOfOursThatARouterSendsBackIsRelayedToTheOtherTerminal) {
  open(0, open_of("10.1.0.5", "10.2.0.5"));
  const auto ours = syn_on_lan();
  ASSERT_TRUE(ours);
  wire::EthernetHeader by_router;
  by_router.source = {{2, 0, 0, 0, 0, 0x77}};
  by_router.destination = {{2, 0, 0, 0, 0, 0x88}};
  by_router.tag_count = 1;
  by_router.tags[0] = {0x8100, 12};
  EXPECT_EQ(lan(tcp_frame("10.1.0.5", "10.2.0.5", syn(ours->tcp.sequence + 1), by_router)),
            Verdict::kBridge);
  EXPECT_EQ(count(Counter::kBridgedForeignSource), 1U);
  wire::TcpHeader back = syn(ours->tcp.sequence);
  EXPECT_EQ(lan(tcp_frame("10.1.0.5", "10.2.0.6", back, by_router)), Verdict::kBridge)
      << "to another host";
  EXPECT_EQ(lan(tcp_frame("10.1.0.5", "10.2.0.5", back, by_router)), Verdict::kConsumed);
  EXPECT_EQ(count(Counter::kFlowsAccepted), 1U);
  back.sequence += 1;
  back.acknowledgment = 0;
  // The hub's answer, and the last ACK by way of the router, open the connection towards t2.
  step();
  std::optional<wire::TcpHeader> answer;
  for (const FrameBytes& bytes : on_lan_) {
    const auto tcp = wire::parse_tcp(look_at(bytes).payload);
    if (tcp && tcp->header.flags == (Flags::kSyn | Flags::kAck)) answer = tcp->header;
  }
  ASSERT_TRUE(answer);
  back.flags = Flags::kAck;
  back.acknowledgment = answer->sequence + 1;
  back.options = {};
  EXPECT_EQ(lan(tcp_frame("10.1.0.5", "10.2.0.5", back, by_router)), Verdict::kConsumed);
  step();
  step();
  ASSERT_EQ(opened_[1].size(), 1U);
  EXPECT_EQ(opened_[1][0].client, ip_of("10.1.0.5"));
  EXPECT_EQ(opened_[1][0].server, ip_of("10.2.0.5"));
}

// The hub remembers its SYN for as long as hosts repeat theirs.
TEST_F(HubTest, ASynOfOursThatComesBackTooLateIsForeign) {
  open(0, open_of("10.1.0.5", "10.2.0.5"));
  const auto ours = syn_on_lan();
  ASSERT_TRUE(ours);
  for (int i = 0; i < 1'210; ++i) step();
  EXPECT_EQ(lan(tcp_frame("10.1.0.5", "10.2.0.5", syn(ours->tcp.sequence))), Verdict::kBridge);
  EXPECT_EQ(count(Counter::kBridgedForeignSource), 1U);
}

}  // namespace
}  // namespace satrelay::gateway::claims_test
