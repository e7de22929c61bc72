// Bridged traffic without a class shares the link with relayed traffic. The shares are those of a
// plain bridge that serves hosts and flows alike. Traffic of low rate waits for no other.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "pep/base/bytes.h"
#include "pep/wire/ethernet.h"
#include "relay/sim/network/network.h"
#include "relay/sim/scenarios/plans.h"
#include "relay/sim/scenarios/scenario.h"
#include "tests/sim/sharing/udp_traffic.h"
#include "tests/sim/sharing/windowed_udp.h"

namespace satrelay::sim::fair_bridge_test {
namespace {

constexpr Instant kStart = Instant::from_nanoseconds(8'000'000'000);
constexpr Duration kOneWay = Duration::milliseconds(300);

constexpr BitRate kbit(std::uint64_t n) { return BitRate::bits_per_second(n * 1'000); }

Scenario lab(BitRate rate, std::size_t hosts) {
  Scenario scenario = make_lab(61, {.rate = rate, .one_way_delay = kOneWay}, hosts);
  // As the modem's queue in the requirement: one second.
  for (config::LinkDirection* way : {&scenario.a_to_b, &scenario.b_to_a}) {
    way->queue = rate.bytes_in(Duration::seconds(1));
  }
  return scenario;
}

void add_downloads(Scenario& scenario, std::size_t count, std::size_t first_host,
                   std::size_t hosts) {
  for (std::size_t i = 0; i < count; ++i) {
    FlowSpec& flow = add_flow(scenario, Side::kA, sender(1U << 30U), receiver());
    flow.client_host = flow.server_host = first_host + i % hosts;
  }
}

struct Heard {
  double lost_percent = 0;
  Duration p99;
  double mbit = 0;  // Rate of the calls, as the link counts frames.
};

// Ten calls of G.729, each 50 packets of 60 octets a second. Each call begins 2 ms after the one
// before, so their packets are spread over the interval of 20 ms.
class Calls {
 public:
  static constexpr std::size_t kCount = 10;
  Calls(UdpTraffic& traffic, std::size_t first_host, std::size_t hosts, Duration length) {
    for (std::size_t i = 0; i < kCount; ++i) {
      results_.push_back(
          &traffic.add({.host = first_host + i % hosts,
                        .bits_per_second = UdpTraffic::frame_bits(60) * 50,
                        .ip_bytes = 60,
                        .port = static_cast<std::uint16_t>(20'000 + 2 * i),
                        .start = kStart + Duration::milliseconds(2) * std::int64_t(i),
                        .length = length}));
    }
  }
  Heard heard() const {
    Heard heard;
    std::vector<Duration> waits;
    double sent = 0;
    for (const UdpResult* result : results_) {
      sent += static_cast<double>(result->sent);
      waits.insert(waits.end(), result->waits.begin(), result->waits.end());
    }
    std::ranges::sort(waits);
    heard.lost_percent = 100 * (1 - static_cast<double>(waits.size()) / sent);
    if (!waits.empty()) heard.p99 = waits[waits.size() * 99 / 100];
    return heard;
  }

 private:
  std::vector<const UdpResult*> results_;
};

Heard ten_calls_beside(Scenario scenario, std::size_t call_host, std::size_t call_hosts,
                       const char* what) {
  Tracer tracer;
  Network network(scenario, tracer);
  UdpTraffic traffic(network, kOneWay);
  const Duration length = Duration::seconds(20);
  const Calls calls(traffic, call_host, call_hosts, length);
  network.loop().run_until(kStart + length + Duration::seconds(10));
  const Heard heard = calls.heard();
  std::printf("  ten calls beside %s: %.2f%% lost, p99 %.1f ms\n", what, heard.lost_percent,
              heard.p99.to_seconds() * 1e3);
  return heard;
}

void expect_speech(const Heard& heard) {
  EXPECT_LT(heard.lost_percent, 0.1);
  EXPECT_LE(heard.p99, Duration::milliseconds(30));
}

TEST(FairBridge, CallsBesideADownloadOfTheirHostAreInTime) {
  Scenario scenario = lab(kbit(1'000), 1);
  add_downloads(scenario, 1, 0, 1);
  expect_speech(ten_calls_beside(scenario, 0, 1, "a download of their host"));
}

TEST(FairBridge, CallsBesideADownloadOfAnotherHostAreInTime) {
  Scenario scenario = lab(kbit(1'000), 2);
  add_downloads(scenario, 1, 0, 1);
  expect_speech(ten_calls_beside(scenario, 1, 1, "a download of another host"));
}

TEST(FairBridge, CallsBesideTwentyDownloadsOfTheirHostAreInTime) {
  Scenario scenario = lab(kbit(1'000), 1);
  add_downloads(scenario, 20, 0, 1);
  expect_speech(ten_calls_beside(scenario, 0, 1, "20 downloads of their host"));
}

TEST(FairBridge, CallsBesideTwentyDownloadsOfAnotherHostAreInTime) {
  Scenario scenario = lab(kbit(1'000), 2);
  add_downloads(scenario, 20, 0, 1);
  expect_speech(ten_calls_beside(scenario, 1, 1, "20 downloads of another host"));
}

// There are thirty hosts, and each sends less than a thirtieth of the link.
TEST(FairBridge, CallsOfTenHostsBesideDownloadsOfTwentyAreInTime) {
  Scenario scenario = lab(kbit(1'500), 30);
  add_downloads(scenario, 20, 0, 20);
  expect_speech(ten_calls_beside(scenario, 20, 10, "downloads of 20 other hosts, 1.5 Mbit/s"));
}

Duration windowed_download(bool with_gateways, const WindowedUdp::Plan& plan) {
  Scenario scenario = lab(kbit(20'000), 1);
  scenario.gateways_present = with_gateways;
  Tracer tracer;
  Network network(scenario, tracer);
  const WindowedUdp download(network, plan);
  for (int i = 0; i < 90 && !download.done(); ++i) network.run_for(Duration::seconds(1));
  EXPECT_TRUE(download.done());
  std::printf("  %s gateways: %.2f s, %llu packets for %llu\n", with_gateways ? "with" : "without",
              download.time().to_seconds(), static_cast<unsigned long long>(download.sent()),
              static_cast<unsigned long long>(download.delivered()));
  return download.time();
}

void expect_no_slower(const WindowedUdp::Plan& plan, double tolerance = 0.01) {
  const Duration without = windowed_download(false, plan);
  EXPECT_LE(windowed_download(true, plan).to_seconds(), without.to_seconds() * (1 + tolerance));
}

TEST(FairBridge, ADownloadOverUdpIsNoSlowerThanWithoutGateways) {
  for (const std::uint64_t packets : {3'000, 7'000, 10'000, 14'000, 20'000, 28'000, 50'000}) {
    expect_no_slower({.packets = packets, .start = kStart});
  }
}

// The windows are up to three times what the idle link holds in flight. So a queue stands until
// CoDel's law drops a packet now and then. If it drops one of the last packets, that costs a round
// trip.
TEST(FairBridge, ADownloadWhoseWindowTheReceiverLimitsLosesARoundTripAtMost) {
  for (const std::size_t window : {1'000, 1'500, 2'400, 3'600}) {
    expect_no_slower({.packets = 28'000, .start = kStart, .most_window = window}, 0.03);
  }
}

// A station writes a new source address into each frame. Relayed connections keep an eighth, and so
// do the other bridged hosts.
TEST(FairBridge, AFloodOfForgedSourcesLeavesOthersAnEighth) {
  Scenario scenario = lab(kbit(10'000), 2);
  add_downloads(scenario, 1, 0, 1);
  Tracer tracer;
  Network network(scenario, tracer);
  UdpTraffic traffic(network, kOneWay);
  const Duration length = Duration::seconds(12);
  const UdpResult& bulk =
      traffic.add({.host = 1, .bits_per_second = 20e6, .start = kStart, .length = length});
  std::vector<std::byte> forged = traffic.frame_of(0);
  std::uint32_t source = 0;
  const Duration interval = Duration::microseconds(600);  // For frames of 1,500 octets: 20 Mbit/s.
  for (Instant when = kStart; when < kStart + length; when = when + interval) {
    network.loop().at(when, [&] {
      store_u32(&forged[wire::kEthernetHeaderSize + 12], 0xC6330000U + ++source % 60'000);
      network.host(Side::kA, 1).send_raw(forged);
    });
  }
  network.loop().run_until(kStart + Duration::seconds(4));
  const std::uint64_t bulk_before = bulk.received;
  const std::uint64_t relayed_before = network.flow(0).server.received;
  network.run_for(Duration::seconds(8));
  const double relayed =
      static_cast<double>(network.flow(0).server.received - relayed_before) / 1e6;
  const double bridged =
      static_cast<double>(bulk.received - bulk_before) * UdpTraffic::frame_bits(1'500) / 8e6;
  std::printf("  beside forged sources: relayed %.2f, bridged %.2f Mbit/s\n", relayed, bridged);
  EXPECT_GE(relayed, 10 / 8.0 * 0.9);
  EXPECT_GE(bridged, 10 * 7 / 8.0 / 8 * 0.9);
}

// A bulk flow and a call of the same host, beside downloads of eight other hosts.
TEST(FairBridge, ACallBesideAFloodOfItsOwnHostIsInTime) {
  Scenario scenario = lab(kbit(10'000), 9);
  add_downloads(scenario, 8, 0, 8);
  Tracer tracer;
  Network network(scenario, tracer);
  UdpTraffic traffic(network, kOneWay);
  const Duration length = Duration::seconds(15);
  traffic.add({.host = 8, .bits_per_second = 20e6, .start = kStart, .length = length});
  const UdpResult& call = traffic.add({.host = 8,
                                       .bits_per_second = UdpTraffic::frame_bits(60) * 50,
                                       .ip_bytes = 60,
                                       .port = 6'000,
                                       .start = kStart,
                                       .length = length});
  network.loop().run_until(kStart + length + Duration::seconds(5));
  std::printf("  a call beside its host's flood: waits up to %.1f ms\n",
              call.longest_wait.to_seconds() * 1e3);
  EXPECT_EQ(call.sent, call.received);
  EXPECT_LE(call.longest_wait, Duration::milliseconds(30));
}

// Two bridged hosts and two relayed ones get equal octets, whatever the size of their frames.
TEST(FairBridge, HostsShareAlikeWhateverTheyAndTheirFramesAre) {
  for (const std::size_t ip_bytes : {std::size_t{60}, std::size_t{300}, std::size_t{1'500}}) {
    Scenario scenario = lab(kbit(10'000), 4);
    add_downloads(scenario, 2, 0, 2);
    Tracer tracer;
    Network network(scenario, tracer);
    UdpTraffic traffic(network, kOneWay);
    const Duration length = Duration::seconds(20);
    const UdpResult& small = traffic.add({.host = 2,
                                          .bits_per_second = 20e6,
                                          .ip_bytes = ip_bytes,
                                          .start = kStart,
                                          .length = length});
    const UdpResult& large = traffic.add(
        {.host = 3, .bits_per_second = 20e6, .port = 6'000, .start = kStart, .length = length});
    network.loop().run_until(kStart + Duration::seconds(5));
    const std::uint64_t small_before = small.received, large_before = large.received;
    const std::uint64_t relayed_before = network.flow(0).server.received;
    network.run_for(Duration::seconds(15));
    const double of_small = static_cast<double>(small.received - small_before) *
                            UdpTraffic::frame_bits(ip_bytes) / 15e6;
    const double of_large =
        static_cast<double>(large.received - large_before) * UdpTraffic::frame_bits(1'500) / 15e6;
    const double relayed = static_cast<double>(network.flow(0).server.received - relayed_before) *
                           8 / 15e6 / (1'450.0 / 1'538);
    std::printf("  %zu octets: %.2f, 1500 octets: %.2f, relayed: %.2f Mbit/s\n", ip_bytes, of_small,
                of_large, relayed);
    EXPECT_NEAR(of_small, 2.49, 2.49 * 0.03);
    EXPECT_NEAR(of_large, 2.49, 2.49 * 0.03);
    EXPECT_NEAR(relayed, 2.49, 2.49 * 0.03);
  }
}

// On this link a single packet takes longer than bridged_queue, so the target delay follows the
// link. The call begins after the others have shared the link for a while. A call that began with
// them would wait for the first packets of each.
TEST(FairBridge, ASlowLinkIsFilledAndACallIsInTimeOnIt) {
  Scenario scenario = lab(kbit(128), 3);
  add_downloads(scenario, 1, 0, 1);
  Tracer tracer;
  Network network(scenario, tracer);
  UdpTraffic traffic(network, kOneWay);
  const Duration length = Duration::seconds(60);
  const UdpResult& call = traffic.add({.host = 1,
                                       .bits_per_second = UdpTraffic::frame_bits(60) * 50,
                                       .ip_bytes = 60,
                                       .port = 6'000,
                                       .start = kStart + Duration::seconds(5),
                                       .length = length - Duration::seconds(5)});
  const UdpResult& bulk =
      traffic.add({.host = 2, .bits_per_second = 256e3, .start = kStart, .length = length});
  network.loop().run_until(kStart + Duration::seconds(20));
  const std::uint64_t bulk_before = bulk.received;
  const std::uint64_t relayed_before = network.flow(0).server.received;
  network.run_for(Duration::seconds(40));
  const double of_bulk =
      static_cast<double>(bulk.received - bulk_before) * UdpTraffic::frame_bits(1'500) / 40e3;
  const double relayed = static_cast<double>(network.flow(0).server.received - relayed_before) * 8 /
                         40e3 / (1'450.0 / 1'538);
  std::printf("  128 kbit/s: call waits up to %.1f ms, bulk %.1f, relayed %.1f kbit/s\n",
              call.longest_wait.to_seconds() * 1e3, of_bulk, relayed);
  network.run_for(Duration::seconds(5));
  EXPECT_LE(call.lost_percent(), 0.1);
  // The transmission time of two long packets.
  EXPECT_LE(call.longest_wait, Duration::milliseconds(2 * 97));
  EXPECT_NEAR(of_bulk, relayed, 5);
}

}  // namespace
}  // namespace satrelay::sim::fair_bridge_test
