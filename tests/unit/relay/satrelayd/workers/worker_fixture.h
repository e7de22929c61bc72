// Workers and their engines over ports that are rings in memory (DPDK's net_ring).
#pragma once

#include <gtest/gtest.h>
#include <rte_eth_ring.h>
#include <rte_ring.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pep/base/seeded_entropy.h"
#include "relay/dpdk/loop/clock.h"
#include "relay/gateway/flows/table/memory_plan.h"
#include "relay/satrelayd/workers/worker.h"
#include "tests/support/gateway_config.h"
#include "tests/unit/relay/dpdk/device/packet_fixture.h"

namespace satrelay::satrelayd {

class WorkerTest : public dpdk::PacketTest {
 protected:
  static rte_ring* ring(const std::string& name) {
    return rte_ring_create(name.c_str(), 256, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
  }
  static std::unique_ptr<dpdk::Port> port(const std::string& name, rte_ring* in, rte_ring* out) {
    EXPECT_GE(rte_eth_from_rings(name.c_str(), &in, 1, &out, 1, 0), 0);
    config::Port config;
    config.driver = config::Driver::kPci;
    config.pci = "net_ring_" + name;
    config.mtu = 1500;
    return std::make_unique<dpdk::Port>(name, config, pool());
  }
  static config::Gateway gateway(std::size_t peers = 1) {
    config::Gateway config = test::gateway_config(
        {.subnet = "192.0.2.0/24", .rate = BitRate::bits_per_second(10'000'000)}, {});
    for (std::size_t i = 0; i < peers; ++i) {
      config.peers.push_back(test::peer_config("far-" + std::to_string(i),
                                               "192.0.2." + std::to_string(i + 2),
                                               {"203.0." + std::to_string(i) + ".0/24"}));
    }
    config.limits.flows = 16;
    return config;
  }

  // An engine with its memory and entropy.
  struct Engine {
    Engine(const config::Gateway& config, gateway::Share share, Instant start,
           std::uint8_t number = 1) {
      gateway::Identity identity;
      identity.boot_epoch = number;
      identity.wan_mac = {{0x02, 0, 0, 0, 0xff, number}};
      identity.entropy = &entropy;
      identity.share = share;
      memory.resize(gateway::plan_memory(config, share).arena.value());
      engine.emplace(config, identity, memory, start);
    }
    SeededEntropy entropy{1};
    std::vector<std::byte> memory;
    std::optional<gateway::Gateway> engine;
  };
};

}  // namespace satrelay::satrelayd
