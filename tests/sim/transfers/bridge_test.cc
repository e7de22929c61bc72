// Everything but TCP for a peer passes as if the gateways were a cable.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "pep/base/random.h"
#include "pep/wire/checksum.h"
#include "pep/wire/tcp.h"
#include "pep/wire/udp.h"
#include "relay/sim/network/fragments.h"
#include "relay/sim/network/network.h"
#include "relay/sim/scenarios/scenario.h"

namespace satrelay::sim::bridge_test {
namespace {

using Frame = std::vector<std::byte>;

// Builds one frame of each kind that a gateway must leave alone, with random content.
class FrameMaker {
 public:
  FrameMaker(const OwnAddresses& from, const OwnAddresses& to, std::uint64_t seed)
      : from_(from), to_(to), random_(seed) {}

  std::vector<Frame> every_kind() {
    std::vector<Frame> frames;
    for (const std::size_t payload : {1U, 100U, 1'472U}) {
      frames.push_back(udp(payload, IpVersion::kV4, {}));
      frames.push_back(udp(payload, IpVersion::kV4, {{0x8100, 0x2007}}));
      frames.push_back(udp(payload, IpVersion::kV4, {{0x88a8, 10}, {0x8100, 20}}));
      frames.push_back(udp(payload - (payload > 1'452 ? 20 : 0), IpVersion::kV6, {}));
      frames.push_back(other(0x88b5, payload));                               // Local experimental.
      frames.push_back(other(0x8847, payload));                               // MPLS
      frames.push_back(other(static_cast<std::uint16_t>(payload), payload));  // 802.3 length.
      frames.push_back(ip_protocol(47, payload));                             // GRE
      frames.push_back(ip_protocol(50, payload));                             // ESP
      frames.push_back(fragment(payload));
    }
    Frame lldp = other(0x88cc, 60);
    const std::uint8_t group[] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e};
    std::memcpy(lldp.data(), group, sizeof group);
    frames.push_back(lldp);
    Frame broadcast = udp(200, IpVersion::kV4, {});
    std::memset(broadcast.data(), 0xff, 6);
    frames.push_back(broadcast);
    // Fragments of TCP leave when all of them have arrived. Frames other than IP do not wait for
    // them.
    for (const auto version : {IpVersion::kV4, IpVersion::kV6}) {
      for (const Frame& part : segment_in_fragments(version, 1)) frames.push_back(part);
      std::vector<Frame> parts = segment_in_fragments(version, 2);
      std::ranges::reverse(parts);
      for (const Frame& part : parts) frames.push_back(part);
    }
    return frames;
  }

 private:
  wire::EthernetHeader header(wire::EtherType type, const std::vector<wire::VlanTag>& tags) {
    wire::EthernetHeader ethernet;
    ethernet.destination = to_.mac;
    ethernet.source = from_.mac;
    ethernet.type = type;
    for (const wire::VlanTag& tag : tags) ethernet.tags[ethernet.tag_count++] = tag;
    return ethernet;
  }
  void randomise(MutableBytes bytes) {
    for (std::byte& b : bytes) b = static_cast<std::byte>(random_.next());
  }
  Frame packet(wire::IpHeader ip, std::size_t payload, const std::vector<wire::VlanTag>& tags) {
    const bool v4 = ip.source.is_v4();
    const auto ethernet = header(v4 ? wire::EtherType::kIpv4 : wire::EtherType::kIpv6, tags);
    const std::size_t headers =
        ethernet.size() + (v4 ? wire::kIpv4HeaderSize : wire::kIpv6HeaderSize);
    Frame frame(headers + payload);
    wire::write_ethernet(ethernet, frame);
    ip.payload_size = static_cast<std::uint16_t>(payload);
    ip.traffic_class = 0xb8;
    wire::write_ip(ip, MutableBytes(frame).subspan(ethernet.size()));
    randomise(MutableBytes(frame).subspan(headers));
    return frame;
  }
  wire::IpHeader addressed(IpVersion version) {
    wire::IpHeader ip;
    ip.source = version == IpVersion::kV4 ? from_.v4 : from_.v6;
    ip.destination = version == IpVersion::kV4 ? to_.v4 : to_.v6;
    return ip;
  }
  Frame udp(std::size_t payload, IpVersion version, const std::vector<wire::VlanTag>& tags) {
    wire::IpHeader ip = addressed(version);
    ip.protocol = wire::kProtocolUdp;
    Frame frame = packet(ip, payload + wire::kUdpHeaderSize, tags);
    const MutableBytes datagram = MutableBytes(frame).last(payload + wire::kUdpHeaderSize);
    wire::write_udp({5'000, 7'878, static_cast<std::uint16_t>(datagram.size()), 0}, datagram);
    store_u16(&datagram[wire::kUdpChecksumOffset],
              wire::transport_checksum(ip.source, ip.destination, wire::kProtocolUdp, datagram));
    return frame;
  }
  Frame ip_protocol(std::uint8_t protocol, std::size_t payload) {
    wire::IpHeader ip = addressed(IpVersion::kV4);
    ip.protocol = protocol;
    return packet(ip, payload, {});
  }
  // A segment of a connection that no gateway relays.
  std::vector<Frame> segment_in_fragments(IpVersion version, std::uint32_t identification) {
    wire::IpHeader ip = addressed(version);
    ip.protocol = wire::kProtocolTcp;
    ip.dont_fragment = false;
    Frame frame = packet(ip, 1'000, {{0x8100, 0x2007}});
    const MutableBytes segment = MutableBytes(frame).last(1'000);
    wire::TcpHeader tcp;
    tcp.source_port = 40'000;
    tcp.destination_port = 80;
    tcp.flags = wire::TcpFlags::kAck;
    wire::write_tcp(tcp, segment);
    return fragments_of(frame, {.size = 400, .identification = identification});
  }
  // The middle of a UDP datagram. Its other fragments never arrive.
  Frame fragment(std::size_t payload) {
    wire::IpHeader ip = addressed(IpVersion::kV4);
    ip.protocol = wire::kProtocolUdp;
    ip.dont_fragment = false;
    ip.more_fragments = true;
    ip.fragment_offset = 1'480;
    ip.identification = 99;
    return packet(ip, payload, {});
  }
  Frame other(std::uint16_t type, std::size_t payload) {
    const auto ethernet = header(static_cast<wire::EtherType>(type), {});
    Frame frame(ethernet.size() + payload);
    wire::write_ethernet(ethernet, frame);
    randomise(MutableBytes(frame).subspan(ethernet.size()));
    return frame;
  }

  OwnAddresses from_;
  OwnAddresses to_;
  Random random_;
};

void passes(Side from, unsigned workers = 1) {
  Scenario scenario = make_lab(1, {});
  for (Station& station : scenario.stations) station.workers = workers;
  Tracer tracer;
  Network network(scenario, tracer);
  ASSERT_TRUE(network.run_until_peers_alive(Instant() + Duration::seconds(10)));
  std::vector<Frame> received;
  SimHost& source = network.host(from, 0);
  SimHost& sink = network.host(opposite(from), 0);
  sink.on_other_frame([&](ConstBytes frame) { received.emplace_back(frame.begin(), frame.end()); });
  const std::vector<Frame> sent =
      FrameMaker(source.spec().addresses, sink.spec().addresses, 7).every_kind();
  for (const Frame& frame : sent) source.send_raw(frame);
  network.run_for(Duration::seconds(2));
  ASSERT_EQ(received.size(), sent.size());
  if (workers > 1) {  // Between flows there is no order.
    EXPECT_TRUE(std::ranges::is_permutation(received, sent));
    return;
  }
  for (std::size_t i = 0; i < sent.size(); ++i) {
    EXPECT_TRUE(received[i] == sent[i]) << "frame " << i << ": " << describe_frame(sent[i])
                                        << " became " << describe_frame(received[i]);
  }
}

TEST(Bridge, EverythingElsePassesUntouchedFromAToB) { passes(Side::kA); }
TEST(Bridge, EverythingElsePassesUntouchedFromBToA) { passes(Side::kB); }
TEST(Bridge, EverythingElsePassesSeveralWorkersUntouched) { passes(Side::kA, 4); }

TEST(Bridge, AddressResolutionCrossesTheSatellite) {
  for (const IpVersion version : {IpVersion::kV4, IpVersion::kV6}) {
    Scenario scenario = make_lab(2, {});
    scenario.static_neighbours = false;
    Plan client, server;
    client.send_bytes = 10;
    server.send_bytes = 10;
    add_flow(scenario, Side::kA, client, server).version = version;
    Tracer tracer;
    Network network(scenario, tracer);
    ASSERT_TRUE(network.run_until_flows_over(Instant() + Duration::seconds(60)));
    EXPECT_TRUE(network.flow(0).client.saw_end);
    EXPECT_EQ(network.counted(gateway::Counter::kFlowsEstablished), 1U);
  }
}

TEST(Bridge, BridgedBytesAreDebitedToThePacer) {
  Scenario scenario = make_lab(3, {}, 2);
  add_flow(scenario, Side::kA, Plan{}, Plan{}).client_plan.send_bytes = 12'000'000;
  Tracer tracer;
  Network network(scenario, tracer);
  network.run_for(Duration::milliseconds(5'500));
  // A constant stream of UDP, within its share, beside a bulk transfer. Together they do not
  // overrun the link's queue.
  SimHost& source = network.host(Side::kA, 1);
  std::uint64_t received = 0;
  network.host(Side::kB, 1).on_other_frame([&](ConstBytes) { ++received; });
  const Frame frame =
      FrameMaker(source.spec().addresses, network.host(Side::kB, 1).spec().addresses, 9)
          .every_kind()[20];
  std::uint64_t sent = 0;
  for (int i = 0; i < 600; ++i, ++sent) {
    network.loop().at(network.loop().now() + Duration::microseconds(2'600) * i,
                      [&] { source.send_raw(frame); });
  }
  ASSERT_TRUE(network.run_until_flows_over(Instant() + Duration::seconds(60)));
  network.run_for(Duration::seconds(1));
  EXPECT_EQ(received, sent);
  EXPECT_EQ(network.satellite().from_a().counters().dropped_queue, 0U);
}

}  // namespace
}  // namespace satrelay::sim::bridge_test
