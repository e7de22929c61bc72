#include "relay/gateway/steering/lane_ports.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>

#include "config/model/schema.h"
#include "relay/gateway/steering/lane_addresses.h"
#include "tests/support/gateway_config.h"

namespace satrelay::gateway::lane_ports_test {
namespace {

constexpr std::array<unsigned, 5> kCounts{1, 2, 4, 8, 16};
constexpr std::array<std::uint16_t, 7> kFirstPorts{1, 15, 31, 7878, 9000, 32'767, 65'520};

IpAddress random_address(std::mt19937& random, IpVersion version) {
  std::array<std::uint8_t, 16> o{};
  for (auto& octet : o) octet = static_cast<std::uint8_t>(random());
  return version == IpVersion::kV6 ? IpAddress::v6(o) : IpAddress::v4({o[0], o[1], o[2], o[3]});
}

std::uint32_t hash_of(const IpAddress& from, const IpAddress& to, const LanePorts& ports) {
  return flow_hash(from, to, ports.source, ports.destination);
}

config::Gateway gateway(const IpAddress& own, unsigned workers, const IpAddress& peer,
                        unsigned peer_workers) {
  config::Gateway config = test::gateway_config({}, {test::peer_config("p", peer)});
  config.gateway.own = own;
  config.worker.count = workers;
  config.peers.back().workers = peer_workers;
  return config;
}

// For all numbers of workers: the hash of a packet names the worker that has its lane at the other
// end, and both ends use the same ports.
TEST(LanePorts, PacketsOfALaneHashToItsWorkerAtBothEnds) {
  std::mt19937 random(1);
  for (const IpVersion version : {IpVersion::kV4, IpVersion::kV6}) {
    for (int i = 0; i < 20; ++i) {
      const IpAddress a = random_address(random, version), b = random_address(random, version);
      for (const unsigned here : kCounts) {
        for (const unsigned there : kCounts) {
          for (unsigned worker = 0; worker < here; ++worker) {
            const LaneAddresses lanes(gateway(a, here, b, there),
                                      {.worker = worker, .workers = here});
            for (const LaneId id : lanes.ids()) {
              const LaneAddress& lane = lanes[id];
              const unsigned far = lane.number & (there - 1);
              const LaneAddresses far_lanes(gateway(b, there, a, here),
                                            {.worker = far, .workers = there});
              const auto far_session = far_lanes.find(FarGatewayId(), lane.number);
              ASSERT_TRUE(far_session);
              EXPECT_EQ(far_lanes[*far_session], lane);
              EXPECT_EQ(hash_of(a, b, lane.ports) & (there - 1), far);
              EXPECT_EQ(hash_of(b, a, lane.ports) & (here - 1), worker);
            }
          }
        }
      }
    }
  }
}

TEST(LanePorts, TheDestinationCountsAndTheSourceIsInTheSameBlock) {
  std::mt19937 random(2);
  for (const std::uint16_t first : kFirstPorts) {
    for (int i = 0; i < 50; ++i) {
      const IpVersion version = i % 2 == 0 ? IpVersion::kV4 : IpVersion::kV6;
      const IpAddress a = random_address(random, version), b = random_address(random, version);
      for (const unsigned count : kCounts) {
        for (unsigned lane = 0; lane < count; ++lane) {
          const LanePorts ports = lane_ports(first, lane, count, a, b);
          EXPECT_EQ(ports.destination, first + lane);
          EXPECT_EQ(ports.source / kLanePortBlock, ports.destination / kLanePortBlock);
          EXPECT_NE(ports.source, 0);
          EXPECT_EQ(hash_of(a, b, ports) & (count - 1), lane) << "first port " << first;
        }
      }
    }
  }
}

TEST(LanePorts, OneLaneHasTheConfiguredPortOnly) {
  std::mt19937 random(3);
  for (int i = 0; i < 100; ++i) {
    const IpAddress a = random_address(random, IpVersion::kV4);
    const IpAddress b = random_address(random, IpVersion::kV4);
    EXPECT_EQ(lane_ports(7878, 0, 1, a, b), (LanePorts{7878, 7878}));
  }
}

// The documents name this range.
TEST(LanePorts, OfTheDefaultPortAreOneBlock) {
  for (unsigned lane = 0; lane < config::kMostWorkers; ++lane) {
    EXPECT_EQ((config::Stp{}.port + lane) / kLanePortBlock, 7872 / kLanePortBlock);
  }
}

}  // namespace
}  // namespace satrelay::gateway::lane_ports_test
