// How much more two workers of a gateway carry than one. Two gateways run in one process, with as
// many workers each as there are threads. Their ports have queues that are rings in memory (DPDK's
// net_ring). Each thread runs one worker of either gateway, and hosts of its own, so the hosts'
// cost is in all figures. Time is real: a thread does as much as its core allows.
//
// The program runs itself anew for each run, since DPDK starts once a process. The runs have one
// worker, two workers, and two processes of one worker each at the same time, which share only the
// machine.
#include <pthread.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_ring.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "pep/base/seeded_entropy.h"
#include "relay/dpdk/device/eal.h"
#include "relay/dpdk/device/packet_pool.h"
#include "relay/dpdk/device/port.h"
#include "relay/dpdk/loop/clock.h"
#include "relay/gateway/flows/table/memory_plan.h"
#include "relay/gateway/gateway.h"
#include "relay/gateway/steering/flow_hash.h"
#include "relay/satrelayd/commands/capture.h"
#include "relay/satrelayd/workers/engines.h"
#include "relay/satrelayd/workers/handover.h"
#include "relay/satrelayd/workers/link_sharing.h"
#include "relay/satrelayd/workers/worker.h"
#include "tests/bench/world/bulk_host.h"
#include "tests/bench/world/large_memory.h"
#include "tests/support/gateway_config.h"

namespace satrelay::bench {
namespace {

constexpr int kSkipped = 77;
constexpr std::size_t kFlowsEach = 8;
constexpr std::size_t kPackets = 65'536;
constexpr std::size_t kMemoryEach = 128U << 20;
constexpr std::uint16_t kMtu = 1500;
// Limit of one connection. Hosts retransmit nothing, so no memory may run low.
constexpr std::uint64_t kMostOnItsWay = 1U << 20;
constexpr unsigned kRingRoom = 2048;
constexpr std::size_t kBatch = 32;  // Frames that a worker takes in a round.

// The other ends of a port's queues.
struct Wires {
  std::vector<rte_ring*> in;   // Frames for the port to receive.
  std::vector<rte_ring*> out;  // Frames that the port has sent.
};

rte_ring* make_ring(const std::string& name) {
  rte_ring* const ring =
      rte_ring_create(name.c_str(), kRingRoom, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
  if (ring == nullptr) throw std::runtime_error("no memory for the ring " + name);
  return ring;
}

std::vector<rte_ring*> make_rings(const std::string& name, unsigned count) {
  std::vector<rte_ring*> rings;
  for (unsigned i = 0; i < count; ++i) rings.push_back(make_ring(name + std::to_string(i)));
  return rings;
}

// The port of one worker. At each look the driver counts in two words for each queue, and the
// queues of one device share cache lines, unlike those of a network card. So each worker has a
// device of its own, and uses only its queue of it.
std::unique_ptr<dpdk::Port> make_port(const std::string& port, unsigned worker, Wires wires,
                                      dpdk::PacketPool& pool) {
  const std::string name = port + std::to_string(worker);
  const auto queues = static_cast<unsigned>(wires.in.size());
  if (queues > 1) {
    rte_ring* const unused = make_ring("unused-" + name);
    for (unsigned i = 0; i < queues; ++i) {
      if (i != worker) wires.in[i] = wires.out[i] = unused;
    }
  }
  if (rte_eth_from_rings(name.c_str(), wires.in.data(), queues, wires.out.data(), queues, 0) < 0) {
    throw std::runtime_error("no device over rings");
  }
  config::Port config;
  config.driver = config::Driver::kPci;
  config.pci = "net_ring_" + name;
  config.mtu = kMtu;
  return std::make_unique<dpdk::Port>(name, config, pool, dpdk::Spread{.queues = queues});
}

config::Gateway config_of(bool near, unsigned workers) {
  config::Gateway config = test::gateway_config(
      {.own = near ? "192.0.2.1" : "192.0.2.2", .rate = BitRate::bits_per_second(100'000'000'000)},
      {test::peer_config("far", near ? "192.0.2.2" : "192.0.2.1",
                         {near ? "203.0.113.0/24" : "198.51.0.0/16"})});
  config.rules = {{}};
  config.worker.count = workers;
  config.limits.memory = ByteCount(kMemoryEach * workers);
  config.limits.flows = 1024;
  config.limits.half_open = 1024;
  return config;
}

// One gateway with all its workers.
class Station {
 public:
  Station(const std::string& name, bool near, unsigned workers, const Wires& lan, const Wires& wan,
          dpdk::PacketPool& pool)
      : config_(config_of(near, workers)) {
    if (workers > 1) handover_.emplace(name, workers);
    for (unsigned i = 0; i < workers; ++i) {
      gateway::Identity identity;
      identity.boot_epoch = near ? 1'000 : 2'000;
      identity.secret[0] = 1;
      identity.wan_mac = {{0x02, 0, 0, 0, 0xff, static_cast<std::uint8_t>(near ? 1 : 2)}};
      entropies_.push_back(std::make_unique<SeededEntropy>(i + 1));
      identity.entropy = entropies_.back().get();
      identity.share = {.worker = i, .workers = workers};
      const std::size_t size = gateway::plan_memory(config_, identity.share).arena.value();
      memories_.push_back(std::make_unique<LargeMemory>(size, size));
      engines_.push_back(std::make_unique<gateway::Gateway>(
          config_, identity, memories_.back()->bytes(), dpdk::now()));
      std::optional<satrelayd::Worker::Team> team;
      if (workers > 1) {
        team.emplace(satrelayd::Worker::Team{i, *handover_, gateway::Steering(config_, {1, 2})});
      }
      lans_.push_back(make_port(name + "-lan", i, lan, pool));
      wans_.push_back(make_port(name + "-wan", i, wan, pool));
      workers_.push_back(std::make_unique<satrelayd::Worker>(*engines_[i], *lans_[i], *wans_[i],
                                                             pool, tap_, std::move(team)));
    }
    std::vector<gateway::Gateway*> all;
    for (const auto& engine : engines_) all.push_back(engine.get());
    sharing_.emplace(
        config_, satrelayd::Engines(std::move(all)), [] {}, dpdk::now());
  }
  void round(unsigned worker) {
    const Instant now = dpdk::now();
    sharing_->tick(worker, now);
    workers_[worker]->round(now);
  }
  bool is_alive() const {
    return std::ranges::all_of(engines_, [](const auto& engine) {
      return engine->peers()[0].state == stp::PeerState::kAlive;
    });
  }
  // Dropped frames. A host would have to retransmit their bytes.
  std::uint64_t dropped() const {
    std::uint64_t sum = 0;
    for (const auto& engine : engines_) {
      sum += engine->counters()[gateway::Counter::kDroppedMemoryLow];
    }
    return sum;
  }

 private:
  config::Gateway config_;
  std::vector<std::unique_ptr<SeededEntropy>> entropies_;
  satrelayd::CaptureTap tap_;
  std::vector<std::unique_ptr<dpdk::Port>> lans_, wans_;  // By worker.
  std::optional<satrelayd::Handover> handover_;
  std::vector<std::unique_ptr<LargeMemory>> memories_;
  std::vector<std::unique_ptr<gateway::Gateway>> engines_;
  std::vector<std::unique_ptr<satrelayd::Worker>> workers_;
  std::optional<satrelayd::LinkSharing> sharing_;
};

// A client and a server with one connection, which belongs to the worker of that number.
struct Pair {
  static HostAddresses client(std::size_t number, unsigned worker, unsigned workers) {
    const HostAddresses server_of_all = server();
    for (std::size_t i = 0, found = 0;; ++i) {
      const IpAddress address = IpAddress::v4(
          {198, 51, static_cast<std::uint8_t>(i >> 8), static_cast<std::uint8_t>(1 + i % 200)});
      const std::uint32_t hash = gateway::flow_hash(
          address, server_of_all.address, BulkSender::kFirstPort, BulkSender::kServerPort);
      if ((hash & (workers - 1)) != worker || found++ < number) continue;
      return {{{0x02, 0, 0, 0, 0, 0x0a}}, address};
    }
  }
  static HostAddresses server() {
    return {{{0x02, 0, 0, 0, 0, 0x0b}}, IpAddress::v4({203, 0, 113, 10})};
  }

  Pair(std::size_t number, unsigned worker, unsigned workers)
      : own(client(number, worker, workers)),
        sender(own, server(), {.count = 1, .active = 1, .mtu = kMtu}),
        receiver(server(), own, {}) {}
  HostAddresses own;
  BulkSender sender;
  BulkReceiver receiver;
};

// The endless loop of one thread: its hosts, and its worker of either gateway.
class Loop {
 public:
  Loop(unsigned index, unsigned workers, Station& near, Station& far, const Wires& near_lan,
       const Wires& far_lan, dpdk::PacketPool& pool)
      : index_(index), near_(near), far_(far), near_lan_(near_lan), far_lan_(far_lan), pool_(pool) {
    for (std::size_t i = 0; i < kFlowsEach; ++i) {
      pairs_.push_back(std::make_unique<Pair>(i, index, workers));
    }
  }

  void turn(bool sends) {
    const Instant now = dpdk::now();
    // A host waits for its LAN.
    if (sends && has_room(near_lan_.in[index_])) {
      for (const auto& pair : pairs_) {
        pair->sender.connect(from_client_, 1, now);
        pair->sender.acknowledge(from_client_, now);
        if (pair->sender.payload_bytes() - pair->receiver.payload_bytes() >= kMostOnItsWay)
          continue;
        pair->sender.send(from_client_, kBatch / kFlowsEach, now);
      }
    }
    put(from_client_, near_lan_.in[index_]);
    near_.round(index_);
    far_.round(index_);
    take(near_lan_.out[index_],
         [&](ConstBytes frame) { pair_of(frame, 30).sender.handle_frame(frame); });
    if (!has_room(far_lan_.in[index_])) return;
    take(far_lan_.out[index_], [&](ConstBytes frame) {
      pair_of(frame, 26).receiver.handle_frame(frame, from_server_, now);
    });
    put(from_server_, far_lan_.in[index_]);
  }
  std::uint64_t payload() const {
    std::uint64_t sum = 0;
    for (const auto& pair : pairs_) sum += pair->receiver.payload_bytes();
    return sum;
  }

 private:
  // Finds the pair by the client's address, at offset `at` of an Ethernet frame.
  Pair& pair_of(ConstBytes frame, std::size_t at) {
    const std::uint32_t address = frame.size() < at + 4 ? 0 : load_u32(frame.data() + at);
    for (const auto& pair : pairs_) {
      const auto& o = pair->own.address.octets();
      if (load_u32(reinterpret_cast<const std::byte*>(o.data())) == address) return *pair;
    }
    return *pairs_.front();
  }
  static bool has_room(const rte_ring* ring) { return rte_ring_free_count(ring) >= 4 * kBatch; }
  void put(FrameBatch& frames, rte_ring* ring) {
    for (std::size_t i = 0; i < frames.size(); ++i) {
      dpdk::Packet packet = pool_.allocate();
      if (!packet) throw std::runtime_error("no packets are left");
      std::ranges::copy(frames[i], packet.room().begin());
      packet.set_size(frames[i].size());
      rte_mbuf* const mbuf = packet.release();
      if (rte_ring_enqueue(ring, mbuf) != 0) throw std::runtime_error("a ring is full");
    }
    frames.clear();
  }
  template <typename Hear>
  void take(rte_ring* ring, Hear hear) {
    void* packet = nullptr;
    for (std::size_t i = 0; i < 2 * kBatch && rte_ring_dequeue(ring, &packet) == 0; ++i) {
      const dpdk::Packet owned(static_cast<rte_mbuf*>(packet));
      hear(owned.bytes());
    }
  }

  unsigned index_;
  Station& near_;
  Station& far_;
  const Wires& near_lan_;
  const Wires& far_lan_;
  dpdk::PacketPool& pool_;
  std::vector<std::unique_ptr<Pair>> pairs_;
  FrameBatch from_client_{4 * kBatch, 2048};
  FrameBatch from_server_{4 * kBatch, 2048};
};

void pin(unsigned cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  ::pthread_setaffinity_np(::pthread_self(), sizeof set, &set);
}

// Gbit/s of payload, of all threads together. `first_cpu` is the CPU of the first thread.
double run_once(unsigned workers, unsigned first_cpu, double seconds) {
  dpdk::Eal eal({.program = "bench-workers",
                 .file_prefix = "bench-workers-" + std::to_string(::getpid()),
                 .cpu = {},
                 .memory = dpdk::PacketPool::memory_for(kPackets, kMtu) + (std::size_t{8} << 20),
                 .ports = {},
                 .verbose = false});
  if (!eal.uses_hugepages()) std::exit(kSkipped);
  dpdk::PacketPool pool("packets", kPackets, kMtu);
  const Wires near_lan{make_rings("near-lan-in-", workers), make_rings("near-lan-out-", workers)};
  const Wires far_lan{make_rings("far-lan-in-", workers), make_rings("far-lan-out-", workers)};
  const Wires space{make_rings("forward-", workers), make_rings("backward-", workers)};
  Station near("near", true, workers, near_lan, {space.in, space.out}, pool);
  Station far("far", false, workers, far_lan, {space.out, space.in}, pool);
  std::vector<std::unique_ptr<Loop>> loops;
  for (unsigned i = 0; i < workers; ++i) {
    loops.push_back(std::make_unique<Loop>(i, workers, near, far, near_lan, far_lan, pool));
  }
  // One thread runs all workers until they have greeted each other, so no other thread uses their
  // state meanwhile.
  const Instant give_up = dpdk::now() + Duration::seconds(10);
  while (!near.is_alive() || !far.is_alive()) {
    if (dpdk::now() > give_up) throw std::runtime_error("the gateways do not greet each other");
    for (const auto& loop : loops) loop->turn(false);
  }
  std::vector<double> rates(workers);
  std::atomic<unsigned> ready = 0;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < workers; ++i) {
    threads.emplace_back([&, i] {
      pin(first_cpu + i);
      const bool is_known = rte_thread_register() == 0;
      ready.fetch_add(1);
      while (ready.load() < workers) {
      }
      const Instant warm = dpdk::now() + Duration::seconds(1);
      while (dpdk::now() < warm) loops[i]->turn(true);
      const std::uint64_t before = loops[i]->payload();
      const Instant begin = dpdk::now();
      Instant now = begin;
      const Instant end = begin + Duration::milliseconds(static_cast<std::int64_t>(seconds * 1e3));
      while (now < end) {
        loops[i]->turn(true);
        now = dpdk::now();
      }
      rates[i] =
          static_cast<double>(loops[i]->payload() - before) * 8 / 1e9 / (now - begin).to_seconds();
      if (is_known) rte_thread_unregister();
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (near.dropped() + far.dropped() > 0) throw std::runtime_error("memory has run low");
  double sum = 0;
  for (const double rate : rates) sum += rate;
  return sum;
}

struct Child {
  pid_t id = -1;
  std::FILE* output = nullptr;
};

// Starts this program again, for one run.
Child begin_run(unsigned workers, unsigned first_cpu, double seconds) {
  const std::string command = "exec /proc/" + std::to_string(::getpid()) + "/exe --run " +
                              std::to_string(workers) + " --cpu " + std::to_string(first_cpu) +
                              " --seconds " + std::to_string(seconds);
  return {0, ::popen(command.c_str(), "r")};
}

double end_run(const Child& child) {
  double rate = 0;
  const bool read = std::fscanf(child.output, "%lf", &rate) == 1;
  const int status = ::pclose(child.output);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kSkipped) {
    std::fprintf(stderr, "bench_workers: too few hugepages are free\n");
    std::exit(kSkipped);
  }
  if (!read || status != 0) throw std::runtime_error("a run has failed");
  return rate;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

int run(int argc, char** argv) {
  CLI::App app("What two workers of a gateway carry, and what one does", "bench_workers");
  unsigned alone = 0;
  unsigned cpu = 0;
  unsigned times = 9;
  double seconds = 3;
  bool quick = false;
  app.add_option("--run", alone, "one run with so many workers, and its figure only");
  app.add_option("--cpu", cpu, "of its first thread");
  app.add_option("--times", times, "runs of each kind, in turn");
  app.add_option("--seconds", seconds, "of each run, after one to warm up");
  app.add_flag("--quick", quick, "one short run of each: that it still runs");
  CLI11_PARSE(app, argc, argv);
  if (alone > 0) {
    std::printf("%.4f\n", run_once(alone, cpu, seconds));
    return 0;
  }
  if (quick) {
    times = 1;
    seconds = 0.2;
  }
  std::vector<double> one, two, apart;
  for (unsigned i = 0; i < times; ++i) {
    one.push_back(end_run(begin_run(1, 0, seconds)));
    two.push_back(end_run(begin_run(2, 0, seconds)));
    const Child first = begin_run(1, 0, seconds);
    const Child second = begin_run(1, 1, seconds);
    apart.push_back(end_run(first) + end_run(second));
    std::printf("run %u: %.2f, %.2f, %.2f Gbit/s\n", i + 1, one.back(), two.back(), apart.back());
    std::fflush(stdout);
  }
  const double base = median(one);
  std::printf(
      "medians of %u: one worker %.2f Gbit/s; two %.2f: %.2f times; two processes %.2f: %.2f "
      "times\n",
      times, base, median(two), median(two) / base, median(apart), median(apart) / base);
  return 0;
}

}  // namespace
}  // namespace satrelay::bench

int main(int argc, char** argv) {
  try {
    return satrelay::bench::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_workers: %s\n", error.what());
    return 1;
  }
}
