// Two gateways in one process, joined by a delay line with loss, in virtual time. One sends a LAN
// host's upload, the other delivers it. Only the time inside each gateway's calls is counted, a
// batch at a time, as one turn of a poll-mode worker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pep/base/random.h"
#include "pep/base/seeded_entropy.h"
#include "pep/base/time.h"
#include "pep/base/units.h"
#include "relay/gateway/gateway.h"
#include "tests/bench/core_counters.h"
#include "tests/bench/stopwatch.h"
#include "tests/bench/world/bulk_host.h"
#include "tests/bench/world/drive.h"
#include "tests/bench/world/large_memory.h"

namespace satrelay::bench {

struct WorldSpec {
  BitRate rate;            // Satellite link rate.
  Duration one_way_delay;  // Zero for a link that is only a wire.
  double loss = 0;         // In the data's direction.
  std::size_t flows = 1;
  std::size_t flows_of_a_host = 20;   // For each client host; all connect to one server.
  std::size_t active = 0;             // Flows that carry data; zero: all.
  std::size_t at_once = 0;            // Flows open at the same time; zero: all.
  std::uint32_t time_wait = 262'144;  // limits.time_wait
  std::size_t mtu = 1500;             // For both LANs and the link.
  bool ipv6 = false;                  // Between the hosts.
  bool encrypted = false;
  bool ports_sum = false;        // The ports check and write the TCP checksums of the LANs.
  bool compresses = true;        // The gateway tries to.
  bool compressible = false;     // The data is; otherwise it is random.
  std::size_t rules = 0;         // Rules for other flows, before the rule that accelerates.
  std::size_t silent_peers = 0;  // At the sending gateway, beside its receiving peer.
  // Most bytes sent by all flows and not yet at the far host; zero: as the windows allow.
  std::uint64_t outstanding = 0;
  std::uint64_t gateway_memory = 256ULL << 20;
  std::uint64_t touched = 256ULL << 20;  // Bytes of it that are made resident beforehand.
};

// The work of one gateway during a measurement.
struct GatewayLoad {
  double nanoseconds = 0;
  CoreCounters::Counts counted{};  // By the processor; zeros if it counts nothing.
  std::uint64_t lan_in = 0, lan_out = 0, wan_in = 0, wan_out = 0;  // Frames.
  // Full frames, on one side and on the other.
  std::uint64_t data_in = 0;
  std::uint64_t data_out = 0;
  // With loss, the bytes of a stream come out in bursts. So a frame counts half when it arrives and
  // half when it leaves.
  double frames() const { return static_cast<double>(data_in + data_out) / 2; }
  double per_frame(double all) const { return data_in + data_out == 0 ? 0 : all / frames(); }
  double per_frame() const { return per_frame(nanoseconds); }
};

// Flows opened or closed a second, if a gateway did nothing else.
struct Turnover {
  double sending = 0;
  double receiving = 0;
};

// Connections that are opened and closed for a while, at a rate in virtual time.
struct Churn {
  // For one connection's whole life, in each gateway.
  double sending_nanoseconds = 0;
  double receiving_nanoseconds = 0;
  // Per connection in the slowest virtual second; the larger value of the two gateways.
  double slowest_second = 0;
  std::uint64_t connections = 0;
  std::uint64_t time_waits = 0;  // In both gateways, at the end.
  std::uint64_t discarded = 0;   // Batches that the scheduler interrupted.
  std::uint64_t batches = 0;
};

struct Loads {
  GatewayLoad sending;    // LAN to STP.
  GatewayLoad receiving;  // STP to LAN.
  double virtual_seconds = 0;
  std::uint64_t discarded = 0;  // Batches that the scheduler interrupted.
  std::uint64_t batches = 0;    // All batches.
  double goodput = 0;           // Payload bits in a virtual second.
  std::string not_counted;      // Why the processor counts nothing; empty: it counts.
  std::uint64_t arena_used_sending = 0;
  std::uint64_t arena_used_receiving = 0;
};

class World {
 public:
  explicit World(const WorldSpec& spec);
  ~World();

  // Runs until all flows are open and data has been sent for `duration`.
  bool warm_up(Duration duration);
  Loads measure(Duration duration);
  // Instead of both: opens or closes all flows, and sends nothing. nullopt if some did not.
  std::optional<Turnover> open_all();
  std::optional<Turnover> close_all();
  // Or opens all flows at an even rate over this time, and closes each when it is open. nullopt if
  // one flow was refused or did not end.
  std::optional<Churn> churn(Duration duration);
  // Goes on without new data, until everything in flight has arrived.
  void settle(Duration duration);
  // Both gateways report each flow that ends to the recorder, if their revision can.
  template <typename Recorder, typename Engine = gateway::Gateway>
  void record_flows(Recorder& recorder) {
    for (Node* node : {&sending_, &receiving_}) {
      static_cast<Engine&>(*node->engine).record_flows(&recorder);
    }
  }

 private:
  struct Node {
    explicit Node(std::size_t room)
        : lan_in(4096, room), lan_out(4096, room), wan_out(4096, room) {}
    LargeMemory memory;
    SeededEntropy entropy{1};
    std::unique_ptr<gateway::Gateway> engine;
    FrameBatch lan_in;  // As many as lan_out, since each of those may be answered.
    FrameBatch lan_out;
    FrameBatch wan_out;
    Stopwatch watch;
    CoreCounters core;
    GatewayLoad load;
  };
  struct InFlight {
    Instant due;
    std::uint32_t slot;
  };
  // Frames in flight, each copied as a real link would hold it.
  struct DelayLine {
    std::vector<std::unique_ptr<std::byte[]>> slots;
    std::vector<std::uint16_t> sizes;
    std::vector<std::uint32_t> free;
    std::deque<InFlight> queue;
    double loss = 0;
  };

  void make_node(Node& node, const WorldSpec& spec, bool sending);
  bool greet();
  void turn(Instant now);
  void carry(Instant now);
  // Runs turns without data until all flows have done it.
  template <typename Offer, typename Done>
  std::optional<Turnover> turn_over(Offer offer, Done done);
  void run_gateway(Node& node, DelayLine& arriving, Instant now);
  // Functions of their own, so that a profiler can be pointed at one of the two.
  [[gnu::noinline]] void run_sending(Instant now) { run_gateway(sending_, backward_, now); }
  [[gnu::noinline]] void run_receiving(Instant now) { run_gateway(receiving_, forward_, now); }
  void send_over(DelayLine& line, const FrameBatch& frames, Instant now);
  void drop_arrived(DelayLine& line, std::size_t count);

  WorldSpec spec_;
  std::size_t full_frame_;  // A frame of this size or more carries data.
  Duration turn_time_;
  Instant now_;
  Random random_{7};
  BulkSender sender_;
  BulkReceiver receiver_;
  Node sending_;
  Node receiving_;
  DelayLine forward_;
  DelayLine backward_;
};

}  // namespace satrelay::bench
