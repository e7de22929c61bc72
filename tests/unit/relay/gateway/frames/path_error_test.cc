// ICMP errors about the SYN to a server: which of them end the attempt, which are believed, and
// that none of them says anything about the route.
#include "relay/gateway/frames/path_error.h"

#include <gtest/gtest.h>

#include "pep/base/random.h"
#include "pep/wire/icmp.h"
#include "tests/unit/relay/gateway/gateway_fixture.h"

namespace satrelay::gateway::path_error_test {
namespace {

using Code = IcmpCode;

// A router's error that quotes `failed`, an Ethernet frame.
FrameBytes error_about(const FrameBytes& failed, Code code) {
  const auto packet = ConstBytes(failed).subspan(wire::kEthernetHeaderSize);
  const auto quoted = wire::parse_ip(packet);
  const bool v4 = quoted->source.is_v4();
  wire::IpHeader ip;
  ip.source = ip_of(v4 ? "198.51.100.254" : "2001:db8:1::fe");
  ip.destination = quoted->source;
  ip.protocol = v4 ? wire::kProtocolIcmp : wire::kProtocolIcmpV6;
  const wire::IcmpMessage message{.type = code.type, .code = code.code, .rest = 0, .body = packet};
  FrameBytes payload(wire::kIcmpHeaderSize + packet.size());
  wire::write_icmp(ip, message, payload);
  return ip_frame(host_to_server(), ip, payload);
}

std::optional<tcp::PathError> kind_of(bool v4, Code code) {
  wire::TcpHeader tcp;
  tcp.sequence = 77;
  tcp.flags = wire::TcpFlags::kSyn;
  const FrameBytes failed = v4 ? tcp_frame("203.0.113.1", "198.51.100.1", tcp)
                               : tcp_frame("2001:db8:2::1", "2001:db8:1::1", tcp);
  const auto quoted = path_error(look_at(error_about(failed, code)));
  if (!quoted) return std::nullopt;
  EXPECT_EQ(quoted->sequence, 77U);
  EXPECT_EQ(quoted->code, code);
  return quoted->error;
}

// The errors by which Linux 6.18 ends connect(), found by sending each type and code in a
// namespace.
TEST(PathError, OnlyAPortOrProtocolThatIsNotThereIsHard) {
  using tcp::PathError;
  EXPECT_EQ(kind_of(true, {3, 2}), PathError::kHard);
  EXPECT_EQ(kind_of(true, {3, 3}), PathError::kHard);
  for (const unsigned code : {0U, 1U, 5U, 6U, 7U, 9U, 10U, 11U, 12U, 13U, 14U, 15U}) {
    EXPECT_EQ(kind_of(true, {3, static_cast<std::uint8_t>(code)}), PathError::kSoft) << code;
  }
  EXPECT_EQ(kind_of(true, {11, 0}), PathError::kSoft) << "hop limit";
  EXPECT_EQ(kind_of(true, {11, 1}), std::nullopt) << "reassembly time";
  EXPECT_EQ(kind_of(true, {3, 16}), std::nullopt);
  for (const unsigned code : {0U, 1U, 2U}) {
    EXPECT_EQ(kind_of(true, {12, static_cast<std::uint8_t>(code)}), PathError::kSoft) << code;
  }
  EXPECT_EQ(kind_of(true, {5, 1}), std::nullopt) << "redirect";
  EXPECT_EQ(kind_of(true, {3, 4}), std::nullopt) << "too big is not lost";
  EXPECT_EQ(kind_of(true, {4, 0}), std::nullopt) << "source quench";
  EXPECT_EQ(kind_of(true, {8, 0}), std::nullopt) << "no error";
}

TEST(PathError, OnlyAPortOrNextHeaderThatIsNotThereIsHardInIpv6) {
  using tcp::PathError;
  EXPECT_EQ(kind_of(false, {1, 4}), PathError::kHard);
  EXPECT_EQ(kind_of(false, {4, 1}), PathError::kHard);
  for (const unsigned code : {0U, 1U, 2U, 3U, 5U, 6U, 7U}) {
    EXPECT_EQ(kind_of(false, {1, static_cast<std::uint8_t>(code)}), PathError::kSoft) << code;
  }
  EXPECT_EQ(kind_of(false, {3, 0}), PathError::kSoft);
  EXPECT_EQ(kind_of(false, {4, 0}), PathError::kSoft);
  EXPECT_EQ(kind_of(false, {3, 1}), PathError::kSoft);
  EXPECT_EQ(kind_of(false, {100, 0}), PathError::kSoft) << "RFC 4443 section 2.4";
  EXPECT_EQ(kind_of(false, {2, 0}), std::nullopt) << "packet too big";
  EXPECT_EQ(kind_of(false, {137, 0}), std::nullopt) << "no error";
}

// A client at gateway A. Gateway B sends its SYN to a server.
class IcmpAboutASyn : public GatewayTest {
 protected:
  void SetUp() override {
    start_peer();
    ASSERT_EQ(lan(tcp_frame(kClient, kServer, syn())), Verdict::kConsumed);
    const auto answer = next_frame(PortId::kLan);
    ASSERT_TRUE(answer);
    wire::TcpHeader ack = syn();
    ack.flags = wire::TcpFlags::kAck;
    ack.sequence = 1001;
    ack.acknowledgment = tcp_of(*answer).sequence + 1;
    ack.options = {};
    ASSERT_EQ(lan(tcp_frame(kClient, kServer, ack)), Verdict::kConsumed);
    for (int i = 0; i < 10 && syns_.empty(); ++i) next();
    ASSERT_EQ(syns_.size(), 1U);
  }
  static wire::TcpHeader tcp_of(const FrameBytes& frame) {
    return wire::parse_tcp(look_at(frame).payload)->header;
  }
  // 100 ms pass. Frames of B to the server are kept in syns_, and those of A to the client are not.
  void next() {
    step();
    FrameBytes frame(b_->max_frame_size());
    while (const std::size_t size = b_->poll_frame(PortId::kLan, frame, now_).size) {
      syns_.emplace_back(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(size));
    }
    while (const auto said = next_frame(PortId::kLan)) {
      const Frame look = look_at(*said);
      EXPECT_EQ(look.kind, FrameKind::kTcp) << "it has been answered: no ICMP error is for it";
      const auto tcp = wire::parse_tcp(look.payload);
      if (tcp && tcp->header.has(wire::TcpFlags::kRst)) ++resets_;
    }
  }
  void tell_b(const FrameBytes& failed, Code code) {
    EXPECT_EQ(b_->handle_frame(PortId::kLan, error_about(failed, code), now_), Verdict::kDrop);
  }
  static constexpr Code kHostUnreachable{3, 1}, kPortUnreachable{3, 3}, kFiltered{3, 13};
  std::vector<FrameBytes> syns_;
  unsigned resets_ = 0;  // RSTs that the client has got
};

TEST_F(IcmpAboutASyn, OneThatQuotesAnotherNumberIsNotBelieved) {
  wire::TcpHeader forged = tcp_of(syns_[0]);
  for (const std::uint32_t off : {1U, 1000U, 0x8000'0000U}) {
    wire::TcpHeader header = forged;
    header.sequence += off;
    tell_b(tcp_frame(kClient, kServer, header), kPortUnreachable);
  }
  for (int i = 0; i < 20; ++i) next();
  EXPECT_EQ(syns_.size(), 2U) << "it goes on";
  EXPECT_EQ(b_->counters()[Counter::kFlowsRefused], 0U);
  EXPECT_EQ(b_->status(now_).tcp.path_errors_rejected, 3U);
}

TEST_F(IcmpAboutASyn, GuessesAreNotBelieved) {
  Random random(1);
  const wire::TcpHeader forged = tcp_of(syns_[0]);
  for (unsigned i = 0; i < 20'000; ++i) {
    wire::TcpHeader header = forged;
    header.sequence = static_cast<std::uint32_t>(random.next());
    tell_b(tcp_frame(kClient, kServer, header), i % 2 == 0 ? kFiltered : kPortUnreachable);
  }
  for (int i = 0; i < 20; ++i) next();
  EXPECT_EQ(syns_.size(), 2U) << "it goes on";
  EXPECT_EQ(resets_, 0U);
  EXPECT_EQ(b_->flow_count(), 1U);
  EXPECT_EQ(b_->status(now_).tcp.path_errors_rejected, 20'000U);
}

TEST_F(IcmpAboutASyn, ASoftErrorResetsTheClientAtOnceAndIsRemembered) {
  tell_b(syns_[0], kFiltered);
  for (int i = 0; i < 3; ++i) next();
  EXPECT_EQ(resets_, 1U);
  EXPECT_EQ(b_->counters()[Counter::kFlowsUnreachable], 1U);
  EXPECT_EQ(count(Counter::kFlowsUnreachable), 1U);
  EXPECT_EQ(b_->flow_count(), 0U);
  EXPECT_EQ(count(Counter::kServicesRefusing), 1U);
  const Explanation why = a_->explain({.source = ip_of(kClient),
                                       .destination = ip_of(kServer),
                                       .port = 80,
                                       .protocol = wire::kProtocolTcp,
                                       .direction = config::Direction::kOutbound},
                                      now_);
  ASSERT_TRUE(why.handshake);
  EXPECT_EQ(why.handshake->cause, Handshake::Cause::kServiceRefused);
}

TEST_F(IcmpAboutASyn, AHardErrorRefusesAndTheNextConnectionIsRelayed) {
  tell_b(syns_[0], kPortUnreachable);
  for (int i = 0; i < 10; ++i) next();
  EXPECT_EQ(b_->counters()[Counter::kFlowsRefused], 1U);
  EXPECT_EQ(count(Counter::kFlowsRefused), 1U);
  EXPECT_EQ(lan(tcp_frame(kClient, kServer, syn(40001))), Verdict::kConsumed);
  EXPECT_EQ(count(Counter::kBridgedAsymmetric), 0U);
}

TEST_F(IcmpAboutASyn, TheRouteIsNotToBlame) {
  tell_b(syns_[0], kHostUnreachable);
  for (int i = 0; i < 3; ++i) next();
  EXPECT_EQ(count(Counter::kFlowsUnreachable), 1U);
  EXPECT_EQ(syns_.size(), 1U);
  EXPECT_EQ(lan(tcp_frame(kClient, kServer, syn(40001))), Verdict::kConsumed);
  EXPECT_EQ(count(Counter::kBridgedAsymmetric), 0U);
}

}  // namespace
}  // namespace satrelay::gateway::path_error_test
