// Whatever is offered to a link, the gateway sends no more than the link carries. A flood of one
// kind of frames takes the link neither from streams nor from bridged packets.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "pep/wire/icmp.h"
#include "relay/sim/network/network.h"
#include "relay/sim/network/network_addresses.h"
#include "relay/sim/scenarios/plans.h"
#include "relay/sim/scenarios/scenario.h"
#include "tests/sim/sharing/udp_traffic.h"

namespace satrelay::sim::link_budget_test {
namespace {

using gateway::Counter;
using Frame = std::vector<std::byte>;

constexpr Instant kStart = Instant::from_nanoseconds(8'000'000'000);
constexpr Duration kLength = Duration::seconds(8);
constexpr Duration kOneWay = Duration::milliseconds(275);

// Counts octets that enter the link from A, as the modem counts them. Also keeps the largest excess
// of any 20 ms over what the pacer may send in that time.
class Modem {
 public:
  Modem(Network& network, double bits_per_second) : octets_per_second_(bits_per_second / 8) {
    network.satellite().on_frame([this, &network](unsigned from, ConstBytes frame) {
      if (from == SatelliteLink::kA) note(frame.size() - 14 + 38, network.loop().now());
    });
  }
  std::uint64_t octets() const { return octets_; }
  double most_beyond() const { return most_beyond_; }  // Unit: octets.
  void restart() { octets_ = 0; }

 private:
  struct Sent {
    Instant when;
    std::uint64_t before = 0;
  };
  void note(std::size_t size, Instant now) {
    sent_.push_back({now, all_});
    all_ += size;
    octets_ += size;
    while (sent_.size() > 1 && sent_[1].when + Duration::milliseconds(20) <= now) {
      sent_.pop_front();
    }
    const double window = 0.020 * 1.02 + 0.004;
    const auto in_window = static_cast<double>(all_ - sent_.front().before);
    most_beyond_ = std::max(most_beyond_, in_window - octets_per_second_ * window);
  }
  double octets_per_second_;
  std::uint64_t octets_ = 0, all_ = 0;
  double most_beyond_ = -1e9;
  std::deque<Sent> sent_;
};

Scenario lab(double bits_per_second) {
  const BitRate rate = BitRate::bits_per_second(static_cast<std::uint64_t>(bits_per_second));
  return make_lab(38, {.rate = rate}, 3);
}

void flood(Network& network, const std::function<void()>& send, std::size_t octets,
           double bits_per_second) {
  const double interval = static_cast<double>(octets) * 8 / bits_per_second;
  const auto count = static_cast<std::uint64_t>(kLength.to_seconds() / interval);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto offset = static_cast<std::int64_t>(static_cast<double>(i) * interval * 1e9);
    network.loop().at(kStart + Duration::nanoseconds(offset), send);
  }
}

Frame ethernet(const MacAddress& from, const MacAddress& to, std::uint16_t type, std::size_t size) {
  wire::EthernetHeader header;
  header.source = from;
  header.destination = to;
  header.type = static_cast<wire::EtherType>(type);
  Frame frame(size);
  wire::write_ethernet(header, frame);
  return frame;
}

// A flood of 30 Mbit/s of one kind of frames, beside a transfer and 1.5 Mbit/s of UDP, over a link
// of 20 Mbit/s.
void floods(std::string_view what, Frame frame, Counter counted) {
  constexpr double kRate = 20e6;
  Scenario scenario = lab(kRate);
  add_flow(scenario, Side::kA, sender(200'000'000), receiver());
  Tracer tracer;
  Network network(scenario, tracer);
  Modem modem(network, kRate);
  UdpTraffic traffic(network, kOneWay);
  const UdpResult& udp =
      traffic.add({.bits_per_second = 1'500'000, .start = kStart, .length = kLength});
  SimHost& flooder = network.host(Side::kA, 2);
  flood(
      network, [&] { flooder.send_raw(frame); }, frame.size() + 24, 30e6);
  network.loop().run_until(kStart + Duration::seconds(1));
  modem.restart();
  const std::uint64_t before = network.flow(0).server.received;
  network.run_for(Duration::seconds(6));
  const double sent = static_cast<double>(modem.octets()) * 8 / 6;
  const double goodput = static_cast<double>(network.flow(0).server.received - before) * 8 / 6;
  network.run_for(Duration::seconds(4));
  const double udp_share = static_cast<double>(udp.received) / static_cast<double>(udp.sent);
  std::printf("  %s: %.2f Mbit/s leave, transfer %.2f, UDP %.0f%%, longest wait %.0f ms\n",
              std::string(what).c_str(), sent / 1e6, goodput / 1e6, udp_share * 100,
              udp.longest_wait.to_seconds() * 1e3);
  EXPECT_LE(sent, kRate) << what;
  EXPECT_LE(modem.most_beyond(), 2 * 1'538) << what;
  EXPECT_GE(goodput, 0.3 * kRate) << what;
  EXPECT_GE(udp_share, 0.4) << what;
  EXPECT_GT(network.counted(counted), 500U) << what;
}

const MacAddress kFlooder{{2, 0, 0, 0, 7, 1}};
const MacAddress kSink{{2, 0, 0, 0, 7, 2}};

TEST(LinkBudget, FramesThatAreNotIpWait) {
  Frame pppoe = ethernet(kFlooder, kSink, 0x8864, 1'514);
  pppoe[14] = std::byte{0x11};
  store_u16(&pppoe[16], 7);
  store_u16(&pppoe[18], 1'494);
  store_u16(&pppoe[20], 0x00fd);
  floods("PPPoE", pppoe, Counter::kBridgedNotIp);
  Frame mpls = ethernet(kFlooder, kSink, 0x8847, 1'514);
  store_u32(&mpls[14], 16U << 12 | 0x140);
  floods("MPLS", mpls, Counter::kBridgedNotIp);
  floods("an unknown ethertype", ethernet(kFlooder, kSink, 0x88b5, 1'514), Counter::kBridgedNotIp);
}

TEST(LinkBudget, ControlFramesBeyondTheirBudgetWaitToo) {
  const Frame bpdu = ethernet(kFlooder, MacAddress{{0x01, 0x80, 0xc2, 0, 0, 0}}, 46, 60);
  floods("STP of bridges", bpdu, Counter::kControlOverBudget);
  const Frame arp = ethernet(kFlooder, MacAddress::broadcast(), 0x0806, 60);
  floods("ARP", arp, Counter::kControlOverBudget);
  floods("LLDP", ethernet(kFlooder, kSink, 0x88cc, 1'514), Counter::kControlOverBudget);
}

// A stranger on the WAN sends 20 Mbit/s of pings to the gateway's own address. The gateway's
// answers take 1% of a link of 2 Mbit/s.
TEST(LinkBudget, PingsDrawNoMoreThanTheirBudget) {
  constexpr double kRate = 2e6;
  Scenario scenario = lab(kRate);
  Tracer tracer;
  Network network(scenario, tracer);
  ASSERT_TRUE(network.run_until_peers_alive(Instant() + Duration::seconds(8)));
  Modem modem(network, kRate);
  GatewayNode& gateway = network.gateway(Side::kA);
  const auto ping = [&](const char* source) {
    wire::IpHeader ip;
    ip.source = *IpAddress::parse(source);
    ip.destination = *IpAddress::parse(kGatewayAddress[0]);
    ip.protocol = wire::kProtocolIcmp;
    const std::vector<std::byte> body(56);
    Frame frame = ethernet(kFlooder, kGatewayMac[0], 0x0800, 14 + 84);
    ip.payload_size = 64;
    wire::write_ip(ip, MutableBytes(frame).subspan(14));
    wire::write_icmp(ip, {.type = wire::kIcmpEchoRequest, .body = body},
                     MutableBytes(frame).subspan(34));
    return frame;
  };
  const Frame stranger = ping("192.0.2.77");
  const auto answered = [&] { return gateway.counted(Counter::kPingAnswered); };
  flood(
      network,
      [&] {
        gateway.engine().handle_frame(gateway::PortId::kWan, stranger, network.loop().now());
        gateway.wake();
      },
      98 + 24, 20e6);
  network.loop().run_until(kStart);
  modem.restart();
  const std::uint64_t before = answered();
  network.run_for(Duration::seconds(8));
  const double bits = static_cast<double>(answered() - before) * 122 * 8 / 8;
  std::printf("  answers: %.1f kbit/s; all that leaves: %.1f kbit/s\n", bits / 1e3,
              static_cast<double>(modem.octets()) / 1e3);
  EXPECT_LE(bits, kRate / 100 * 1.05);
  EXPECT_GE(bits, kRate / 100 * 0.9);
  EXPECT_GT(gateway.counted(Counter::kPingsOverBudget), 100'000U);
  EXPECT_LE(modem.most_beyond(), 2 * 1'538);
}

}  // namespace
}  // namespace satrelay::sim::link_budget_test
