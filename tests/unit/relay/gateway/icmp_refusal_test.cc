// A client waits for its server, and an ICMP error about its SYN arrives at the far gateway. The
// client gets the error itself, about its own SYN. So its kernel decides as over a bridge.
#include <gtest/gtest.h>

#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "pep/base/random.h"
#include "pep/wire/icmp.h"
#include "pep/wire/tcp.h"
#include "relay/gateway/addresses/lan/lan_neighbours.h"
#include "relay/gateway/flows/table/failed_syns.h"
#include "relay/gateway/frames/path_error.h"
#include "tests/unit/relay/gateway/gateway_fixture.h"
#include "tests/unit/relay/gateway/hub_fixture.h"

namespace satrelay::gateway::icmp_refusal_test {
namespace {

using Flags = wire::TcpFlags;

constexpr auto kClient6 = "2001:db8:2::5";
constexpr auto kServer6 = "2001:db8:1::5";

FrameBytes error_about(const FrameBytes& failed, IcmpCode code, const char* sender) {
  const auto packet = ConstBytes(failed).subspan(wire::kEthernetHeaderSize);
  wire::IpHeader ip;
  ip.source = ip_of(sender);
  ip.destination = wire::parse_ip(packet)->source;
  ip.protocol = ip.source.is_v4() ? wire::kProtocolIcmp : wire::kProtocolIcmpV6;
  FrameBytes payload(wire::kIcmpHeaderSize + packet.size());
  wire::write_icmp(ip, {.type = code.type, .code = code.code, .rest = 0, .body = packet}, payload);
  return ip_frame(host_to_server().reversed(), ip, payload);
}

// An ICMP error as a client's kernel reads it.
struct Told {
  IpAddress sender;
  wire::EthernetHeader ethernet;
  IcmpCode code;
  wire::QuotedFlow quoted;
};
std::optional<Told> told_by(ConstBytes bytes) {
  const Frame frame = look_at(bytes);
  if (frame.kind != FrameKind::kIcmp) return std::nullopt;
  const auto message = wire::parse_icmp(frame.ip, frame.payload);
  const auto quoted = message ? wire::parse_quoted_flow(frame.ip, *message) : std::nullopt;
  if (!quoted) return std::nullopt;
  return Told{frame.ip.source, frame.ethernet, {message->type, message->code}, *quoted};
}

class IcmpRefusal : public GatewayTest {
 protected:
  void SetUp() override {
    config_a_.rules.back().modes.handshake = config::HandshakeMode::kRemote;
    config_a_.peers[0].prefixes.push_back(*IpPrefix::parse("2001:db8:1::/48"));
    config_b_.peers[0].prefixes.push_back(*IpPrefix::parse("2001:db8:2::/48"));
    a_ = std::make_unique<Gateway>(
        config_a_, Identity{.boot_epoch = 2, .secret = {1, 2}, .wan_mac = kGatewayMac}, memory_a_,
        now_);
    start_peer();
  }
  // The far LAN answers a SYN of the client with this error. Returns the error that the client
  // gets, if any.
  std::optional<Told> connect(IcmpCode code, const char* sender, const char* client = kClient,
                              const char* server = kServer) {
    lan(tcp_frame(client, server, syn(++port_)));
    step();
    FrameBytes asked(b_->max_frame_size());
    asked.resize(b_->poll_frame(PortId::kLan, asked, now_).size);
    EXPECT_FALSE(asked.empty());
    EXPECT_FALSE(next_frame(PortId::kLan)) << "the client has been answered too early";
    if (asked.empty()) return std::nullopt;
    b_->handle_frame(PortId::kLan, error_about(asked, code, sender), now_);
    FrameBytes more(b_->max_frame_size());
    EXPECT_EQ(b_->poll_frame(PortId::kLan, more, now_).size, 0U) << "the server hears no more";
    step();
    const auto first = next_frame(PortId::kLan);
    EXPECT_FALSE(next_frame(PortId::kLan)) << "no more than one";
    EXPECT_EQ(a_->flow_count(), 0U);
    EXPECT_EQ(b_->flow_count(), 0U);
    return first ? told_by(*first) : std::nullopt;
  }
  std::uint16_t port_ = 40'000;
};

TEST_F(IcmpRefusal, TheClientGetsTheErrorAboutItsOwnSyn) {
  constexpr auto kRouter = "198.51.100.254";
  for (const IcmpCode code : {IcmpCode{3, 0}, IcmpCode{3, 1}, IcmpCode{3, 3}, IcmpCode{3, 10},
                              IcmpCode{3, 13}, IcmpCode{11, 0}, IcmpCode{12, 0}}) {
    const auto told = connect(code, kRouter);
    ASSERT_TRUE(told) << int{code.type} << "/" << int{code.code};
    EXPECT_EQ(told->code, code);
    EXPECT_EQ(told->sender, ip_of(kRouter));
    EXPECT_EQ(told->ethernet.destination, host_to_server().source);
    EXPECT_EQ(told->quoted.source, ip_of(kClient));
    EXPECT_EQ(told->quoted.destination, ip_of(kServer));
    EXPECT_EQ(told->quoted.source_port, port_);
    EXPECT_EQ(told->quoted.destination_port, 80);
    EXPECT_EQ(told->quoted.sequence, syn().sequence);
  }
  EXPECT_EQ(count(Counter::kIcmpToClients), 7U);
  EXPECT_EQ(count(Counter::kFlowsRefused), 1U) << "port unreachable";
  EXPECT_EQ(count(Counter::kFlowsUnreachable), 6U);
  EXPECT_EQ(count(Counter::kServicesRefusing), 1U);
  EXPECT_EQ(count(Counter::kBridgedAsymmetric), 0U);
}

TEST_F(IcmpRefusal, SoItDoesWithIpv6) {
  for (const IcmpCode code :
       {IcmpCode{1, 0}, IcmpCode{1, 1}, IcmpCode{1, 3}, IcmpCode{1, 4}, IcmpCode{3, 0}}) {
    const auto told = connect(code, kServer6, kClient6, kServer6);
    ASSERT_TRUE(told) << int{code.type} << "/" << int{code.code};
    EXPECT_EQ(told->code, code);
    EXPECT_EQ(told->sender, ip_of(kServer6));
    EXPECT_EQ(told->quoted.source, ip_of(kClient6));
    EXPECT_EQ(told->quoted.source_port, port_);
    EXPECT_EQ(told->quoted.sequence, syn().sequence);
  }
}

TEST_F(IcmpRefusal, WhoIsNotBehindThePeerSpeaksInTheServersName) {
  for (const char* sender : {"203.0.113.77", "10.0.0.1"}) {
    const auto told = connect({3, 13}, sender);
    ASSERT_TRUE(told) << sender;
    EXPECT_EQ(told->sender, ip_of(kServer)) << sender;
  }
}

// A server that answers with an ICMP error has been reached, and so its address family works.
TEST_F(IcmpRefusal, OnlyAnErrorOfAnotherLetsTheFamilySeemSilent) {
  config_a_.peers[0].prefixes = {*IpPrefix::parse("198.51.0.0/16")};
  SetUp();
  constexpr const char* kServers[] = {"198.51.1.1", "198.51.2.1", "198.51.3.1"};
  for (const char* server : kServers) {
    EXPECT_TRUE(connect({3, 13}, server, kClient, server));
  }
  EXPECT_EQ(count(Counter::kFamiliesSilent), 0U);
  for (const char* server : kServers) {
    EXPECT_TRUE(connect({3, 1}, "198.51.9.9", kClient, server));
  }
  now_ += Duration::seconds(400);
  for (int i = 0; i < 40; ++i) step();
  for (const char* server : kServers) {
    EXPECT_TRUE(connect({3, 1}, "198.51.9.9", kClient, server));
  }
  EXPECT_EQ(count(Counter::kFamiliesSilent), 1U);
}

// If an error finds no room, its client sends the SYN again.
TEST(FailedSynsTest, OnlySoManyWait) {
  FailedSyns errors;
  std::size_t kept = 0;
  for (; kept < 300 && !errors.full(); ++kept) {
    FailedSyn syn;
    syn.key = {ip_of(kClient6), ip_of(kServer6), static_cast<std::uint16_t>(kept), 80, {}};
    syn.sequence = static_cast<std::uint32_t>(kept);
    syn.options.mss = 1460;
    syn.options.window_scale = 7;
    syn.options.sack_permitted = true;
    syn.options.timestamps = wire::TcpTimestamps{};
    wire::EthernetHeader to_host = host_to_server().reversed();
    to_host.type = wire::EtherType::kIpv6;
    to_host.tag_count = 2;
    to_host.tags = {{{0x88a8, 5}, {0x8100, 6}}};
    errors.push({to_host, ip_of(kServer6), {1, 1}, syn});
  }
  EXPECT_EQ(kept, FailedSyns::kMost);
  FrameBytes room(kMostFailedSynFrame);
  for (std::size_t i = 0; i < kept; ++i) {
    const std::size_t size = errors.poll_frame(room);
    const auto told = told_by(ConstBytes(room).first(size));
    ASSERT_TRUE(told) << i;
    EXPECT_EQ(told->quoted.sequence, i) << "in their order";
    EXPECT_EQ(told->ethernet.tag_count, 2U);
  }
  EXPECT_TRUE(errors.empty());
  EXPECT_EQ(errors.poll_frame(room), 0U);
}

// --- a peer that sends what it likes, and an older one -------------------------------------------

config::Gateway hub_of_patient_clients() {
  config::Gateway config = hub();
  config.rules = {{}};
  config.rules[0].modes.handshake = config::HandshakeMode::kRemote;
  return config;
}

class ToldByAPeer : public HubTest {
 protected:
  static constexpr auto kHost = "192.168.7.7";
  static constexpr auto kFar = "10.1.0.5";
  ToldByAPeer() : HubTest(hub_of_patient_clients()) {}

  std::optional<Told> connect(const stp::IcmpRefusal& refusal) {
    lan(tcp_frame(kHost, kFar, syn(1'000)));
    for (int i = 0; i < 2; ++i) step();
    EXPECT_FALSE(streams_[0].empty());
    on_lan_.clear();
    if (streams_[0].empty()) return std::nullopt;
    terminals_[0].session().streams().reset(streams_[0].back(), refusal, now_);
    for (int i = 0; i < 2; ++i) step();
    EXPECT_EQ(hub_->flow_count(), 0U);
    EXPECT_LE(on_lan_.size(), 1U);
    return on_lan_.empty() ? std::nullopt : told_by(on_lan_[0]);
  }
};

TEST_F(ToldByAPeer, OnlyWhatEndsConnectIsPassedOn) {
  EXPECT_TRUE(connect({3, 1, ip_of(kFar)}));
  for (const auto& [type, code] : std::vector<std::pair<int, int>>{
           {5, 1}, {3, 4}, {3, 16}, {0, 0}, {8, 0}, {9, 0}, {4, 0}, {13, 0}, {255, 255}}) {
    EXPECT_FALSE(
        connect({static_cast<std::uint8_t>(type), static_cast<std::uint8_t>(code), ip_of(kFar)}))
        << type << "/" << code;
    EXPECT_TRUE(on_lan_.empty()) << "the host asks again";
  }
}

TEST_F(ToldByAPeer, ItSpeaksInTheNameOfItsHostsOnly) {
  for (const char* sender : {kHost, "192.0.2.1", "192.168.7.1", "10.2.0.1", "0.0.0.0",
                             "255.255.255.255", "2001:db8:1::1"}) {
    const auto told = connect({3, 13, ip_of(sender)});
    ASSERT_TRUE(told) << sender;
    EXPECT_EQ(told->sender, ip_of(kFar)) << sender;
  }
  const auto told = connect({3, 13, ip_of("10.1.9.9")});
  ASSERT_TRUE(told);
  EXPECT_EQ(told->sender, ip_of("10.1.9.9"));
}

class ToldToAPeer : public HubTest {
 protected:
  static constexpr auto kHere = "192.168.7.7";
  explicit ToldToAPeer(Knows second = Knows::kUnderstood, const config::Gateway& config = hub())
      : HubTest(config, second) {}
  void answer(IcmpCode code) {
    open(1, open_of("10.2.0.5", kHere));
    ASSERT_FALSE(on_lan_.empty());
    lan(error_about(on_lan_.back(), code, kHere));
    step();
  }
};

class ToldToAnOlderPeer : public ToldToAPeer {
 protected:
  ToldToAnOlderPeer() : ToldToAPeer(Knows::kUnknown) {}
};

using Reasons = std::vector<stp::ResetReason>;

TEST_F(ToldToAPeer, TheErrorGoesWithTheReset) {
  answer({3, 13});
  EXPECT_EQ(reasons_[1], Reasons{stp::ResetReason::kIcmp});
}

// A stranger knows addresses and ports only. The numbers are others with --gtest_shuffle.
TEST_F(ToldToAPeer, ErrorsThatQuoteNoNumberOfOursEndNothing) {
  constexpr int kErrors = 100'000;
  OpenMetadata open_now = open_of("10.2.0.5", kHere);
  std::vector<FrameBytes> syns;
  for (const std::uint16_t port : {std::uint16_t{40'001}, std::uint16_t{40'002}}) {
    open_now.client_port = port;
    open(1, open_now);
    ASSERT_EQ(on_lan_.size(), syns.size() + 1);
    syns.push_back(on_lan_.back());
  }
  // The first connection is established, and the second one waits for its server.
  wire::TcpHeader answer = wire::parse_tcp(look_at(syns[0]).payload)->header;
  std::swap(answer.source_port, answer.destination_port);
  answer.acknowledgment = answer.sequence + 1;
  answer.flags = Flags::kSyn | Flags::kAck;
  lan(tcp_frame(kHere, "10.2.0.5", answer));
  step();
  const std::size_t flows = hub_->flow_count();
  ASSERT_EQ(flows, 2U);
  Random random(static_cast<std::uint64_t>(testing::UnitTest::GetInstance()->random_seed()));
  constexpr IcmpCode kCodes[] = {{3, 0}, {3, 1}, {3, 2}, {3, 3}, {3, 9}, {3, 10}, {3, 13}, {11, 0}};
  for (int i = 0; i < kErrors; ++i) {
    FrameBytes quoted = syns[static_cast<std::size_t>(i % 2)];
    std::byte* const sequence = &quoted[wire::kEthernetHeaderSize + wire::kIpv4HeaderSize + 4];
    const auto other = static_cast<std::uint32_t>(1 + random.below(0xffff'ffff));
    store_u32(sequence, load_u32(sequence) + other);
    lan(error_about(quoted, kCodes[random.below(std::size(kCodes))], kHere));
  }
  step();
  EXPECT_EQ(reasons_[1], Reasons{});
  EXPECT_EQ(hub_->flow_count(), flows);
  lan(error_about(syns[1], {3, 13}, kHere));
  step();
  EXPECT_EQ(reasons_[1], Reasons{stp::ResetReason::kIcmp}) << "the right number";
}

// The client may have been answered already, and the error may pass.
TEST_F(ToldToAnOlderPeer, OnlyAHardErrorEndsTheAttempt) {
  answer({3, 13});
  EXPECT_EQ(reasons_[1], Reasons{});
  lan(error_about(on_lan_.back(), {3, 3}, kHere));
  step();
  EXPECT_EQ(reasons_[1], Reasons{stp::ResetReason::kRefused});
}

config::Gateway hub_behind_a_router() {
  config::Gateway config = hub();
  config.gateway.address = *IpPrefix::parse("192.0.2.0/31");
  config.gateway.next_hop = ip_of("192.0.2.0");
  return config;
}

class WithoutANeighbour : public ToldToAPeer {
 protected:
  explicit WithoutANeighbour(Knows second = Knows::kUnderstood)
      : ToldToAPeer(second, hub_behind_a_router()) {}
  void ask_for_nobody() {
    open(1, open_of("10.2.0.5", kHere));
    const auto seconds = LanNeighbours::kPatience / Duration::seconds(1) + 1;
    for (int i = 0; i < 10 * seconds; ++i) step();
  }
};

class OlderPeerWithoutANeighbour : public WithoutANeighbour {
 protected:
  OlderPeerWithoutANeighbour() : WithoutANeighbour(Knows::kUnknown) {}
};

TEST_F(WithoutANeighbour, TheGatewaySaysSoItself) {
  ask_for_nobody();
  EXPECT_EQ(reasons_[1], Reasons{stp::ResetReason::kIcmp});
  EXPECT_EQ(count(Counter::kFlowsUnreachable), 1U);
}

// The host did not have the time to answer, so the client asks again.
TEST_F(WithoutANeighbour, AGatewayThatStoodStillDoesNotSaySo) {
  open(1, open_of("10.2.0.5", kHere));
  now_ += LanNeighbours::kPatience;
  for (int i = 0; i < 10; ++i) step();
  EXPECT_EQ(reasons_[1], Reasons{stp::ResetReason::kUnreachable});
}

TEST_F(OlderPeerWithoutANeighbour, ItSaysUnreachable) {
  ask_for_nobody();
  EXPECT_EQ(reasons_[1], Reasons{stp::ResetReason::kUnreachable});
}

}  // namespace
}  // namespace satrelay::gateway::icmp_refusal_test
