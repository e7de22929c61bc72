// Every file in config/samples loads and has the values that its comments promise.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "config/readers/loader.h"

namespace satrelay::config::samples_test {
namespace {

const std::filesystem::path kSamples = SATRELAY_SAMPLES;

// The samples name a file of keys that does not exist here. The test puts a file of its own in its
// place.
Gateway load_sample(const std::filesystem::path& file) {
  const std::filesystem::path psk =
      std::filesystem::temp_directory_path() / ("satrelay-samples-" + std::to_string(::getpid()));
  std::ofstream(psk) << std::string(64, '7');
  std::filesystem::permissions(psk, std::filesystem::perms::owner_read);
  std::ifstream in(file);
  std::string text(std::istreambuf_iterator<char>(in), {});
  constexpr std::string_view kFile = "/etc/satrelay/psk";
  if (const std::size_t at = text.find(kFile); at != std::string::npos) {
    text.replace(at, kFile.size(), psk.string());
  }
  Gateway gateway = parse_gateway(text, file.string());
  std::filesystem::remove(psk);
  return gateway;
}

TEST(Samples, AllLoad) {
  int gateways = 0;
  int links = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kSamples)) {
    const std::string name = entry.path().filename().string();
    SCOPED_TRACE(name);
    if (name.starts_with("link")) {
      EXPECT_NO_THROW(load_sat_link(entry.path()));
      ++links;
    } else {
      EXPECT_NO_THROW(load_sample(entry.path()));
      ++gateways;
    }
  }
  EXPECT_GE(gateways, 7);
  EXPECT_GE(links, 2);
}

TEST(Samples, UnknownCapacityIsFoundUpToACeiling) {
  const Link link = load_sample(kSamples / "unknown-capacity.yaml").links.at(0);
  EXPECT_TRUE(link.finds_capacity());
  EXPECT_EQ(link.send_rate, BitRate::bits_per_second(100'000'000));
}

TEST(Samples, TeleportAndRemoteAreTwoEndsOfOneLink) {
  const Gateway teleport = load_sample(kSamples / "teleport.yaml");
  const Gateway remote = load_sample(kSamples / "remote.yaml");
  EXPECT_EQ(teleport.gateway.own, remote.peers.at(0).address);
  EXPECT_EQ(remote.gateway.own, teleport.peers.at(0).address);
  EXPECT_EQ(teleport.links.at(0).send_rate, remote.links.at(0).receive_rate);
  EXPECT_EQ(teleport.links.at(0).receive_rate, remote.links.at(0).send_rate);
  EXPECT_EQ(teleport.lan.driver, Driver::kPci);
  EXPECT_EQ(teleport.lan.pci, "0000:01:00.0");
  EXPECT_EQ(teleport.peers[0].prefixes.size(), 2U);
  EXPECT_EQ(teleport.rules.at(0).action, Action::kBridge);
  EXPECT_EQ(teleport.rules.at(1).traffic_class, "voice");
  EXPECT_EQ(teleport.rules.at(2).compress, Compress::kOff);
  EXPECT_EQ(teleport.limits.memory, ByteCount(1ULL << 30));
  EXPECT_EQ(teleport.worker.polling, Polling::kBusy);
  EXPECT_EQ(teleport.worker.cpus, std::vector<unsigned>{2});
  EXPECT_EQ(remote.lan.driver, Driver::kAfXdp);
  EXPECT_TRUE(teleport.peers[0].security.keys);
  EXPECT_TRUE(remote.peers[0].security.keys);
}

TEST(Samples, LabGatewaysAreTwoEndsOfOneLink) {
  const Gateway a = load_sample(kSamples / "gateway-a.yaml");
  const Gateway b = load_sample(kSamples / "gateway-b.yaml");
  EXPECT_EQ(a.gateway.own, b.peers.at(0).address);
  EXPECT_EQ(b.gateway.own, a.peers.at(0).address);
  EXPECT_NE(a.stats_socket_prefix, b.stats_socket_prefix);
}

TEST(Samples, VlanAndNextHop) {
  const Gateway config = load_sample(kSamples / "vlan-next-hop.yaml");
  EXPECT_EQ(config.gateway.vlan, 100);
  EXPECT_EQ(config.gateway.next_hop, IpAddress::parse("192.0.2.9"));
  EXPECT_EQ(config.gateway.address.to_string(), "192.0.2.8/29");
  EXPECT_EQ(config.peers.size(), 2U);
  EXPECT_EQ(config.peers[0].links, config.peers[1].links);
  EXPECT_EQ(config.links.at(0).overhead, kOverheadIp);
  const Match& match = config.rules.at(0).match;
  ASSERT_EQ(match.port.size(), 2U);
  EXPECT_EQ(match.port[0].first, 25);
  EXPECT_EQ(match.port[0].last, 25);
  EXPECT_EQ(match.port[1].first, 8000);
  EXPECT_EQ(match.port[1].last, 8080);
  EXPECT_EQ(config.stp.port, 7900);
  EXPECT_EQ(config.stp.mtu, 1400);
  EXPECT_EQ(config.stp.ping_after, Duration::milliseconds(500));
  EXPECT_EQ(config.stp.suspect_after, Duration::seconds(2));
  EXPECT_EQ(config.stp.feedback.mode, FeedbackMode::kMNack);
  EXPECT_EQ(config.stp.fec, Fec::kOff);
  EXPECT_EQ(config.stp.feedback.budget, BitRate::bits_per_second(20'000));
  EXPECT_EQ(config.limits.idle_timeout, Duration::seconds(3 * 3600));
  EXPECT_EQ(config.limits.half_close_timeout, Duration::seconds(120));
  EXPECT_EQ(config.compress_level, 3);
}

TEST(Samples, Memif) {
  const Gateway config = load_sample(kSamples / "memif.yaml");
  EXPECT_EQ(config.wan.driver, Driver::kMemif);
  EXPECT_EQ(config.wan.socket, "/run/satrelay-wan.sock");
  EXPECT_FALSE(config.wan.memif_server);
  EXPECT_FALSE(config.gateway.own.is_v4());
}

TEST(Samples, LinkFaults) {
  const SatLink config = load_sat_link(kSamples / "link-faults.yaml");
  EXPECT_EQ(config.a_to_b.rate, BitRate::bits_per_second(50'000'000));
  EXPECT_EQ(config.a_to_b.delay, Duration::milliseconds(275));
  EXPECT_EQ(config.a_to_b.queue, ByteCount(625'000));
  EXPECT_EQ(config.a_to_b.jitter, Duration::milliseconds(5));
  ASSERT_TRUE(config.a_to_b.gilbert_elliott.has_value());
  EXPECT_DOUBLE_EQ(config.a_to_b.gilbert_elliott->good_to_bad, 0.0005);
  EXPECT_DOUBLE_EQ(config.a_to_b.gilbert_elliott->loss_bad, 0.8);
  EXPECT_DOUBLE_EQ(config.b_to_a.loss, 0.005);
  EXPECT_DOUBLE_EQ(config.b_to_a.reorder, 0.001);
  EXPECT_EQ(config.b_to_a.reorder_by, Duration::milliseconds(10));
  EXPECT_DOUBLE_EQ(config.b_to_a.duplicate, 0.001);
  EXPECT_DOUBLE_EQ(config.b_to_a.corrupt, 0.0001);
  EXPECT_EQ(config.overhead, 24U);
  EXPECT_EQ(config.seed, 7U);
  EXPECT_EQ(config.log_level, LogLevel::kDebug);
}

TEST(Samples, LinkOfALowOrbit) {
  const SatLink config = load_sat_link(kSamples / "link-low-orbit.yaml");
  EXPECT_EQ(config.a_to_b.discipline, QueueDiscipline::kPriority);
  ASSERT_GT(config.a_to_b.delay_steps.size(), 5U);
  EXPECT_EQ(config.a_to_b.delay_steps[5].at, Duration::seconds(90));
  EXPECT_EQ(config.a_to_b.delay_steps[5].delay, Duration::milliseconds(30));
  EXPECT_EQ(config.a_to_b.outages.size(), config.a_to_b.delay_steps.size());
  EXPECT_TRUE(config.a_to_b.rate_steps.empty());
  ASSERT_EQ(config.b_to_a.rate_steps.size(), 2U);
  EXPECT_DOUBLE_EQ(config.b_to_a.loss_steps.at(0).loss, 0.005);
}

TEST(Samples, LinkInBothDirections) {
  const SatLink config = load_sat_link(kSamples / "link.yaml");
  EXPECT_EQ(config.a_to_b.delay, config.b_to_a.delay);
  EXPECT_DOUBLE_EQ(config.a_to_b.loss, 0.01);
  EXPECT_DOUBLE_EQ(config.b_to_a.loss, 0.01);
  EXPECT_EQ(config.control_socket, "/run/satlink.sock");
}

}  // namespace
}  // namespace satrelay::config::samples_test
