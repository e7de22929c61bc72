// A device between the two gateways, which only the prefix for everything holds: its connections
// are bridged, as no far gateway reaches it. A router that answers ARP for all addresses, and who
// forges answers, keep no connection of a far host in the clear.

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "pep/wire/arp.h"
#include "pep/wire/icmp.h"
#include "relay/gateway/addresses/common_knowledge.h"
#include "relay/gateway/addresses/solicited_node.h"
#include "relay/gateway/frames/frame.h"
#include "relay/gateway/opening/syn_trials.h"
#include "tests/unit/relay/gateway/gateway_fixture.h"

namespace satrelay::gateway::devices_between_test {
namespace {

using Flags = wire::TcpFlags;

constexpr auto kModem = "192.168.100.1";
constexpr auto kModem6 = "2001:db8:64::1";
constexpr auto kClient6 = "2001:db8:a::5";
constexpr MacAddress kModemMac{{2, 0, 0x5e, 0, 0x33, 1}};
constexpr std::uint32_t kServerNumber = 9'000;

FrameBytes neighbour_frame(const wire::EthernetHeader& to, const IpAddress& source,
                           const IpAddress& destination, const wire::NeighbourMessage& message) {
  wire::IpHeader ip;
  ip.source = source;
  ip.destination = destination;
  ip.protocol = wire::kProtocolIcmpV6;
  ip.hop_limit = 255;
  FrameBytes body(64);
  body.resize(wire::write_neighbour(ip, message, body));
  return ip_frame(to, ip, body);
}

class BetweenGatewaysTest : public GatewayTest {
 protected:
  void SetUp() override { start({"0.0.0.0/0", "::/0"}); }
  void start(std::vector<const char*> prefixes, std::shared_ptr<CommonKnowledge> common = nullptr) {
    config_a_.peers[0].prefixes.clear();
    for (const char* each : prefixes) {
      config_a_.peers[0].prefixes.push_back(*IpPrefix::parse(each));
    }
    config_b_.peers[0].prefixes = {*IpPrefix::parse("203.0.113.0/24"),
                                   *IpPrefix::parse("192.168.100.0/24"),
                                   *IpPrefix::parse("2001:db8:a::/48")};
    wire_.clear();
    a_.reset();
    b_.reset();
    a_ = std::make_unique<Gateway>(config_a_,
                                   Identity{.boot_epoch = ++epoch_,
                                            .secret = {1, 2},
                                            .wan_mac = kGatewayMac,
                                            .common = std::move(common)},
                                   memory_a_, now_);
    b_ = std::make_unique<Gateway>(
        config_b_, Identity{.boot_epoch = ++epoch_, .secret = {3, 4}, .wan_mac = kPeerMac},
        memory_b_, now_);
    wait(Duration::seconds(6));
    ASSERT_EQ(a_->peers()[0].state, stp::PeerState::kAlive);
    to_server_.clear();
    to_host_.clear();
  }

  void restart_far_gateway() {
    wire_.clear();
    b_.reset();
    b_ = std::make_unique<Gateway>(
        config_b_, Identity{.boot_epoch = ++epoch_, .secret = {3, 4}, .wan_mac = kPeerMac},
        memory_b_, now_);
    do {
      wait(Duration::milliseconds(100));
    } while (a_->peers()[0].state != stp::PeerState::kAlive ||
             b_->peers()[0].state != stp::PeerState::kAlive);
  }

  // Both gateways work, over a path of 600 ms.
  void wait(Duration duration) {
    for (const Instant end = now_ + duration; now_ < end;) {
      now_ += Duration::milliseconds(5);
      for (Gateway* const gateway : {a_.get(), b_.get()}) {
        if (gateway->next_timeout() <= now_) gateway->handle_timeout(now_);
        FrameBytes frame(gateway->max_frame_size());
        while (const std::size_t size = gateway->poll_frame(PortId::kWan, frame, now_).size) {
          cross(gateway == a_.get() ? b_.get() : a_.get(), ConstBytes(frame).first(size));
        }
        while (const std::size_t size = gateway->poll_frame(PortId::kLan, frame, now_).size) {
          note(gateway == a_.get() ? to_host_ : to_server_, ConstBytes(frame).first(size));
        }
      }
      while (!wire_.empty() && wire_.front().due <= now_) {
        const Crossing crossing = wire_.front();
        wire_.pop_front();
        const Verdict verdict = crossing.to->handle_frame(PortId::kWan, crossing.bytes, now_);
        if (verdict == Verdict::kBridge) {
          note(crossing.to == a_.get() ? to_host_ : to_server_, crossing.bytes);
        }
      }
    }
  }
  // A host sends by gateway A, and what is bridged crosses to B.
  Verdict say(const FrameBytes& frame) {
    const Verdict verdict = lan(frame);
    if (verdict == Verdict::kBridge) cross(b_.get(), frame);
    return verdict;
  }

  // The host asks, and an answer comes from the WAN after a while.
  void resolve(const char* host, Duration after = Duration::milliseconds(5)) {
    ask(host);
    wait(after);
    answer(host);
  }
  void ask(const char* host) {
    wire::EthernetHeader to_all = host_to_server();
    if (ip_of(host).is_v4()) {
      to_all.destination = MacAddress::broadcast();
      say(arp_frame(to_all, {.operation = wire::ArpOperation::kRequest,
                             .sender_mac = kHostMac,
                             .sender = ip_of(kClient),
                             .target_mac = {},
                             .target = ip_of(host)}));
      return;
    }
    const IpAddress group = solicited_node(ip_of(host));
    to_all.destination = multicast_mac(group);
    say(neighbour_frame(to_all, ip_of(kClient6), group,
                        {.advertisement = false, .target = ip_of(host), .link_layer = kHostMac}));
  }
  void answer(const char* host) {
    wire::EthernetHeader to_host;
    to_host.source = kModemMac;
    to_host.destination = kHostMac;
    if (ip_of(host).is_v4()) {
      wan(arp_frame(to_host, {.operation = wire::ArpOperation::kReply,
                              .sender_mac = kModemMac,
                              .sender = ip_of(host),
                              .target_mac = kHostMac,
                              .target = ip_of(kClient)}));
      return;
    }
    wan(neighbour_frame(to_host, ip_of(host), ip_of(kClient6),
                        {.advertisement = true, .target = ip_of(host), .link_layer = kModemMac}));
  }

  static const char* client_of(const char* server) {
    return ip_of(server).is_v4() ? kClient : kClient6;
  }
  Verdict connect(std::uint16_t port, const char* server = kServer) {
    return say(tcp_frame(client_of(server), server, syn(port)));
  }
  static wire::TcpHeader syn_ack(std::uint16_t port, std::uint32_t acknowledgment = 1'001,
                                 std::uint8_t flags = Flags::kSyn | Flags::kAck) {
    wire::TcpHeader tcp;
    tcp.source_port = 80;
    tcp.destination_port = port;
    tcp.sequence = kServerNumber;
    tcp.acknowledgment = acknowledgment;
    tcp.flags = flags;
    tcp.window = 64'240;
    return tcp;
  }
  // What the client sends when its SYN was answered.
  static wire::TcpHeader behind(std::uint16_t port,
                                std::uint32_t acknowledgment = kServerNumber + 1) {
    wire::TcpHeader tcp = syn(port);
    tcp.flags = Flags::kAck;
    ++tcp.sequence;
    tcp.acknowledgment = acknowledgment;
    tcp.options = {};
    return tcp;
  }
  static FrameBytes from_server(const wire::TcpHeader& tcp, const char* server = kServer) {
    return tcp_frame(server, client_of(server), tcp, host_to_server().reversed());
  }
  // A device on the WAN answers, or somebody forges its answer.
  Verdict answer_from_wan(std::uint16_t port, const char* server = kServer,
                          std::uint32_t acknowledgment = 1'001) {
    return wan(from_server(syn_ack(port, acknowledgment), server));
  }
  // The far host answers what it has got, and gateway B bridges that.
  void answer_from_far_lan(std::uint16_t port, std::uint32_t number = kServerNumber) {
    wire::TcpHeader tcp = syn_ack(port);
    tcp.sequence = number;
    const FrameBytes bytes = from_server(tcp);
    ASSERT_EQ(b_->handle_frame(PortId::kLan, bytes, now_), Verdict::kBridge);
    cross(a_.get(), bytes);
  }

  // A host of the far LAN has the address, as its ARP tells.
  void tell_on_far_lan(const char* host) {
    wire::EthernetHeader to_all;
    to_all.source = kServerMac;
    to_all.destination = MacAddress::broadcast();
    b_->handle_frame(PortId::kLan,
                     arp_frame(to_all, {.operation = wire::ArpOperation::kRequest,
                                        .sender_mac = kServerMac,
                                        .sender = ip_of(host),
                                        .target_mac = {},
                                        .target = ip_of("198.51.100.1")}),
                     now_);
  }

  struct Seen {
    wire::TcpHeader tcp;
    IpAddress source;
  };
  static std::optional<Seen> take(std::vector<Seen>& seen, std::uint8_t flags) {
    const auto found = std::ranges::find_if(
        seen, [&](const Seen& each) { return (each.tcp.flags & flags) == flags; });
    if (found == seen.end()) return std::nullopt;
    const Seen taken = *found;
    seen.erase(found);
    return taken;
  }
  std::optional<Counter> explained(const char* server) const {
    PolicyKey key;
    key.source = ip_of(client_of(server));
    key.destination = ip_of(server);
    key.port = 80;
    key.protocol = wire::kProtocolTcp;
    return a_->explain(key, now_).bridged_as;
  }

  std::vector<Seen> to_server_, to_host_;  // TCP on the two LANs
  Duration one_way_ = Duration::milliseconds(300);

 private:
  struct Crossing {
    Instant due;
    Gateway* to = nullptr;
    FrameBytes bytes;
  };
  void cross(Gateway* to, ConstBytes bytes) {
    wire_.push_back({now_ + one_way_, to, FrameBytes(bytes.begin(), bytes.end())});
  }
  static void note(std::vector<Seen>& seen, ConstBytes bytes) {
    const Frame frame = look_at(bytes);
    if (frame.kind != FrameKind::kTcp) return;
    if (const auto tcp = wire::parse_tcp(frame.payload)) {
      seen.push_back({tcp->header, frame.ip.source});
    }
  }
  std::deque<Crossing> wire_;
  std::uint64_t epoch_ = 1;
};

TEST_F(BetweenGatewaysTest, ADeviceThatAnswersSoonIsBridged) {
  for (const char* const modem : {kModem, kModem6}) {
    ASSERT_EQ(explained(modem), std::nullopt);
    resolve(modem);
    EXPECT_EQ(connect(40'000, modem), Verdict::kBridge) << modem;
    wait(Duration::milliseconds(5));
    EXPECT_EQ(answer_from_wan(40'000, modem), Verdict::kBridge);
    EXPECT_EQ(explained(modem), Counter::kBridgedBetweenGateways);
    wait(Duration::seconds(60));
    EXPECT_EQ(connect(40'001, modem), Verdict::kBridge);
    wait(Duration::milliseconds(5));
    EXPECT_EQ(answer_from_wan(40'001, modem), Verdict::kBridge);
  }
  EXPECT_EQ(count(Counter::kAddressesBetween), 2U);
  EXPECT_EQ(count(Counter::kBridgedOnTrial), 2U);
  EXPECT_EQ(count(Counter::kBridgedBetweenGateways), 2U);
  EXPECT_EQ(count(Counter::kHintsVoid), 0U);
  EXPECT_EQ(connect(40'002), Verdict::kConsumed) << "a far host";
}

// Beyond the WAN port stands a router between VLANs of this LAN: a router on a stick.
TEST_F(BetweenGatewaysTest, AHostOfAnotherVlanThatARouterReachesIsBridged) {
  constexpr auto kNeighbour = "192.168.20.5";
  wire::EthernetHeader tagged;
  tagged.source = kServerMac;
  tagged.destination = MacAddress::broadcast();
  tagged.tag_count = 1;
  tagged.tags[0] = {.tpid = 0x8100, .tci = 20};
  EXPECT_EQ(connect(40'000, kNeighbour), Verdict::kConsumed) << "nothing tells of it";
  lan(arp_frame(tagged, {.operation = wire::ArpOperation::kRequest,
                         .sender_mac = kServerMac,
                         .sender = ip_of(kNeighbour),
                         .target_mac = {},
                         .target = ip_of("192.168.20.1")}));
  EXPECT_EQ(connect(40'001, kNeighbour), Verdict::kBridge);
  wait(Duration::milliseconds(5));
  EXPECT_EQ(answer_from_wan(40'001, kNeighbour), Verdict::kBridge);
  EXPECT_EQ(explained(kNeighbour), Counter::kBridgedBetweenGateways);
  EXPECT_EQ(count(Counter::kAddressesBetween), 1U);
}

// IPv6 hosts rarely say of themselves what ARP says in each request: their solicitations have it as
// the source, and their answers to one host leave out the MAC.
TEST_F(BetweenGatewaysTest, AHostOfAnotherVlanThatARouterReachesOverIpv6IsBridged) {
  constexpr auto kRouter = "2001:db8:20::1";
  wire::EthernetHeader tagged;
  tagged.source = kServerMac;
  tagged.destination = kModemMac;
  tagged.tag_count = 1;
  tagged.tags[0] = {.tpid = 0x8100, .tci = 20};
  const auto say_once = [&](const char* source, const wire::NeighbourMessage& message) {
    lan(neighbour_frame(tagged, ip_of(source), ip_of(kRouter), message));
  };
  say_once("::", {.target = ip_of("2001:db8:20::7")});
  EXPECT_EQ(connect(40'000, "2001:db8:20::7"), Verdict::kConsumed) << "it may not get the address";
  say_once("2001:db8:20::5", {.target = ip_of(kRouter)});
  say_once("fe80::6", {.advertisement = true, .target = ip_of("2001:db8:20::6")});
  for (const char* const host : {"2001:db8:20::5", "2001:db8:20::6"}) {
    EXPECT_EQ(connect(40'001, host), Verdict::kBridge) << host;
    wait(Duration::milliseconds(5));
    EXPECT_EQ(answer_from_wan(40'001, host), Verdict::kBridge);
    EXPECT_EQ(explained(host), Counter::kBridgedBetweenGateways);
  }
}

// A session that is new knows no shortest round trip yet.
TEST_F(BetweenGatewaysTest, AKnownDeviceIsBridgedAtOnceAfterARestartOfThePeer) {
  resolve(kModem);
  ASSERT_EQ(connect(40'000, kModem), Verdict::kBridge);
  ASSERT_EQ(answer_from_wan(40'000, kModem), Verdict::kBridge);
  restart_far_gateway();
  ASSERT_EQ(connect(40'001, kServer), Verdict::kConsumed) << "relayed";
  EXPECT_EQ(connect(40'002, kModem), Verdict::kBridge);
  EXPECT_EQ(explained(kModem), Counter::kBridgedBetweenGateways);
}

// A browser opens several at once.
TEST_F(BetweenGatewaysTest, ConnectionsAtOnceAreTriedTogether) {
  resolve(kModem);
  for (std::uint16_t port = 40'000; port < 40'006; ++port) {
    EXPECT_EQ(connect(port, kModem), Verdict::kBridge);
  }
  wait(Duration::milliseconds(5));
  for (std::uint16_t port = 40'000; port < 40'006; ++port) {
    EXPECT_EQ(answer_from_wan(port, kModem), Verdict::kBridge);
  }
  EXPECT_EQ(count(Counter::kAddressesBetween), 1U);
}

TEST_F(BetweenGatewaysTest, APortThatRefusesConfirmsTheDeviceToo) {
  resolve(kModem);
  ASSERT_EQ(connect(40'000, kModem), Verdict::kBridge);
  const auto refusal = syn_ack(40'000, 1'001, Flags::kRst | Flags::kAck);
  EXPECT_EQ(wan(from_server(refusal, kModem)), Verdict::kBridge);
  EXPECT_EQ(count(Counter::kAddressesBetween), 1U);
}

TEST_F(BetweenGatewaysTest, APortOfAConfirmedDeviceMayBeSilent) {
  resolve(kModem);
  ASSERT_EQ(connect(40'000, kModem), Verdict::kBridge);
  ASSERT_EQ(connect(40'001, kModem), Verdict::kBridge);
  wait(Duration::milliseconds(5));
  ASSERT_EQ(answer_from_wan(40'000, kModem), Verdict::kBridge);
  wait(Duration::seconds(1));
  EXPECT_EQ(connect(40'001, kModem), Verdict::kBridge) << "repeated";
  EXPECT_EQ(count(Counter::kHintsVoid), 0U);
}

TEST_F(BetweenGatewaysTest, AnAnswerAsLateAsAFarHostsIsNoHint) {
  resolve(kServer, Duration::milliseconds(350));
  EXPECT_EQ(connect(40'000), Verdict::kConsumed);
  // An answer to the first of two questions comes soon after the second.
  ask(kModem);
  wait(Duration::milliseconds(900));
  resolve(kModem);
  EXPECT_EQ(connect(40'001, kModem), Verdict::kConsumed);
  // And who answers without a question gives no hint.
  answer("192.168.100.7");
  EXPECT_EQ(connect(40'002, "192.168.100.7"), Verdict::kConsumed);
}

// The router on the cable does so: one SYN is bridged, and taken back when the far host answers.
TEST_F(BetweenGatewaysTest, AProxyArpRouterThatAnswersForAllCostsOneSyn) {
  resolve(kServer);
  ASSERT_EQ(connect(40'000), Verdict::kBridge);
  wait(Duration::milliseconds(305));
  ASSERT_TRUE(take(to_server_, Flags::kSyn));
  answer_from_far_lan(40'000);
  wait(Duration::milliseconds(305));
  EXPECT_EQ(count(Counter::kDroppedTakenBack), 1U);
  EXPECT_FALSE(take(to_host_, Flags::kSyn | Flags::kAck)) << "it would go on in the clear";
  EXPECT_EQ(count(Counter::kHintsVoid), 1U);
  wait(Duration::milliseconds(305));
  const auto reset = take(to_server_, Flags::kRst);
  ASSERT_TRUE(reset) << "the far host must forget the first SYN";
  EXPECT_EQ(reset->tcp.sequence, 1'001U);
  EXPECT_EQ(reset->source, ip_of(kClient));
  // A far host that repeats its answer meanwhile is not heard either.
  const auto bytes = from_server(syn_ack(40'000));
  EXPECT_EQ(wan(bytes), Verdict::kDrop);
  // The host repeats its SYN a second after the first.
  EXPECT_EQ(connect(40'000), Verdict::kConsumed);
  wait(Duration::milliseconds(5));
  const auto local = take(to_host_, Flags::kSyn | Flags::kAck);
  ASSERT_TRUE(local);
  const auto ack = behind(40'000, local->tcp.sequence + 1);
  EXPECT_EQ(say(tcp_frame(kClient, kServer, ack)), Verdict::kConsumed);
  wait(Duration::milliseconds(350));
  EXPECT_TRUE(take(to_server_, Flags::kSyn)) << "gateway B opens it";
  EXPECT_EQ(count(Counter::kFlowsAccepted), 1U);
  // The router answers again, and has no effect.
  wait(Duration::seconds(15));
  resolve(kServer);
  EXPECT_EQ(connect(40'001), Verdict::kConsumed);
  EXPECT_EQ(count(Counter::kBridgedOnTrial), 1U);
}

TEST_F(BetweenGatewaysTest, ASynThatNobodyAnswersIsRelayedWhenItIsRepeated) {
  resolve(kServer);
  ASSERT_EQ(connect(40'000), Verdict::kBridge);
  wait(Duration::milliseconds(1'000));
  EXPECT_EQ(connect(40'000), Verdict::kConsumed);
  EXPECT_EQ(count(Counter::kHintsVoid), 1U);
  wait(Duration::milliseconds(305));
  EXPECT_TRUE(take(to_server_, Flags::kRst));
  EXPECT_EQ(connect(40'001), Verdict::kConsumed);
}

// A flood never repeats a SYN, and gets no more than a few of them bridged.
TEST_F(BetweenGatewaysTest, AnUnconfirmedHintHasFewSynsBridged) {
  resolve(kServer);
  for (std::uint16_t port = 40'000; port < 40'020; ++port) connect(port);
  EXPECT_EQ(count(Counter::kBridgedOnTrial), SynTrials::kMostSyns);
  EXPECT_EQ(count(Counter::kHintsUntried), 20U - SynTrials::kMostSyns);
  wait(Duration::milliseconds(350));
  connect(41'000);
  EXPECT_EQ(count(Counter::kHintsVoid), 1U);
  EXPECT_EQ(count(Counter::kBridgedOnTrial), SynTrials::kMostSyns);
}

TEST_F(BetweenGatewaysTest, AForgerWhoDoesNotSeeTheSynConfirmsNothing) {
  resolve(kServer);
  ASSERT_EQ(connect(40'000), Verdict::kBridge);
  for (std::uint32_t guess = 900; guess < 1'100; ++guess) {
    if (guess != 1'001) answer_from_wan(40'000, kServer, guess);
  }
  EXPECT_EQ(count(Counter::kAddressesBetween), 0U);
  EXPECT_EQ(explained(kServer), std::nullopt);
}

// Somebody on the way who sees the SYN can answer it, as over a bridge. The far host answers it,
// too, and that ends what was forged.
TEST_F(BetweenGatewaysTest, AForgedConnectionIsOverWithTheAnswerOfTheFarHost) {
  resolve(kServer);
  ASSERT_EQ(connect(40'000), Verdict::kBridge);
  wait(Duration::milliseconds(5));
  ASSERT_EQ(answer_from_wan(40'000), Verdict::kBridge);
  ASSERT_EQ(count(Counter::kAddressesBetween), 1U);
  EXPECT_EQ(answer_from_wan(40'000), Verdict::kBridge) << "the same again";
  wait(Duration::milliseconds(300));
  answer_from_far_lan(40'000, 77'000);
  wait(Duration::milliseconds(305));
  EXPECT_EQ(count(Counter::kDroppedTakenBack), 1U);
  EXPECT_EQ(count(Counter::kHintsVoid), 1U);
  EXPECT_EQ(lan(tcp_frame(kClient, kServer, behind(40'000), host_to_server(), "secret")),
            Verdict::kDrop);
  wait(Duration::milliseconds(5));
  EXPECT_TRUE(take(to_host_, Flags::kRst)) << "its client learns that";
  EXPECT_EQ(connect(40'001), Verdict::kConsumed);
}

// A SYN that has waited for the link is answered late by anybody, but only once.
TEST_F(BetweenGatewaysTest, AForgedConnectionIsOverAlthoughItsSynHasWaited) {
  resolve(kServer);
  ASSERT_EQ(connect(40'000), Verdict::kBridge);
  ASSERT_EQ(answer_from_wan(40'000), Verdict::kBridge);
  ASSERT_EQ(explained(kServer), Counter::kBridgedBetweenGateways);
  for (int i = 0; i < 1'000; ++i) lan(udp_frame(kClient, kModem, 5'000, FrameBytes(1'200)));
  ASSERT_EQ(connect(40'001), Verdict::kQueued);
  ASSERT_EQ(answer_from_wan(40'001), Verdict::kBridge);
  wait(Duration::milliseconds(305));
  answer_from_far_lan(40'001, 77'000);
  wait(Duration::milliseconds(305));
  EXPECT_EQ(count(Counter::kDroppedTakenBack), 1U);
  EXPECT_EQ(explained(kServer), std::nullopt);
  EXPECT_EQ(lan(tcp_frame(kClient, kServer, behind(40'001))), Verdict::kDrop);
}

TEST_F(BetweenGatewaysTest, AForgedRefusalIsShownByTheAnswerOfTheFarHost) {
  resolve(kServer);
  ASSERT_EQ(connect(40'000), Verdict::kBridge);
  ASSERT_EQ(wan(from_server(syn_ack(40'000, 1'001, Flags::kRst | Flags::kAck))), Verdict::kBridge);
  ASSERT_EQ(explained(kServer), Counter::kBridgedBetweenGateways);
  wait(Duration::milliseconds(305));
  answer_from_far_lan(40'000);
  wait(Duration::milliseconds(305));
  EXPECT_EQ(count(Counter::kDroppedTakenBack), 1U);
  EXPECT_EQ(explained(kServer), std::nullopt);
}

// A router that answers for all gives a hint of a far host. The far host's answer to a SYN that has
// waited for the link shows nothing, and cannot be passed.
TEST_F(BetweenGatewaysTest, AFarHostWhoseSynHasWaitedIsRelayedWhenItIsRepeated) {
  resolve(kServer);
  for (int i = 0; i < 1'000; ++i) lan(udp_frame(kClient, kModem, 5'000, FrameBytes(1'200)));
  // They draw on the budget that SYNs on trial go first by.
  for (int i = 0; i < 1'000; ++i) ask("192.168.100.9");
  ASSERT_EQ(connect(40'000), Verdict::kQueued);
  wait(Duration::milliseconds(900));
  answer_from_far_lan(40'000);
  wait(Duration::milliseconds(305));
  ASSERT_EQ(count(Counter::kDroppedTakenBack), 1U);
  EXPECT_EQ(connect(40'000), Verdict::kConsumed) << "repeated";
}

// The forger has kept the first SYN from the far host, and not a later one.
TEST_F(BetweenGatewaysTest, AForgedConfirmationIsOverWithTheFirstAnswerOfTheFarHost) {
  resolve(kServer);
  ASSERT_EQ(connect(40'000), Verdict::kBridge);
  wait(Duration::milliseconds(5));
  ASSERT_EQ(answer_from_wan(40'000), Verdict::kBridge);
  ASSERT_EQ(count(Counter::kAddressesBetween), 1U);
  wait(Duration::seconds(10));
  ASSERT_EQ(connect(40'001), Verdict::kBridge);
  wait(Duration::milliseconds(305));
  answer_from_far_lan(40'001);
  wait(Duration::milliseconds(305));
  EXPECT_EQ(count(Counter::kDroppedTakenBack), 1U);
  EXPECT_EQ(count(Counter::kHintsVoid), 1U);
  EXPECT_EQ(connect(40'001), Verdict::kConsumed) << "repeated";
  EXPECT_EQ(connect(40'002), Verdict::kConsumed);
}

// Its SYN-ACK is lost on the LAN, or a device takes long for one.
TEST_F(BetweenGatewaysTest, ARepeatedSynOfADeviceDecidesNothingByALateAnswer) {
  resolve(kModem);
  ASSERT_EQ(connect(40'000, kModem), Verdict::kBridge);
  ASSERT_EQ(answer_from_wan(40'000, kModem), Verdict::kBridge);
  ASSERT_EQ(connect(40'001, kModem), Verdict::kBridge);
  wait(Duration::seconds(1));
  ASSERT_EQ(connect(40'001, kModem), Verdict::kBridge);
  wait(Duration::milliseconds(200));
  EXPECT_EQ(answer_from_wan(40'001, kModem), Verdict::kBridge);
  EXPECT_EQ(count(Counter::kHintsVoid), 0U);
}

TEST_F(BetweenGatewaysTest, ASynWithDataIsNotTried) {
  resolve(kServer);
  EXPECT_EQ(say(tcp_frame(kClient, kServer, syn(40'000), host_to_server(), "secret")),
            Verdict::kConsumed);
  EXPECT_EQ(count(Counter::kBridgedOnTrial), 0U);
}

TEST_F(BetweenGatewaysTest, AnAddressThatTheFarLanHasIsRelayed) {
  tell_on_far_lan(kServer);
  resolve(kServer);
  ASSERT_EQ(connect(40'000), Verdict::kBridge);
  wait(Duration::milliseconds(5));
  ASSERT_EQ(answer_from_wan(40'000), Verdict::kBridge) << "forged";
  EXPECT_EQ(explained(kServer), Counter::kBridgedBetweenGateways);
  wait(Duration::seconds(1));
  EXPECT_EQ(explained(kServer), std::nullopt) << "gateway B has said so";
  EXPECT_EQ(connect(40'001), Verdict::kConsumed);
  EXPECT_EQ(lan(tcp_frame(kClient, kServer, behind(40'000))), Verdict::kDrop)
      << "what stands is reset";
  wait(Duration::milliseconds(5));
  EXPECT_TRUE(take(to_host_, Flags::kRst));
}

// ARP has told of it long ago.
TEST_F(BetweenGatewaysTest, AnAddressThatTheFarLanHadIsNoObstacle) {
  tell_on_far_lan(kModem);
  wait(Duration::seconds(301));
  resolve(kModem);
  ASSERT_EQ(connect(40'000, kModem), Verdict::kBridge);
  wait(Duration::milliseconds(5));
  ASSERT_EQ(answer_from_wan(40'000, kModem), Verdict::kBridge);
  wait(Duration::seconds(1));
  EXPECT_EQ(explained(kModem), Counter::kBridgedBetweenGateways);
}

// The device was set up at the far LAN, and its address is heard there again.
TEST_F(BetweenGatewaysTest, TheFarGatewayIsAskedAgainAboutADevice) {
  resolve(kModem);
  ASSERT_EQ(connect(40'000, kModem), Verdict::kBridge);
  ASSERT_EQ(answer_from_wan(40'000, kModem), Verdict::kBridge);
  wait(Duration::seconds(61));
  ASSERT_EQ(explained(kModem), Counter::kBridgedBetweenGateways);
  tell_on_far_lan(kModem);
  ASSERT_EQ(connect(40'001, kModem), Verdict::kBridge);
  wait(Duration::milliseconds(700));
  EXPECT_EQ(explained(kModem), std::nullopt);
}

class BetweenGatewaysOfTwoWorkers : public BetweenGatewaysTest {
 protected:
  void SetUp() override { start({"0.0.0.0/0", "::/0"}, common_); }
  std::shared_ptr<CommonKnowledge> common_ = std::make_shared<CommonKnowledge>(HashKey{1, 2}, 1);
};

// Another worker has found the device, while a port of it that this one tries is silent.
TEST_F(BetweenGatewaysOfTwoWorkers, ASilentPortIsNotHeldAgainstADeviceThatAnotherWorkerKnows) {
  resolve(kModem);
  ASSERT_EQ(connect(40'000, kModem), Verdict::kBridge);
  wait(Duration::milliseconds(5));
  ASSERT_TRUE(common_->between.confirm({ip_of(kModem), Vlans{}}, now_));
  wait(Duration::seconds(1));
  EXPECT_EQ(connect(40'000, kModem), Verdict::kBridge) << "repeated";
  EXPECT_EQ(count(Counter::kHintsVoid), 0U);
  EXPECT_EQ(explained(kModem), Counter::kBridgedBetweenGateways);
}

class ShortPath : public BetweenGatewaysTest {
 protected:
  ShortPath() { one_way_ = Duration::milliseconds(50); }
};

TEST_F(ShortPath, ShowsNothingByItsTime) {
  resolve(kModem);
  EXPECT_EQ(connect(40'000, kModem), Verdict::kConsumed);
}

TEST_F(BetweenGatewaysTest, AWrittenPrefixDecidesAgainstAnyHint) {
  start({"198.51.100.0/24"});
  resolve(kServer);
  EXPECT_EQ(connect(40'000), Verdict::kConsumed);
  EXPECT_EQ(count(Counter::kBridgedOnTrial), 0U);
}

}  // namespace
}  // namespace satrelay::gateway::devices_between_test
