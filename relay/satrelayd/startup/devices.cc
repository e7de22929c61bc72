#include "relay/satrelayd/startup/devices.h"

#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>
#include <string>

#include "config/checks/machine_memory.h"
#include "relay/dpdk/loop/clock.h"
#include "relay/dpdk/loop/scheduling.h"
#include "relay/dpdk/loop/stop_signal.h"
#include "relay/gateway/gateway.h"
#include "relay/machine/cpu_topology.h"
#include "relay/machine/placement.h"
#include "relay/ops/log/log.h"
#include "relay/satrelayd/workers/handover.h"

namespace satrelay::satrelayd {
namespace {

// The number of packets in the pool. Each worker needs packets for the receive and send rings of
// two ports, for bursts, and for frames that it is building. If there are several workers, packets
// are also needed for the rings between the workers.
std::size_t packets_of(const config::Gateway& config) {
  constexpr std::size_t kOfOne = 16384 + gateway::Gateway::kMostHeldFrames;
  const std::size_t workers = config.worker.count;
  return workers * kOfOne + (workers > 1 ? workers * Handover::kRoom : 0);
}

std::uint16_t mtu_of(const config::Gateway& config) {
  return std::max(config.lan.mtu, config.wan.mtu);
}

std::size_t packet_memory(const config::Gateway& config) {
  return dpdk::PacketPool::memory_for(packets_of(config), mtu_of(config));
}

// Returns `cpus` without the workers' CPUs, for threads that must not take time from a worker.
std::vector<unsigned> without(std::vector<unsigned> cpus, const std::vector<unsigned>& of_workers) {
  std::erase_if(
      cpus, [&](unsigned cpu) { return std::ranges::find(of_workers, cpu) != of_workers.end(); });
  return cpus;
}

void tell_of(const dpdk::Port& port, unsigned workers) {
  if (port.queues() != workers) {
    ops::log_warning("port " + port.name() + ": the device has one queue for " +
                     std::to_string(workers) +
                     " workers: the first worker receives and sends for all");
  }
  ops::log_info(port.description() + ", MTU " + std::to_string(port.mtu()) + ", " +
                port.mac().to_string());
  for (const std::string& change : port.changes()) ops::log_info(change);
  for (const std::string& notice : port.notices()) ops::log_warning(notice);
}

void warn_of_placement(const config::Worker& worker, std::span<const dpdk::Port* const> ports) {
  std::vector<machine::PortPlace> places;
  for (const dpdk::Port* port : ports) {
    places.push_back({.name = port->name(),
                      .node = port->numa_node(),
                      .missing_offloads = port->missing_offloads()});
  }
  for (const std::string& advice : machine::advise(worker, places, machine::read_cpu_topology())) {
    ops::log_warning(advice);
  }
}

// Called repeatedly while the start-up touches memory, which takes long. Throws if the operator
// stops the gateway, or if the machine has too little free memory for the part that is left.
void watch_memory(const dpdk::LargeMemory::Progress& progress) {
  if (dpdk::StopSignal::requested()) throw StoppedAtStart();
  if (progress.is_reserved) return;
  const std::string excess =
      config::exceeds_available(ByteCount(progress.left), config::machine_memory());
  if (excess.empty()) return;
  throw std::runtime_error(std::to_string(progress.left >> 20) + " MiB more for stored bytes are " +
                           excess);
}

// Logs the state of the ports, and returns the present time. Call this before the memory is
// touched, since that takes long.
Instant tell_of(const dpdk::Port& lan, const dpdk::Port& wan, const config::Worker& worker) {
  for (const dpdk::Port* port : {&lan, &wan}) tell_of(*port, worker.count);
  warn_of_placement(worker, std::array<const dpdk::Port*, 2>{&lan, &wan});
  return dpdk::now();
}

dpdk::PacketPool make_pool(const config::Gateway& config, const dpdk::Eal& eal) {
  if (!eal.uses_hugepages()) ops::log_info("no hugepages: running on normal pages");
  return {"packets", packets_of(config), mtu_of(config)};
}

}  // namespace

machine::StartMemory memory_of(const config::Gateway& config) {
  return machine::start_memory(config, ByteCount(packet_memory(config)));
}

Devices::Devices(const config::Gateway& config)
    : other_cpus(without(dpdk::own_cpus(), config.worker.cpus)),
      eal({.program = "satrelayd",
           .file_prefix = config.stats_socket_prefix,
           .cpu = config.worker.cpu_of(0),
           .memory = packet_memory(config),
           .ports = {config.lan, config.wan},
           .verbose = config.log_level == config::LogLevel::kDebug}),
      pool(make_pool(config, eal)),
      lan("lan", config.lan, pool, {.queues = config.worker.count}),
      wan("wan", config.wan, pool, {.queues = config.worker.count}),
      touching(tell_of(lan, wan, config.worker)),
      memory(machine::arena_of(config).value(), watch_memory) {
  ops::log_info("memory for stored bytes: " + std::to_string(memory.bytes().size() >> 20) +
                " MiB on " + std::string(memory.backing()) + ", touched in " +
                std::to_string((dpdk::now() - touching).to_milliseconds()) + " ms");
}

}  // namespace satrelay::satrelayd
