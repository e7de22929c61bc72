// Which packets are relayed, which pass untouched and which end at the gateway, by their content.
// This is the table "What happens to which traffic" of docs/guide.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>

#include "relay/gateway/flows/flow.h"
#include "relay/gateway/frames/frame.h"
#include "tests/unit/relay/gateway/gateway_fixture.h"

namespace satrelay::gateway::transparency_test {
namespace {

constexpr auto kClientV6 = "2001:db8:a::5";
constexpr auto kServerV6 = "2001:db8:b::5";

class Transparency : public GatewayTest {
 protected:
  void restart_with(const config::Gateway& config) {
    a_ = std::make_unique<Gateway>(
        config, Identity{.boot_epoch = 2, .secret = {1, 2}, .wan_mac = kGatewayMac}, memory_a_,
        now_);
  }
  void SetUp() override {
    config_a_.peers[0].prefixes.push_back(*IpPrefix::parse("2001:db8:b::/48"));
    config_b_.peers[0].prefixes.push_back(*IpPrefix::parse("2001:db8:a::/48"));
    restart_with(config_a_);
    start_peer();
  }
  // The TCP header of the next frame to the LAN. The frame is kept in last_.
  std::optional<wire::TcpHeader> answer() {
    last_ = next_frame(PortId::kLan);
    if (!last_) return std::nullopt;
    const Frame frame = look_at(*last_);
    const auto tcp = wire::parse_tcp(frame.payload);
    if (!tcp) return std::nullopt;
    return tcp->header;
  }
  std::optional<FrameBytes> last_;
};

FrameBytes bytes(std::initializer_list<unsigned> values) {
  FrameBytes out;
  for (const unsigned value : values) out.push_back(static_cast<std::byte>(value));
  return out;
}

// A SYN with these option octets and this payload.
FrameBytes syn_with(const FrameBytes& options, const FrameBytes& payload = {}) {
  wire::IpHeader ip;
  ip.source = ip_of(kClient);
  ip.destination = ip_of(kServer);
  ip.protocol = wire::kProtocolTcp;
  FrameBytes segment(wire::kTcpHeaderSize);
  wire::TcpHeader tcp;
  tcp.source_port = 40000;
  tcp.destination_port = 80;
  tcp.sequence = 1000;
  tcp.flags = wire::TcpFlags::kSyn;
  tcp.window = 64240;
  wire::write_tcp(tcp, segment);
  segment[12] = static_cast<std::byte>((wire::kTcpHeaderSize + options.size()) / 4 << 4);
  segment.insert(segment.end(), options.begin(), options.end());
  segment.insert(segment.end(), payload.begin(), payload.end());
  store_u16(segment.data() + wire::kTcpChecksumOffset,
            wire::transport_checksum(ip.source, ip.destination, ip.protocol, segment));
  return ip_frame(host_to_server(), ip, segment);
}

// The same frame with IPv4 options (four NOPs) behind the IP header.
FrameBytes with_ip_options(FrameBytes frame) {
  const std::size_t at = wire::kEthernetHeaderSize;
  const FrameBytes nops(4, std::byte{1});
  frame.insert(frame.begin() + static_cast<std::ptrdiff_t>(at + wire::kIpv4HeaderSize),
               nops.begin(), nops.end());
  frame[at] = std::byte{0x46};
  store_u16(frame.data() + at + 2, static_cast<std::uint16_t>(frame.size() - at));
  store_u16(frame.data() + at + 10, 0);
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < 24; i += 2) sum += load_u16(frame.data() + at + i);
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  store_u16(frame.data() + at + 10, static_cast<std::uint16_t>(~sum));
  return frame;
}

// An IPv6 packet with the first extension header `next`, and then `body`.
FrameBytes v6_with(std::uint8_t next, const FrameBytes& body) {
  wire::IpHeader ip;
  ip.source = ip_of(kClientV6);
  ip.destination = ip_of(kServerV6);
  ip.protocol = next;
  return ip_frame(host_to_server(), ip, body);
}

TEST_F(Transparency, OptionsThatAreNotUnderstoodEndAtTheGateway) {
  // MPTCP MP_CAPABLE, version 1; a Fast Open cookie; an experimental option; the MSS last.
  const FrameBytes options =
      bytes({30, 4, 0x01, 0x00, 34, 6, 1, 2, 3, 4, 253, 4, 0xf9, 0x89, 2, 4, 5, 0xb4, 1, 1});
  EXPECT_EQ(lan(syn_with(options, FrameBytes(100))), Verdict::kConsumed);
  const auto syn_ack = answer();
  ASSERT_TRUE(syn_ack);
  EXPECT_EQ(syn_ack->acknowledgment, 1001U)
      << "data on the SYN is sent again, RFC 7413 section 4.1";
  EXPECT_FALSE(syn_ack->options.has_mptcp);
  EXPECT_FALSE(syn_ack->options.has_fast_open);
  EXPECT_FALSE(syn_ack->options.has_unknown);
  EXPECT_TRUE(syn_ack->options.mss);
}

TEST_F(Transparency, AFurtherPathOfAMultipathConnectionIsBridged) {
  // MP_JOIN: subtype 1, 12 bytes on a SYN. The gateway would have to know the keys of the
  // connection.
  EXPECT_EQ(lan(syn_with(bytes({30, 12, 0x10, 1, 1, 2, 3, 4, 5, 6, 7, 8}))), Verdict::kBridge);
  EXPECT_EQ(count(Counter::kBridgedTcpOptions), 1U);
}

// As over a cable, for a connection that needs all its paths.
TEST_F(Transparency, AMultipathConnectionIsBridgedByARuleThatSaysSo) {
  config_a_.rules.back().mptcp = config::MptcpMode::kBridge;
  restart_with(config_a_);
  start_peer();
  const FrameBytes capable = bytes({30, 4, 0x01, 0x00});
  EXPECT_EQ(lan(syn_with(capable)), Verdict::kBridge);
  EXPECT_EQ(lan(syn_with(capable)), Verdict::kBridge);
  EXPECT_EQ(count(Counter::kBridgedTcpOptions), 2U);
  EXPECT_EQ(lan(tcp_frame(kClient, kServer, syn(41'100))), Verdict::kConsumed)
      << "its client offers no paths";
}

// traceroute -T: the routers on the way must see where the SYN ends.
TEST_F(Transparency, ASynThatIsToEndOnTheWayIsBridged) {
  const auto with_ttl = [](FrameBytes frame, std::uint8_t ttl) {
    frame[14 + 8] = std::byte{ttl};
    const auto header = MutableBytes(frame).subspan(14, 20);
    store_u16(&header[10], 0);
    store_u16(&header[10], static_cast<std::uint16_t>(~wire::checksum_sum(header)));
    return frame;
  };
  for (const int ttl : {1, 30, 33}) {
    const auto port = static_cast<std::uint16_t>(41'000 + ttl);
    EXPECT_EQ(lan(with_ttl(tcp_frame(kClient, kServer, syn(port)), static_cast<std::uint8_t>(ttl))),
              Verdict::kBridge)
        << ttl;
    EXPECT_EQ(lan(tcp_frame(kClient, kServer, syn(port))), Verdict::kBridge)
        << "the server may have answered it";
  }
  EXPECT_EQ(count(Counter::kBridgedLowTtl), 3U);
  EXPECT_EQ(lan(with_ttl(tcp_frame(kClient, kServer, syn(41'100)), 34)), Verdict::kConsumed);
}

TEST_F(Transparency, IpOptionsOnASynAreBridgedAndInMidFlowEnd) {
  EXPECT_EQ(lan(with_ip_options(tcp_frame(kClient, kServer, syn(40001)))), Verdict::kBridge);
  EXPECT_EQ(count(Counter::kBridgedIpOptions), 1U);
  EXPECT_EQ(lan(tcp_frame(kClient, kServer, syn(40001))), Verdict::kBridge)
      << "the server may have answered it";
  ASSERT_EQ(lan(tcp_frame(kClient, kServer, syn())), Verdict::kConsumed);
  const auto syn_ack = answer();
  ASSERT_TRUE(syn_ack);
  wire::TcpHeader ack;
  ack.source_port = 40000;
  ack.destination_port = 80;
  ack.sequence = 1001;
  ack.acknowledgment = syn_ack->sequence + 1;
  ack.flags = wire::TcpFlags::kAck;
  EXPECT_EQ(lan(with_ip_options(tcp_frame(kClient, kServer, ack))), Verdict::kConsumed);
  EXPECT_EQ(count(Counter::kFlowsEstablished), 1U);
  wire::TcpHeader raw = ack;
  std::swap(raw.source_port, raw.destination_port);
  EXPECT_EQ(wan(with_ip_options(tcp_frame(kServer, kClient, raw))), Verdict::kDrop);
  EXPECT_EQ(count(Counter::kDroppedRelayedFromWan), 1U);
}

TEST_F(Transparency, ExtensionHeadersAreBridged) {
  for (const unsigned next : {0U, 43U, 60U}) {  // hop by hop, routing, destination
    FrameBytes body = bytes({wire::kProtocolTcp, 0, 1, 4, 0, 0, 0, 0});
    body.resize(28);
    EXPECT_EQ(lan(v6_with(static_cast<std::uint8_t>(next), body)), Verdict::kBridge);
  }
  EXPECT_EQ(count(Counter::kBridgedIpExtension), 3U);
}

TEST_F(Transparency, OneOrTwoVlanTagsAreRelayedAndComeBack) {
  for (const std::size_t tags : {1U, 2U}) {
    wire::EthernetHeader ethernet = host_to_server();
    ethernet.tags = {{{tags == 2 ? std::uint16_t{0x88a8} : std::uint16_t{0x8100}, 0x6010},
                      {tags == 2 ? std::uint16_t{0x8100} : std::uint16_t{0}, 0x0020}}};
    if (tags == 1) ethernet.tags[1] = {};
    ethernet.tag_count = static_cast<std::uint8_t>(tags);
    ASSERT_EQ(lan(tcp_frame(kClient, kServer, syn(), ethernet)), Verdict::kConsumed);
    ASSERT_TRUE(answer());
    const auto back = wire::parse_ethernet(*last_);
    ASSERT_TRUE(back);
    EXPECT_EQ(back->tag_count, tags);
    EXPECT_EQ(back->tags, ethernet.tags) << "priority bits too";
    EXPECT_EQ(back->destination, kHostMac);
  }
  // The content of a frame with three tags is unknown.
  FrameBytes three = tcp_frame(kClient, kServer, syn());
  const FrameBytes tags = bytes({0x81, 0, 0, 1, 0x81, 0, 0, 2, 0x81, 0, 0, 3});
  three.insert(three.begin() + 12, tags.begin(), tags.end());
  EXPECT_EQ(lan(three), Verdict::kBridge);
  FrameBytes mpls = tcp_frame(kClient, kServer, syn());
  mpls[12] = std::byte{0x88};
  mpls[13] = std::byte{0x47};
  EXPECT_EQ(lan(mpls), Verdict::kBridge);
  EXPECT_EQ(count(Counter::kBridgedNotIp), 1U);
}

TEST_F(Transparency, HostsOnTheGatewaysOwnSegmentAreNotAskedForAtThePeer) {
  config_a_.peers[0].prefixes = {*IpPrefix::parse("0.0.0.0/0"), *IpPrefix::parse("::/0")};
  restart_with(config_a_);
  start_peer();
  EXPECT_EQ(lan(tcp_frame(kClient, "192.0.2.3", syn())), Verdict::kBridge) << "a modem";
  EXPECT_EQ(lan(tcp_frame(kClient, "169.254.0.9", syn())), Verdict::kBridge);
  EXPECT_EQ(lan(tcp_frame("fe80::5", "fe80::1", syn())), Verdict::kBridge);
  EXPECT_EQ(count(Counter::kBridgedOwnSegment), 3U);
  EXPECT_EQ(lan(tcp_frame(kClient, "192.0.2.4", syn())), Verdict::kConsumed) << "beyond the /30";
}

TEST_F(Transparency, APeersPrefixWithinTheOwnSegmentIsThePeers) {
  config_a_.gateway.address = *IpPrefix::parse("192.0.2.0/24");
  config_a_.peers[0].prefixes = {*IpPrefix::parse("192.0.2.128/25")};
  config_b_.peers[0].prefixes = {*IpPrefix::parse("192.0.2.0/25")};
  restart_with(config_a_);
  start_peer();
  EXPECT_EQ(lan(tcp_frame("192.0.2.10", "192.0.2.200", syn())), Verdict::kConsumed);
  EXPECT_EQ(lan(tcp_frame("192.0.2.10", "192.0.2.20", syn())), Verdict::kBridge);
  EXPECT_EQ(count(Counter::kBridgedOwnSegment), 1U);
}

TEST_F(Transparency, MulticastAndBroadcastAreUntouched) {
  EXPECT_EQ(lan(udp_frame(kClient, "239.1.1.1", 5000, FrameBytes(20))), Verdict::kBridge);
  EXPECT_EQ(lan(udp_frame(kClient, "255.255.255.255", 67, FrameBytes(20))), Verdict::kBridge);
  EXPECT_EQ(wan(udp_frame(kServer, "239.1.1.1", 5000, FrameBytes(20))), Verdict::kBridge);
  wire::EthernetHeader to_all = host_to_server();
  to_all.destination = MacAddress::broadcast();
  EXPECT_EQ(lan(tcp_frame(kClient, kServer, syn(), to_all)), Verdict::kBridge);
  EXPECT_EQ(count(Counter::kBridgedMulticast), 1U);
}

TEST_F(Transparency, AnAnswerWithoutItsQuestionTellsOfAnAsymmetricRoute) {
  wire::TcpHeader syn_ack;
  syn_ack.source_port = 80;
  syn_ack.destination_port = 40000;
  syn_ack.sequence = 7000;
  syn_ack.acknowledgment = 1001;
  syn_ack.flags = wire::TcpFlags::kSyn | wire::TcpFlags::kAck;
  EXPECT_EQ(lan(tcp_frame(kClient, kServer, syn_ack)), Verdict::kBridge);
  EXPECT_EQ(count(Counter::kBridgedAsymmetric), 1U);
  // The SYN came this way, and a gateway chose to bridge it.
  wire::TcpHeader from_far = syn();
  from_far.source_port = 40000;
  from_far.destination_port = 80;
  EXPECT_EQ(wan(tcp_frame(kServer, kClient, from_far)), Verdict::kBridge);
  EXPECT_EQ(lan(tcp_frame(kClient, kServer, syn_ack)), Verdict::kBridge);
  EXPECT_EQ(count(Counter::kBridgedAsymmetric), 1U);
  EXPECT_EQ(count(Counter::kBridgedMidStream), 1U);
}

// The server's answers take another way, so the far gateway's SYNs seem to get no answer.
TEST_F(Transparency, AServerThatNeverAnswersIsLeftToTheHosts) {
  ASSERT_EQ(lan(tcp_frame(kClient, kServer, syn())), Verdict::kConsumed);
  const auto syn_ack = answer();
  ASSERT_TRUE(syn_ack);
  wire::TcpHeader ack = syn();
  ack.flags = wire::TcpFlags::kAck;
  ack.sequence = 1001;
  ack.acknowledgment = syn_ack->sequence + 1;
  ack.options = {};
  ASSERT_EQ(lan(tcp_frame(kClient, kServer, ack)), Verdict::kConsumed);
  FrameBytes to_server(b_->max_frame_size());
  for (int i = 0; i < 2'000 && count(Counter::kFlowsUnreachable) == 0; ++i) {
    step();
    while (b_->poll_frame(PortId::kLan, to_server, now_).size > 0) continue;
    while (next_frame(PortId::kLan)) continue;
  }
  ASSERT_EQ(count(Counter::kFlowsUnreachable), 1U);
  EXPECT_EQ(lan(tcp_frame(kClient, kServer, syn(40001))), Verdict::kBridge);
  EXPECT_EQ(count(Counter::kBridgedAsymmetric), 1U);
  EXPECT_EQ(lan(tcp_frame(kClient, "198.51.100.6", syn(40001))), Verdict::kConsumed) << "another";
  for (int i = 0; i < 3'010; ++i) {
    step();
    while (next_frame(PortId::kLan)) continue;
  }
  EXPECT_EQ(lan(tcp_frame(kClient, kServer, syn(40002))), Verdict::kConsumed) << "a new try";
}

TEST_F(Transparency, FramesThatTheOtherPortCannotCarryAreDroppedByName) {
  config_a_.lan.mtu = 9000;
  restart_with(config_a_);
  EXPECT_EQ(lan(udp_frame(kClient, kServer, 53, FrameBytes(1'472))), Verdict::kBridge);
  wire::EthernetHeader tagged = host_to_server();
  tagged.tag_count = 1;
  tagged.tags[0] = {0x8100, 42};
  EXPECT_EQ(lan(udp_frame(kClient, kServer, 53, FrameBytes(1'472), tagged)), Verdict::kBridge);
  EXPECT_EQ(lan(udp_frame(kClient, kServer, 53, FrameBytes(1'473))), Verdict::kDrop);
  EXPECT_EQ(count(Counter::kDroppedTooLong), 1U);
  EXPECT_EQ(wan(udp_frame(kServer, kClient, 53, FrameBytes(8'972))), Verdict::kBridge);
}

// --- DSCP and TTL ------------------------------------------------------------------------------

class Marks : public Transparency {
 protected:
  struct Side {
    Gateway* gateway;
    const char* host;
    const char* far;
    std::uint16_t port;
    std::uint16_t far_port;
    std::uint32_t next = 0;          // sequence number of the host
    std::uint32_t acknowledged = 0;  // and up to where it has acknowledged
    PathMarks sends{};
  };
  void send(Side& side, std::uint8_t flags, std::size_t payload) {
    wire::TcpHeader tcp;
    tcp.source_port = side.port;
    tcp.destination_port = side.far_port;
    tcp.sequence = side.next;
    tcp.acknowledgment = side.acknowledged;
    tcp.flags = flags;
    tcp.window = 64240;
    wire::IpHeader ip;
    ip.source = ip_of(side.host);
    ip.destination = ip_of(side.far);
    ip.protocol = wire::kProtocolTcp;
    ip.traffic_class = side.sends.traffic_class;
    ip.hop_limit = side.sends.hop_limit;
    FrameBytes segment(wire::kTcpHeaderSize + payload);
    wire::write_tcp(tcp, segment);
    store_u16(segment.data() + wire::kTcpChecksumOffset,
              wire::transport_checksum(ip.source, ip.destination, ip.protocol, segment));
    side.next += static_cast<std::uint32_t>(payload) + (flags & wire::TcpFlags::kSyn ? 1U : 0U);
    side.gateway->handle_frame(PortId::kLan, ip_frame(host_to_server(), ip, segment), now_);
  }
  // The marks of the host's next frame that is a SYN or has payload. The host acknowledges it.
  std::optional<PathMarks> take(Side& side) {
    FrameBytes bytes(side.gateway->max_frame_size());
    while (const std::size_t size = side.gateway->poll_frame(PortId::kLan, bytes, now_).size) {
      const Frame frame = look_at(ConstBytes(bytes).first(size));
      const auto tcp = wire::parse_tcp(frame.payload);
      if (!tcp) return std::nullopt;
      const bool syn = tcp->header.has(wire::TcpFlags::kSyn);
      const auto payload = static_cast<std::uint32_t>(frame.payload.size() - tcp->header_size);
      if (!syn && payload == 0) continue;
      side.acknowledged = tcp->header.sequence + payload + (syn ? 1U : 0U);
      return PathMarks{frame.ip.traffic_class, frame.ip.hop_limit};
    }
    return std::nullopt;
  }
};

TEST_F(Marks, AreThoseOfTheFarHost) {
  Side client{a_.get(), kClient, kServer, 40000, 80};
  client.sends = {0x48, 61};  // AF21, and three hops away
  Side server{b_.get(), kServer, kClient, 80, 40000};
  server.sends = {0x20, 125};
  send(client, wire::TcpFlags::kSyn, 0);
  EXPECT_EQ(take(client), (PathMarks{0x48, 64})) << "nothing is known of the server";
  send(client, wire::TcpFlags::kAck, 0);
  step();
  EXPECT_EQ(take(server), client.sends) << "on the SYN";
  send(server, wire::TcpFlags::kSyn | wire::TcpFlags::kAck, 0);
  send(server, wire::TcpFlags::kAck, 100);
  step();
  EXPECT_EQ(take(client), server.sends);
  // The marks change in mid-flow, as ssh does once it knows what the connection is for. The ECN
  // bits are for one hop only.
  client.sends = {0x10, 60};
  client.sends.traffic_class |= 0x02;
  send(client, wire::TcpFlags::kAck, 100);
  step();
  EXPECT_EQ(take(server), (PathMarks{0x10, 60}));
  send(server, wire::TcpFlags::kAck, 100);
  step();
  EXPECT_EQ(take(client), server.sends) << "the other direction keeps its own";
}

// The marks of frames in the server's name before it has sent any. Here it is the SYN-ACK.
TEST_F(Marks, AreThoseOfTheFarHostsLastConnection) {
  const PathMarks of_server{0x20, 125};
  const auto connect = [&](std::uint16_t port) {
    Side client{a_.get(), kClient, kServer, port, 80};
    Side server{b_.get(), kServer, kClient, 80, port};
    server.sends = of_server;
    send(client, wire::TcpFlags::kSyn, 0);
    const auto answered = take(client);
    send(client, wire::TcpFlags::kAck, 0);
    step();
    EXPECT_TRUE(take(server));
    send(server, wire::TcpFlags::kSyn | wire::TcpFlags::kAck, 0);
    send(server, wire::TcpFlags::kAck, 100);
    step();
    EXPECT_EQ(take(client), of_server);
    return answered;
  };
  EXPECT_EQ(connect(40000), (PathMarks{0, 64}));
  EXPECT_EQ(connect(40001), of_server);
  now_ += Duration::seconds(23 * 3600);
  step();
  EXPECT_EQ(connect(40002), of_server);
  now_ += Duration::seconds(26 * 3600);
  step();
  EXPECT_EQ(connect(40003), (PathMarks{0, 64})) << "a day later";
}

TEST_F(Marks, OfAHostThatOpensConnectionsAreThoseOfItsAnswers) {
  Side opener{b_.get(), kServer, kClient, 50000, 8022};
  opener.sends = {0xb8, 255};
  send(opener, wire::TcpFlags::kSyn, 0);
  ASSERT_TRUE(take(opener));
  send(opener, wire::TcpFlags::kAck, 0);
  step();
  Side client{a_.get(), kClient, kServer, 40000, 179};
  client.sends = {0, 255};
  while (next_frame(PortId::kLan)) {
  }
  send(client, wire::TcpFlags::kSyn, 0);
  EXPECT_EQ(take(client), opener.sends);
}

// A far gateway does not send the usual marks. So remembered marks must not stay in their place.
TEST_F(Marks, OfTheLastConnectionEndWithTheFirstDataOfThis) {
  const auto download = [&](std::uint16_t port, const PathMarks& of_server) {
    Side client{a_.get(), kClient, kServer, port, 80};
    Side server{b_.get(), kServer, kClient, 80, port};
    server.sends = of_server;
    send(client, wire::TcpFlags::kSyn, 0);
    EXPECT_TRUE(take(client));
    send(client, wire::TcpFlags::kAck, 0);
    step();
    EXPECT_TRUE(take(server));
    send(server, wire::TcpFlags::kSyn | wire::TcpFlags::kAck, 0);
    send(server, wire::TcpFlags::kAck, 100);
    step();
    return take(client);
  };
  EXPECT_EQ(download(40000, {0x48, 125}), (PathMarks{0x48, 125}));
  EXPECT_EQ(download(40001, {0, 64}), (PathMarks{0, 64})) << "the usual ones";
  Side next{a_.get(), kClient, kServer, 40002, 80};
  send(next, wire::TcpFlags::kSyn, 0);
  EXPECT_EQ(take(next), (PathMarks{0, 64})) << "and these are remembered";
}

// BGP with TTL security (RFC 5082): the host drops segments with a TTL below 255, a SYN-ACK too.
TEST_F(Marks, ArePreservedWhereARuleSaysSo) {
  config_a_.rules.back().ttl = config::TtlMode::kPreserve;
  restart_with(config_a_);
  start_peer();
  const auto connect = [&](std::uint16_t port, const PathMarks& of_server) {
    Side client{a_.get(), kClient, kServer, port, 179};
    Side server{b_.get(), kServer, kClient, 179, port};
    client.sends = {0xc0, 255};
    server.sends = of_server;
    send(client, wire::TcpFlags::kSyn, 0);
    auto answered = take(client);
    const bool waits = !answered;
    if (!waits) send(client, wire::TcpFlags::kAck, 0);
    step();
    EXPECT_EQ(take(server), client.sends);
    send(server, wire::TcpFlags::kSyn | wire::TcpFlags::kAck, 0);
    step();
    if (waits) answered = take(client);
    EXPECT_EQ(answered, of_server) << port;
    return waits;
  };
  // The same router opens ssh to us, with another TTL.
  Side opener{b_.get(), kServer, kClient, 50000, 8022};
  opener.sends = {0x48, 63};
  send(opener, wire::TcpFlags::kSyn, 0);
  ASSERT_TRUE(take(opener));
  send(opener, wire::TcpFlags::kAck, 0);
  step();
  while (next_frame(PortId::kLan)) {
  }
  EXPECT_TRUE(connect(40000, {0xc0, 255}));
  EXPECT_FALSE(connect(40001, {0xc0, 255})) << "that is known now";
  now_ += Duration::seconds(26 * 3600);
  step();
  EXPECT_TRUE(connect(40002, {0xc0, 64})) << "the usual ones, told by nobody";
  EXPECT_EQ(count(Counter::kFlowsResetProtocol), 0U);
}

TEST_F(Marks, ArePreservedByACookieToo) {
  config_a_.rules.back().ttl = config::TtlMode::kPreserve;
  config_a_.limits.half_open = 2;
  restart_with(config_a_);
  start_peer();
  // One connection waits for the server. The marks of the server's answers to more of them are
  // unknown.
  for (std::uint16_t i = 0; i < 4; ++i) {
    const auto port = static_cast<std::uint16_t>(41'000 + i);
    const Verdict verdict = lan(tcp_frame(kClient, kServer, syn(port)));
    EXPECT_EQ(verdict, i < 1 ? Verdict::kConsumed : Verdict::kBridge) << i;
  }
  EXPECT_EQ(count(Counter::kSynCookiesSent), 0U);
}

}  // namespace
}  // namespace satrelay::gateway::transparency_test
