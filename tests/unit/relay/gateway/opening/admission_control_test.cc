// The decisions about segments that belong to no flow, and what is remembered of them.
#include "relay/gateway/opening/admission_control.h"

#include <gtest/gtest.h>

#include <optional>

#include "tests/support/gateway_config.h"
#include "tests/unit/relay/gateway/devices/live_peer.h"

namespace satrelay::gateway::admission_control_test {
namespace {

using Flags = wire::TcpFlags;
using Kind = AdmissionControl::Decision::Kind;
constexpr auto kHost = "203.0.113.5";
constexpr auto kServer = "198.51.100.5";

config::Gateway with_a_peer() {
  config::Gateway config =
      test::gateway_config({}, {test::peer_config("far", "192.0.2.2", {"198.51.100.0/24"})});
  config.limits.flows = 16;
  return config;
}

class Room final : public FlowCapacity {
 public:
  std::optional<Counter> lack_of_room(LaneId, const IpAddress&) const override { return lack; }
  bool may_be_half_open(LaneId, const IpAddress&) const override { return waiting < 2; }
  Handshake handshake(const config::Rule& rule, const FlowKey&, LaneId, Instant) const override {
    if (suspicion) return {config::HandshakeMode::kRemote, *suspicion};
    return {.mode = rule.modes.handshake};
  }
  Places places(LaneId, const IpAddress&) const override { return free; }

  std::optional<Counter> lack;
  Places free{16, 16, 16};
  std::uint32_t waiting = 0;
  std::optional<Handshake::Cause> suspicion;
};

class AdmissionControlTest : public testing::Test {
 protected:
  static wire::TcpHeader segment(std::uint8_t flags, std::uint32_t sequence = 1'000) {
    wire::TcpHeader tcp;
    tcp.source_port = 40'000;
    tcp.destination_port = 80;
    tcp.sequence = sequence;
    tcp.acknowledgment = 7'000;
    tcp.flags = flags;
    tcp.window = 64'240;
    if ((flags & Flags::kSyn) != 0) tcp.options.mss = 1460;
    return tcp;
  }
  static wire::TcpHeader syn(std::uint32_t sequence = 1'000) {
    return segment(Flags::kSyn, sequence);
  }
  AdmissionControl::Decision decide(const wire::TcpHeader& tcp, std::string_view from = kHost,
                                    std::string_view to = kServer,
                                    const wire::EthernetHeader& ethernet = host_to_server()) {
    return decide_frame(tcp_frame(from, to, tcp, ethernet));
  }
  AdmissionControl::Decision decide_frame(const FrameBytes& bytes) {
    const Frame frame = look_at(bytes);
    const auto tcp = wire::parse_tcp(frame.payload);
    key_ = {frame.ip.source, frame.ip.destination, tcp->header.source_port,
            tcp->header.destination_port, vlans_of(frame.ethernet)};
    const AdmissionControl::Segment seen{key_, frame, tcp->header,
                                         frame.payload.size() - tcp->header_size};
    const auto peer = policy_.peer_for(key_.remote);
    const std::optional<LaneId> lane = peer ? std::optional(LaneId(peer->index())) : std::nullopt;
    return door_.decide(seen, rule_, lane, room_, now_);
  }
  // The cookie in the SYN-ACK.
  std::uint32_t answer_by_cookie(std::uint32_t sequence = 1'000) {
    const wire::TcpHeader header = syn(sequence);
    const FrameBytes bytes = tcp_frame(kHost, kServer, header);
    const Frame frame = look_at(bytes);
    door_.answer_by_cookie({key_, frame, header, 0}, frame.ethernet.reversed(), tcp::Config(),
                           LaneId(), now_);
    FrameBytes out(128);
    const std::size_t size = door_.poll_cookie(out);
    EXPECT_GT(size, 0U);
    return wire::parse_tcp(look_at(ConstBytes(out).first(size)).payload)->header.sequence;
  }
  void from_wan(const wire::TcpHeader& tcp) {
    FrameBytes bytes(wire::tcp_header_size(tcp));
    wire::write_tcp(tcp, bytes);
    door_.look_from_wan(key_, host_to_server().reversed(), bytes, now_);
  }
  static wire::TcpHeader answer_to(std::uint32_t cookie, std::uint32_t sequence = 1'001) {
    wire::TcpHeader ack = segment(Flags::kAck, sequence);
    ack.acknowledgment = cookie + 1;
    return ack;
  }

  const config::Gateway config_ = with_a_peer();
  Instant now_ = Instant::from_nanoseconds(1);
  Carrier carrier_{link_of(BitRate::bits_per_second(10'000'000)), 2, 16};
  LivePeer peer_{carrier_, now_};
  Counters counters_;
  Policy policy_{config_};
  Claims claims_{config_, policy_};
  ActiveRule rule_;
  Room room_;
  FlowKey key_;
  SymmetricPaths paths_{HashKey{1, 2}};
  BetweenGateways between_{HashKey{1, 2}};
  AdmissionControl door_{config_,     HashKey{1, 2}, policy_,  claims_,
                         peer_.lanes, paths_,        between_, counters_};
};

TEST_F(AdmissionControlTest, ASynTowardsAPeerBeginsAFlow) {
  const auto decision = decide(syn());
  EXPECT_EQ(decision.kind, Kind::kRelay);
  EXPECT_FALSE(decision.recovered);
  EXPECT_EQ(rule_.use.connections, 1U);
}

TEST_F(AdmissionControlTest, ASynWithoutRoomIsBridgedAndSoIsItsRepetition) {
  room_.lack = Counter::kBridgedTableFull;
  auto decision = decide(syn());
  EXPECT_EQ(decision.kind, Kind::kBridge);
  EXPECT_EQ(decision.reason, Counter::kBridgedTableFull);
  room_.lack.reset();
  decision = decide(syn());
  EXPECT_EQ(decision.kind, Kind::kBridge) << "the server may have answered";
  EXPECT_EQ(decision.reason, Counter::kBridgedMidStream);
  EXPECT_EQ(rule_.use.connections, 1U) << "it is one connection";
  EXPECT_EQ(decide(syn(5'000)).kind, Kind::kRelay) << "another one";
}

TEST_F(AdmissionControlTest, BeyondTheHalfOpenASynIsAnsweredByACookie) {
  room_.waiting = 2;
  EXPECT_EQ(decide(syn()).kind, Kind::kCookie);
  room_.lack = Counter::kBridgedMemoryLow;
  EXPECT_EQ(decide(syn()).reason, Counter::kBridgedMemoryLow) << "there must be room for it";
  room_.lack.reset();
  rule_.rule.modes.handshake = config::HandshakeMode::kRemote;
  const auto decision = decide(syn(5'000));
  EXPECT_EQ(decision.kind, Kind::kBridge);
  EXPECT_EQ(decision.reason, Counter::kBridgedHalfOpenFull);
  room_.waiting = 1;
  EXPECT_EQ(decide(syn(9'000)).kind, Kind::kRelay);
}

// Else most connections to a peer that has no room for a while would be bridged.
TEST_F(AdmissionControlTest, IfThePeerMayRefuseCookiesAnswerAllTheSame) {
  room_.suspicion = Handshake::Cause::kPeerRefused;
  EXPECT_EQ(decide(syn()).kind, Kind::kRelay);
  room_.waiting = 2;
  EXPECT_EQ(decide(syn(5'000)).kind, Kind::kCookie);
  rule_.rule.modes.handshake = config::HandshakeMode::kRemote;
  room_.suspicion.reset();
  EXPECT_EQ(decide(syn(9'000)).reason, Counter::kBridgedHalfOpenFull) << "the rule says so";
}

TEST_F(AdmissionControlTest, WithFewPlacesEachCookieHasOne) {
  room_.waiting = 2;
  constexpr std::uint64_t kAmple = 4096;
  constexpr FarGatewayId kPeer(0), kOtherPeer(1);
  for (const FlowCapacity::Places few :
       {FlowCapacity::Places{2, kAmple, kAmple}, {kAmple, 2, kAmple}, {kAmple, kAmple, 2}}) {
    now_ += Duration::seconds(10);
    room_.free = few;
    std::uint32_t cookie = 0;
    for (const std::uint32_t sequence : {1'000U, 5'000U}) {
      ASSERT_EQ(decide(syn(sequence)).kind, Kind::kCookie);
      cookie = answer_by_cookie(sequence);
    }
    EXPECT_EQ(decide(syn(9'000)).reason, Counter::kBridgedHalfOpenFull);
    EXPECT_EQ(decide(answer_to(cookie, 5'001)).kind, Kind::kRelay);
    EXPECT_EQ(decide(syn(10'000)).kind, Kind::kCookie) << "what has come back is counted no more";
    now_ += Duration::seconds(130);
  }
}

// Cookies of another host, even a flood of them, take none of a host's own few places.
TEST_F(AdmissionControlTest, CookiesAreCountedByHost) {
  constexpr std::uint64_t kAmple = 4096;
  constexpr FarGatewayId kPeer(0), kOtherPeer(1);
  PendingCookies cookies(HashKey{1, 2});
  const IpAddress modest = ip_of("203.0.113.77");
  for (std::uint32_t i = 0; i < 100; ++i) cookies.add(kPeer, ip_of("203.0.113.78"), now_);
  EXPECT_TRUE(cookies.leave_one_of({kAmple, kAmple, 1}, kAmple, kPeer, modest, now_));
  EXPECT_FALSE(cookies.leave_one_of({100, kAmple, 1}, kAmple, kPeer, modest, now_));
  EXPECT_FALSE(cookies.leave_one_of({kAmple, 100, 1}, kAmple, kPeer, modest, now_));
  EXPECT_TRUE(cookies.leave_one_of({kAmple, 1, 1}, kAmple, kOtherPeer, modest, now_)) << "by peer";
  cookies.add(kOtherPeer, modest, now_);
  EXPECT_FALSE(cookies.leave_one_of({kAmple, kAmple, 1}, kAmple, kOtherPeer, modest, now_));
  cookies.remove(kOtherPeer, modest, now_);
  EXPECT_TRUE(cookies.leave_one_of({kAmple, kAmple, 1}, kAmple, kOtherPeer, modest, now_));
}

// If the SYN were bridged or answered by a flow now, it would get two answers with different
// numbers.
TEST_F(AdmissionControlTest, ASynThatComesAgainIsAnsweredByTheSameCookie) {
  room_.waiting = 2;
  room_.free.of_host = 1;
  ASSERT_EQ(decide(syn()).kind, Kind::kCookie);
  const std::uint32_t cookie = answer_by_cookie();
  EXPECT_EQ(decide(syn()).kind, Kind::kCookie) << "no place is left";
  now_ += SynCookies::kPeriod - Duration::seconds(1);
  ASSERT_EQ(decide(syn(5'000)).kind, Kind::kCookie);
  const std::uint32_t late = answer_by_cookie(5'000);
  now_ += Duration::seconds(3);
  EXPECT_EQ(answer_by_cookie(5'000), late) << "in the next period";
  room_.lack = Counter::kBridgedTableFull;
  EXPECT_EQ(decide(syn(5'000)).kind, Kind::kCookie) << "there is no room";
  room_.lack.reset();
  room_.waiting = 0;
  EXPECT_EQ(decide(syn(5'000)).kind, Kind::kCookie) << "there is room for a flow";
  EXPECT_EQ(decide(syn()).kind, Kind::kRelay) << "that was long ago";
  EXPECT_NE(answer_by_cookie(), cookie);
  now_ += SynCookies::kLongestGap + Duration::seconds(1);
  EXPECT_EQ(decide(syn(5'000)).kind, Kind::kRelay);
}

TEST_F(AdmissionControlTest, TheAckThatBringsACookieBackBeginsAFlow) {
  room_.waiting = 2;
  ASSERT_EQ(decide(syn()).kind, Kind::kCookie);
  const auto decision = decide(answer_to(answer_by_cookie()));
  EXPECT_EQ(decision.kind, Kind::kRelay);
  ASSERT_TRUE(decision.recovered);
  EXPECT_EQ(decision.recovered->sequence, 1'000U);
  EXPECT_EQ(decision.recovered->flags, Flags::kSyn);
}

TEST_F(AdmissionControlTest, AnAckToACookieForWhichThereIsNoRoomIsDroppedWithWhatFollows) {
  room_.waiting = 2;
  ASSERT_EQ(decide(syn()).kind, Kind::kCookie);
  const wire::TcpHeader ack = answer_to(answer_by_cookie());
  room_.lack = Counter::kBridgedTableFull;
  const auto dropped = decide(ack);
  EXPECT_EQ(dropped.kind, Kind::kDrop);
  EXPECT_EQ(dropped.reason, Counter::kDroppedAfterCookie);
  wire::TcpHeader next = ack;
  next.sequence += 500;
  EXPECT_EQ(decide(next).reason, Counter::kDroppedAfterCookie) << "no host knows of it";
  room_.lack.reset();
  EXPECT_EQ(decide(ack).kind, Kind::kRelay) << "the host repeats it";
}

// The server is to send first, but it knows nothing of the connection.
TEST_F(AdmissionControlTest, AHostThatWaitsBehindSuchAnAckIsReset) {
  room_.waiting = 2;
  ASSERT_EQ(decide(syn()).kind, Kind::kCookie);
  const wire::TcpHeader ack = answer_to(answer_by_cookie());
  room_.lack = Counter::kBridgedTableFull;
  ASSERT_EQ(decide(ack).kind, Kind::kDrop);
  EXPECT_EQ(door_.next_timeout(), now_ + UnplacedAcks::kPatience);
  now_ += UnplacedAcks::kPatience;
  door_.handle_timeout(now_);
  EXPECT_EQ(counters_[Counter::kResetAfterCookie], 1U);
  EXPECT_EQ(door_.next_timeout(), Instant());
  FrameBytes out(128);
  const std::size_t size = door_.poll_reset(PortId::kLan, out);
  ASSERT_GT(size, 0U);
  const Frame frame = look_at(ConstBytes(out).first(size));
  EXPECT_EQ(frame.ip.destination, key_.local);
  const auto reset = wire::parse_tcp(frame.payload);
  EXPECT_EQ(reset->header.flags, Flags::kRst);
  EXPECT_EQ(reset->header.sequence, ack.acknowledgment) << "what the host expects";
  EXPECT_TRUE(door_.next_timeout().is_never());
}

TEST_F(AdmissionControlTest, AHostThatSpeaksBehindSuchAnAckIsNotReset) {
  room_.waiting = 2;
  ASSERT_EQ(decide(syn()).kind, Kind::kCookie);
  const wire::TcpHeader ack = answer_to(answer_by_cookie());
  room_.lack = Counter::kBridgedTableFull;
  ASSERT_EQ(decide(ack).kind, Kind::kDrop);
  const Instant until = door_.next_timeout();
  now_ += Duration::seconds(1);
  ASSERT_EQ(decide(ack).kind, Kind::kDrop);
  EXPECT_EQ(door_.next_timeout(), until) << "an answer to something from the WAN, say";
  wire::TcpHeader fin = ack;
  fin.flags |= Flags::kFin;
  ASSERT_EQ(decide(fin).kind, Kind::kDrop);
  EXPECT_TRUE(door_.next_timeout().is_never()) << "it sends that again, from the ACK on";
  ASSERT_EQ(decide(ack).kind, Kind::kDrop);
  EXPECT_FALSE(door_.next_timeout().is_never());
  room_.lack.reset();
  ASSERT_EQ(decide(ack).kind, Kind::kRelay);
  EXPECT_TRUE(door_.next_timeout().is_never()) << "it has found room";
}

TEST_F(AdmissionControlTest, HostsThatWaitSoAreLimited) {
  const wire::TcpHeader ack = answer_to(0);
  UnplacedAcks waiting(counters_);
  FlowKey key{ip_of("203.0.113.5"), ip_of("198.51.100.5"), 40'000, 80, {}};
  const auto add = [&](std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      ++key.local_port;
      waiting.add(key, host_to_server().reversed(), ack, now_);
    }
  };
  add(UnplacedAcks::kMost);
  const auto resets = [&] {
    now_ += UnplacedAcks::kPatience;
    waiting.handle_timeout(now_);
    FrameBytes out(128);
    std::size_t count = 0;
    while (waiting.poll_frame(out) > 0) ++count;
    return count;
  };
  EXPECT_EQ(resets(), UnplacedAcks::kMostOfOneHost) << "one host leaves places to others";
  for (const char* host :
       {"203.0.113.6", "203.0.113.7", "203.0.113.8", "203.0.113.9", "203.0.113.10", "203.0.113.11",
        "203.0.113.12", "203.0.113.13", "203.0.113.14"}) {
    key.local = ip_of(host);
    add(UnplacedAcks::kMostOfOneHost);
  }
  EXPECT_EQ(resets(), UnplacedAcks::kMost);
}

// The peer would refuse the connection after its host believes that it is established. Configured
// prefixes are not needed for that.
TEST_F(AdmissionControlTest, WhatNoPeerTakesIsBridged) {
  EXPECT_EQ(decide(syn(), "169.254.0.5").reason, Counter::kBridgedOwnSegment);
  EXPECT_EQ(decide(syn(), "127.0.0.1").reason, Counter::kBridgedOwnSegment);
  EXPECT_EQ(decide(syn(), "192.0.2.2").reason, Counter::kBridgedOwnSegment) << "a gateway";
  EXPECT_EQ(decide(syn()).kind, Kind::kRelay);
}

TEST_F(AdmissionControlTest, WhatIsMidStreamIsBridged) {
  const auto decision = decide(segment(Flags::kAck));
  EXPECT_EQ(decision.kind, Kind::kBridge);
  EXPECT_EQ(decision.reason, Counter::kBridgedMidStream);
  EXPECT_EQ(rule_.use.connections, 0U);
}

TEST_F(AdmissionControlTest, WhatAHostStillSendsIntoAnEndedFlowIsReset) {
  decide(segment(Flags::kAck));
  door_.records().ended.remember(key_, 0, now_);
  const auto decision = decide(segment(Flags::kAck));
  EXPECT_EQ(decision.kind, Kind::kDrop);
  EXPECT_EQ(decision.reason, Counter::kDroppedAfterEnd);
  EXPECT_EQ(door_.next_timeout(), Instant());
  FrameBytes out(128);
  const std::size_t size = door_.poll_reset(PortId::kLan, out);
  ASSERT_GT(size, 0U);
  const auto reset = wire::parse_tcp(look_at(ConstBytes(out).first(size)).payload);
  EXPECT_EQ(reset->header.flags, Flags::kRst);
  EXPECT_EQ(reset->header.sequence, 7'000U);
  EXPECT_TRUE(door_.next_timeout().is_never());
}

TEST_F(AdmissionControlTest, ANewConnectionThatIsBridgedEndsThatMemory) {
  decide(segment(Flags::kAck));
  door_.records().ended.remember(key_, 0, now_);
  room_.lack = Counter::kBridgedMemoryLow;
  decide(syn());
  EXPECT_EQ(decide(segment(Flags::kAck)).reason, Counter::kBridgedMidStream);
}

TEST_F(AdmissionControlTest, AnAnswerToASynThatDidNotPassIsAsymmetric) {
  const wire::TcpHeader answer = segment(Flags::kSyn | Flags::kAck);
  EXPECT_EQ(decide(answer).reason, Counter::kBridgedAsymmetric);
  from_wan(syn(6'999));
  EXPECT_EQ(decide(answer).reason, Counter::kBridgedMidStream);
}

TEST_F(AdmissionControlTest, ASynWithAWrongChecksumIsDropped) {
  FrameBytes bytes = tcp_frame(kHost, kServer, syn());
  bytes.back() ^= std::byte{1};
  const auto decision = decide_frame(bytes);
  EXPECT_EQ(decision.kind, Kind::kDrop);
  EXPECT_EQ(decision.reason, Counter::kDroppedBadChecksum);
  EXPECT_EQ(rule_.use.connections, 0U);
}

TEST_F(AdmissionControlTest, EachReasonToBridgeHasItsName) {
  EXPECT_EQ(decide(syn(), kHost, "192.0.2.2").reason, Counter::kBridgedOwnSegment);
  EXPECT_EQ(decide(syn(), kHost, "10.1.1.1").reason, Counter::kBridgedNoPeerPrefix);
  wire::EthernetHeader broadcast = host_to_server();
  broadcast.destination = MacAddress::broadcast();
  EXPECT_EQ(decide(syn(), kHost, kServer, broadcast).reason, Counter::kBridgedMulticast);
  EXPECT_EQ(door_.objection(key_, rule_.rule, LaneId(), now_), std::nullopt);
  door_.set_admission(Admission::kBypass);
  EXPECT_EQ(decide(syn(1)).reason, Counter::kBridgedBypass);
  door_.set_admission(Admission::kDraining);
  EXPECT_EQ(decide(syn(2)).reason, Counter::kBridgedDraining);
  door_.set_admission(Admission::kOpen);
  rule_.rule.action = config::Action::kBridge;
  EXPECT_EQ(decide(syn(3)).reason, Counter::kBridgedByRule);
  rule_.rule.action = config::Action::kAccelerate;
  paths_.note_silence(key_, SymmetricPaths::Silence::kUnexplained, now_);
  EXPECT_EQ(decide(syn(4)).reason, Counter::kBridgedAsymmetric);
}

TEST_F(AdmissionControlTest, AConnectionThatTheFarHostHasIsBridged) {
  decide(segment(Flags::kAck));
  door_.records().refused_in_use.remember(key_, 0, now_);
  EXPECT_EQ(decide(syn()).reason, Counter::kBridgedMidStream);
}

// A machine on the WAN sends an ACK to each port that a host may use, and the host answers that it
// has no such connection. If the next connections were bridged for that, they would cross the link
// in the clear.
TEST_F(AdmissionControlTest, NoAckFromTheWanKeepsAConnectionOutOfTheSession) {
  constexpr unsigned kPorts = 16'384;
  for (unsigned i = 0; i < kPorts; ++i) {
    key_ = {ip_of(kHost), ip_of(kServer), static_cast<std::uint16_t>(40'000 + i), 80, {}};
    from_wan(segment(Flags::kAck, 7'000));
    wire::TcpHeader refusal = segment(Flags::kRst | Flags::kAck, 0);
    refusal.source_port = key_.local_port;
    decide(refusal);
  }
  unsigned relayed = 0;
  for (unsigned i = 0; i < kPorts; ++i) {
    wire::TcpHeader tcp = syn();
    tcp.source_port = static_cast<std::uint16_t>(40'000 + i);
    if (decide(tcp).kind == Kind::kRelay) ++relayed;
  }
  EXPECT_EQ(relayed, kPorts);
}

TEST_F(AdmissionControlTest, ASynFromTheWanDoesNotEndTheMemoryOfAnEndedFlowButItsAnswerDoes) {
  decide(segment(Flags::kAck));
  door_.records().ended.remember(key_, 0, now_);
  from_wan(segment(Flags::kSyn, 6'999));
  EXPECT_EQ(decide(segment(Flags::kAck)).reason, Counter::kDroppedAfterEnd);
  wire::TcpHeader answer = segment(Flags::kSyn | Flags::kAck);
  EXPECT_EQ(decide(answer).kind, Kind::kBridge);
  EXPECT_EQ(decide(segment(Flags::kAck)).kind, Kind::kBridge) << "a new connection of both hosts";
}

TEST_F(AdmissionControlTest, AHostBehindAPeerDoesNotSpeakHereButInASynOfOurs) {
  constexpr auto kOther = "198.51.100.9";
  EXPECT_EQ(decide(syn(), kServer, kOther).reason, Counter::kBridgedForeignSource);
  door_.records().own_syns.remember(untagged(key_), 2'000, now_);
  EXPECT_EQ(decide(syn(2'000), kServer, kOther).kind, Kind::kRelay);
}

TEST_F(AdmissionControlTest, APeerThatIsSilentTakesNoFlows) {
  now_ += Duration::seconds(60);
  peer_.session().handle_timeout(now_);
  EXPECT_EQ(decide(syn()).reason, Counter::kBridgedPeerDown);
}

}  // namespace
}  // namespace satrelay::gateway::admission_control_test
