// satrelayd: the gateway at an earth station.
#include <sys/random.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <iostream>
#include <string>

#include "config/loader.h"
#include "relay/dpdk/clock.h"
#include "relay/dpdk/eal.h"
#include "relay/dpdk/memory.h"
#include "relay/dpdk/packet_pool.h"
#include "relay/dpdk/poll_loop.h"
#include "relay/dpdk/port.h"
#include "relay/dpdk/stop_signal.h"
#include "relay/gateway/gateway.h"
#include "relay/gateway/memory_plan.h"
#include "relay/ops/log.h"
#include "relay/satrelayd/worker.h"

namespace {

using namespace satrelay;

constexpr std::size_t kPackets = 8192;  // device rings, bursts and frames being built

gateway::Identity make_identity(const MacAddress& wan_mac) {
  gateway::Identity identity;
  std::timespec wall{};
  std::timespec_get(&wall, TIME_UTC);
  identity.boot_epoch = static_cast<std::uint64_t>(wall.tv_sec) * 1'000'000'000U +
                        static_cast<std::uint64_t>(wall.tv_nsec);
  if (getrandom(identity.secret, sizeof identity.secret, 0) != sizeof identity.secret) {
    throw std::runtime_error("the kernel gives no random numbers");
  }
  identity.wan_mac = wan_mac;
  return identity;
}

int run(const config::Gateway& config) {
  dpdk::StopSignal::install();
  const std::uint16_t mtu = std::max(config.lan.mtu, config.wan.mtu);
  const dpdk::Eal eal({.program = "satrelayd",
                       .file_prefix = config.stats_socket_prefix,
                       .cpu = config.worker.cpu,
                       .memory = dpdk::PacketPool::memory_for(kPackets, mtu),
                       .ports = {config.lan, config.wan}});
  dpdk::PacketPool pool("packets", kPackets, mtu);
  dpdk::Port lan("lan", config.lan, pool);
  dpdk::Port wan("wan", config.wan, pool);
  for (const dpdk::Port* port : {&lan, &wan}) {
    ops::log(ops::Level::kInfo, port->description());
    for (const std::string& notice : port->notices()) ops::log(ops::Level::kWarning, notice);
  }
  const auto plan = gateway::plan_memory(config);
  dpdk::LargeMemory memory(plan.arena.value());
  gateway::Gateway gateway(config, make_identity(wan.mac()), memory.bytes(), dpdk::now());
  Worker worker(gateway, lan, wan, pool);
  dpdk::Port* const ports[] = {&lan, &wan};
  dpdk::PollLoop loop(config.worker.polling, ports);
  ops::log(ops::Level::kInfo, "ready");
  loop.run([&](Instant now) { return worker.round(now); });
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  return 0;
}
