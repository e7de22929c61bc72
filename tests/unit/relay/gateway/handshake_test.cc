// The gateway answers a SYN, or leaves it to the server if that has refused before. A client that
// chooses among addresses by connect() must learn that one of them refuses.
#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>

#include "pep/wire/icmp.h"
#include "pep/wire/tcp.h"
#include "tests/unit/relay/gateway/gateway_fixture.h"

namespace satrelay::gateway::handshake_test {
namespace {

using Cause = Handshake::Cause;
using Flags = wire::TcpFlags;

class HandshakeTest : public GatewayTest {
 protected:
  // How the client's SYN was answered.
  enum class Answer : std::uint8_t { kLocal, kServer, kRefusedLate, kRefused, kSilence };
  // How the server reacts to a SYN.
  enum class Server : std::uint8_t { kAccepts, kRefuses };

  void start(config::HandshakeMode mode = config::HandshakeMode::kLocal) {
    config_a_.rules.back().modes.handshake = mode;
    a_ = std::make_unique<Gateway>(
        config_a_, Identity{.boot_epoch = 2, .secret = {1, 2}, .wan_mac = kGatewayMac}, memory_a_,
        now_);
    start_peer();
  }

  // The next segment. ICMP errors are skipped.
  std::optional<wire::TcpHeader> take(Gateway& gateway) {
    FrameBytes bytes(gateway.max_frame_size());
    const std::size_t size = gateway.poll_frame(PortId::kLan, bytes, now_).size;
    if (size == 0) return std::nullopt;
    const Frame frame = look_at(ConstBytes(bytes).first(size));
    if (frame.kind == FrameKind::kIcmp) return take(gateway);
    last_server_ = (&gateway == a_.get() ? frame.ip.source : frame.ip.destination).to_string();
    const auto tcp = wire::parse_tcp(frame.payload);
    return tcp ? std::optional(tcp->header) : std::nullopt;
  }
  // Takes all segments. Returns the last one with one of the flags.
  std::optional<wire::TcpHeader> take_all(Gateway& gateway, std::uint8_t flags) {
    std::optional<wire::TcpHeader> last;
    while (const auto header = take(gateway)) {
      if ((header->flags & flags) != 0) last = header;
    }
    return last;
  }

  static wire::TcpHeader answer_to(const wire::TcpHeader& syn, std::uint8_t flags) {
    wire::TcpHeader tcp;
    tcp.source_port = syn.destination_port;
    tcp.destination_port = syn.source_port;
    tcp.sequence = (flags & Flags::kRst) != 0 ? 0 : 9'000;
    tcp.acknowledgment = syn.sequence + 1;
    tcp.flags = flags;
    tcp.window = 64'240;
    return tcp;
  }

  Answer connect(const char* client, const char* server, Server does, std::uint16_t port = 80) {
    const wire::TcpHeader ours = syn(++client_port_, port);
    lan(tcp_frame(client, server, ours));
    const auto local = take_all(*a_, Flags::kSyn);
    if (local) {
      wire::TcpHeader ack = answer_to(*local, Flags::kAck);
      ack.sequence = ours.sequence + 1;
      lan(tcp_frame(client, server, ack));
    }
    step();
    const auto theirs = take_all(*b_, Flags::kSyn);
    EXPECT_TRUE(theirs) << server;
    if (!theirs) return Answer::kSilence;
    const bool accepts = does == Server::kAccepts;
    const std::uint8_t flags = accepts ? Flags::kSyn | Flags::kAck : Flags::kRst | Flags::kAck;
    const wire::EthernetHeader back = host_to_server().reversed();
    from_server(tcp_frame(server, client, answer_to(*theirs, flags), back));
    if (accepts) {
      wire::TcpHeader data = answer_to(*theirs, Flags::kAck);
      ++data.sequence;
      from_server(tcp_frame(server, client, data, back, "hello"));
    }
    for (int i = 0; i < 3; ++i) step();
    const auto reset = take_all(*a_, Flags::kRst | Flags::kSyn);
    if (reset && reset->has(Flags::kRst)) return local ? Answer::kRefusedLate : Answer::kRefused;
    if (local) return accepts ? Answer::kLocal : Answer::kSilence;
    return reset ? Answer::kServer : Answer::kSilence;
  }

  // Connects to a port that never answers, until the far gateway gives up.
  enum class Client : std::uint8_t {
    kIsQuiet,
    kRepeatsItself,  // as if the server had answered by another way
  };
  void connect_to_silence(const char* server, std::uint16_t port, Client client = Client::kIsQuiet);

  void from_server(const FrameBytes& frame) { b_->handle_frame(PortId::kLan, frame, now_); }
  void connect_to_nowhere(std::initializer_list<const char*> servers);

  Handshake explained(const char* server, std::uint16_t port = 80) {
    const Explanation why = a_->explain({.source = ip_of(kClient),
                                         .destination = ip_of(server),
                                         .port = port,
                                         .protocol = wire::kProtocolTcp,
                                         .direction = config::Direction::kOutbound},
                                        now_);
    EXPECT_TRUE(why.handshake);
    return why.handshake.value_or(Handshake());
  }

  std::uint16_t client_port_ = 40'000;
  std::string last_server_;  // of the segment that was taken last
};

// A router of the far LAN has no route to any of the servers, and says so for each SYN.
void HandshakeTest::connect_to_nowhere(std::initializer_list<const char*> servers) {
  constexpr std::uint8_t kUnreachable = 3;
  constexpr std::uint8_t kHost = 1;
  constexpr int kMostSeconds = 200;
  for (const char* server : servers) lan(tcp_frame(kClient, server, syn(++client_port_)));
  while (const auto local = take(*a_)) {
    if (!local->has(Flags::kSyn)) continue;
    wire::TcpHeader ack = answer_to(*local, Flags::kAck);
    ack.sequence = local->acknowledgment;
    lan(tcp_frame(kClient, last_server_, ack));
  }
  step();
  for (int i = 0; i < kMostSeconds && b_->flow_count() > 0; ++i) {
    while (const auto asked = take(*b_)) {
      FrameBytes quoted = tcp_frame(kClient, last_server_, *asked);
      quoted.erase(quoted.begin(), quoted.begin() + wire::kEthernetHeaderSize);
      wire::IpHeader ip;
      ip.source = ip_of("198.51.100.254");
      ip.destination = ip_of(kClient);
      ip.protocol = wire::kProtocolIcmp;
      FrameBytes message(8 + quoted.size());
      wire::write_icmp(ip, {.type = kUnreachable, .code = kHost, .rest = 0, .body = quoted},
                       message);
      from_server(ip_frame(host_to_server().reversed(), ip, message));
    }
    for (int k = 0; k < 10; ++k) step();
  }
}

void HandshakeTest::connect_to_silence(const char* server, std::uint16_t port, Client client) {
  constexpr int kMostSteps = 2'000;
  const std::uint64_t before = count(Counter::kFlowsUnreachable);
  const wire::TcpHeader ours = syn(++client_port_, port);
  lan(tcp_frame(kClient, server, ours));
  wire::TcpHeader ack;
  if (const auto local = take_all(*a_, Flags::kSyn)) {
    ack = answer_to(*local, Flags::kAck);
    ack.sequence = ours.sequence + 1;
    lan(tcp_frame(kClient, server, ack));
  }
  for (int i = 0; i < kMostSteps && count(Counter::kFlowsUnreachable) == before; ++i) {
    step();
    take_all(*b_, Flags::kSyn);
    take_all(*a_, Flags::kSyn);
    const bool repeats = client == Client::kRepeatsItself && i > 0 && i % 10 == 0;
    if (repeats && ack.flags != 0) lan(tcp_frame(kClient, server, ack));
  }
  EXPECT_EQ(count(Counter::kFlowsUnreachable), before + 1);
}

TEST_F(HandshakeTest, AServiceThatRefusedAnswersForItselfUntilItAccepts) {
  start();
  EXPECT_EQ(connect(kClient, kServer, Server::kRefuses), Answer::kRefusedLate)
      << "nothing is known of it";
  EXPECT_EQ(explained(kServer).cause, Cause::kServiceRefused);
  EXPECT_EQ(explained(kServer, 81).cause, Cause::kRule) << "of another service";
  EXPECT_EQ(connect(kClient, kServer, Server::kRefuses), Answer::kRefused);
  EXPECT_EQ(connect("203.0.113.9", kServer, Server::kRefuses), Answer::kRefused) << "any client";
  EXPECT_EQ(connect(kClient, "198.51.100.6", Server::kAccepts), Answer::kLocal) << "another server";
  EXPECT_EQ(connect(kClient, kServer, Server::kAccepts), Answer::kServer) << "it has returned";
  EXPECT_EQ(connect(kClient, kServer, Server::kAccepts), Answer::kLocal);
  EXPECT_EQ(count(Counter::kServicesRefusing), 1U);
  EXPECT_EQ(count(Counter::kHandshakesLearnt), 3U);
  EXPECT_EQ(count(Counter::kFlowsResetProtocol), 0U);
}

TEST_F(HandshakeTest, ThatIsForgottenAfterADay) {
  start();
  EXPECT_EQ(connect(kClient, kServer, Server::kRefuses), Answer::kRefusedLate);
  now_ += Duration::seconds(26 * 3'600);
  for (int i = 0; i < 40; ++i) step();
  EXPECT_EQ(connect(kClient, kServer, Server::kAccepts), Answer::kLocal);
}

TEST_F(HandshakeTest, AutoIsLocalForServersThatHaveAnswered) {
  start(config::HandshakeMode::kAuto);
  EXPECT_EQ(explained(kServer).cause, Cause::kServiceUnknown);
  EXPECT_EQ(connect(kClient, kServer, Server::kRefuses), Answer::kRefused);
  EXPECT_EQ(connect(kClient, kServer, Server::kAccepts), Answer::kServer);
  EXPECT_EQ(explained(kServer).mode, config::HandshakeMode::kLocal);
  EXPECT_EQ(connect(kClient, kServer, Server::kAccepts), Answer::kLocal);
  EXPECT_EQ(connect(kClient, "198.51.100.6", Server::kAccepts), Answer::kServer);
}

TEST_F(HandshakeTest, AFamilyThatReachesNoServerIsLeftToThem) {
  config_a_.limits.flows = config_b_.limits.flows = 64;
  config_a_.peers[0].prefixes = {*IpPrefix::parse("198.51.0.0/16")};
  start();
  connect_to_nowhere({"198.51.1.1", "198.51.2.1"});
  EXPECT_EQ(explained("198.51.9.1").cause, Cause::kRule);
  connect_to_nowhere({"198.51.1.1", "198.51.2.1", "198.51.3.1"});
  EXPECT_EQ(explained("198.51.9.1").cause, Cause::kFamilySilent);
  EXPECT_EQ(count(Counter::kFamiliesSilent), 1U);
  EXPECT_EQ(connect(kClient, "198.51.9.1", Server::kAccepts), Answer::kServer);
  EXPECT_EQ(connect(kClient, "198.51.8.1", Server::kAccepts), Answer::kLocal);
}

TEST_F(HandshakeTest, AFilteredPortCostsNoOtherPortOfItsServerTheRelay) {
  start();
  ASSERT_EQ(connect(kClient, kServer, Server::kAccepts), Answer::kLocal);
  connect_to_silence(kServer, 443);
  EXPECT_EQ(connect(kClient, kServer, Server::kAccepts), Answer::kLocal);
  EXPECT_EQ(explained(kServer, 443).cause, Cause::kServiceRefused);
  connect_to_silence(kServer, 443);
  EXPECT_EQ(connect(kClient, kServer, Server::kAccepts, 443), Answer::kServer);
  EXPECT_EQ(count(Counter::kBridgedAsymmetric), 0U);
}

// The route has changed since.
TEST_F(HandshakeTest, AServerThatAnswersByAnotherWayIsLeftToTheHostsWhateverItAnsweredBefore) {
  start();
  ASSERT_EQ(connect(kClient, kServer, Server::kAccepts), Answer::kLocal);
  connect_to_silence(kServer, 443, Client::kRepeatsItself);
  EXPECT_EQ(lan(tcp_frame(kClient, kServer, syn(++client_port_))), Verdict::kBridge);
  EXPECT_EQ(count(Counter::kBridgedAsymmetric), 1U);
}

// The server has answered none of the connections of the two hosts, until it answers one that is
// still relayed.
TEST_F(HandshakeTest, ALaterAnswerEndsTheBridgingAtOnce) {
  start();
  const wire::TcpHeader slow = syn(++client_port_);
  lan(tcp_frame(kClient, kServer, slow));
  const auto local = take_all(*a_, Flags::kSyn);
  ASSERT_TRUE(local);
  wire::TcpHeader ack = answer_to(*local, Flags::kAck);
  ack.sequence = slow.sequence + 1;
  lan(tcp_frame(kClient, kServer, ack));
  step();
  const auto asked = take_all(*b_, Flags::kSyn);
  ASSERT_TRUE(asked);
  const wire::EthernetHeader back = host_to_server().reversed();
  from_server(tcp_frame(kServer, kClient, answer_to(*asked, Flags::kSyn | Flags::kAck), back));

  connect_to_silence(kServer, 443);
  ASSERT_EQ(lan(tcp_frame(kClient, kServer, syn(++client_port_))), Verdict::kBridge);
  wire::TcpHeader data = answer_to(*asked, Flags::kAck);
  ++data.sequence;
  from_server(tcp_frame(kServer, kClient, data, back, "hello"));
  for (int i = 0; i < 3; ++i) step();
  take_all(*a_, Flags::kAck);
  EXPECT_EQ(connect(kClient, kServer, Server::kAccepts), Answer::kLocal);
}

// A SYN that waits for its server keeps a half-open place. It is never answered by a cookie.
TEST_F(HandshakeTest, OfAServiceThatRefusedNoCookieAnswers) {
  start();
  ASSERT_EQ(connect(kClient, kServer, Server::kRefuses), Answer::kRefusedLate);
  unsigned bridged = 0;
  for (std::uint16_t i = 0; i < 10; ++i) {
    const auto port = static_cast<std::uint16_t>(50'000 + i);
    if (lan(tcp_frame(kClient, kServer, syn(port))) == Verdict::kBridge) ++bridged;
  }
  EXPECT_GT(bridged, 0U);
  EXPECT_EQ(count(Counter::kSynCookiesSent), 0U);
  EXPECT_FALSE(take_all(*a_, Flags::kSyn));
}

}  // namespace
}  // namespace satrelay::gateway::handshake_test
