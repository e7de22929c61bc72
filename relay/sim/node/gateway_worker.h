// A worker of a gateway node: an engine with its memory, and the frames that wait for the engine or
// in it. The worker does the work of a thread of satrelayd around the engine.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/model/schema.h"
#include "pep/base/seeded_entropy.h"
#include "relay/gateway/gateway.h"
#include "relay/sim/checks/trace.h"
#include "relay/sim/network/big_memory.h"
#include "relay/sim/network/event_loop.h"
#include "relay/sim/network/frame_pool.h"
#include "relay/sim/network/machine.h"
#include "relay/sim/node/engine_work.h"
#include "relay/sim/node/node_ports.h"

namespace satrelay::sim {

// The parts of a gateway node that all its workers use.
struct NodeParts {
  EventLoop& loop;
  FramePool& frames;
  Tracer& tracer;
  std::string name;
  unsigned workers;
  MachineSpec spec;
  std::optional<Machine> machine;  // nullopt: work takes no time
  NodePorts ports;
  EngineWork work;
  std::uint64_t feigned = 0;  // missed frames that the node has invented
  Instant stuck_since;        // when a worker last stopped between writing and sending
};

class GatewayWorker {
 public:
  explicit GatewayWorker(NodeParts& node) : node_(node) {}

  // The memory of the next engine.
  void set_memory(std::size_t size);
  // The journal that outlives stop(). Zero words: none.
  void set_journal(std::size_t words) { journal_.assign(words, 0); }
  // Starts an engine. `identity` gets the worker's own entropy, which begins with `seed`.
  void start(const config::Gateway& config, gateway::Identity identity, std::uint64_t seed);
  // Loses the engine, and all frames that wait for it or in it.
  void stop();
  gateway::Gateway& engine() const { return *engine_; }

  // Keeps the worker's thread from running until `until`.
  void starve(Instant until) { starved_until_ = until; }
  bool is_starved(Instant now) const { return now < starved_until_; }
  // Takes over a frame from a port: for the engine at once, or into the port's ring.
  void hand_over(gateway::PortId port, FrameHandle frame);
  // Does all that is due. Without a Machine.
  void run(Instant now);
  // One round of satrelayd's loop, with a Machine. Returns the number of frames worked on.
  std::size_t round(Instant now);
  // The Machine is taken away while the worker sends. A pause does most harm here: the engine
  // believes that these frames have left.
  void stop_between_writing_and_sending(Instant now);
  // Sends all that the engine has to send.
  void send_all(Instant now);

  // Whether work waits that the Machine must be free for.
  bool has_work() const { return has_arrived() || !stuck_.empty(); }
  Instant next_timeout() const;
  // Frames for which a port's ring had no room, over all runs.
  std::uint64_t missed(gateway::PortId port) const { return ring_of(port).missed(); }

 private:
  static constexpr std::size_t kAll = ~std::size_t{0};
  static constexpr std::size_t kBurst = 32;  // frames that a port hands over at once
  struct Burst {
    std::size_t count = 0;  // frames to send; they stand first
    bool is_full = false;   // the engine may have more
  };
  const Ring& ring_of(gateway::PortId port) const { return rings_[static_cast<std::size_t>(port)]; }
  Ring& ring_of(gateway::PortId port) { return rings_[static_cast<std::size_t>(port)]; }
  bool has_arrived() const { return !rings_[0].empty() || !rings_[1].empty(); }
  // How many of `frames` frames one call of the engine takes.
  std::size_t call_size(std::size_t frames) const;
  // Shows the frames to the engine, a burst at most.
  void take(gateway::PortId port, std::span<const FrameHandle> frames);
  void dispose(gateway::PortId port, FrameHandle frame, const gateway::Gateway::Handled& handled);
  // The state of the WAN port's ring, as far as the Insight allows.
  stp::Reception reception();
  // Shows a burst of the ring to the engine; the rest waits for the next call.
  std::size_t empty(gateway::PortId port);
  void handle_timeout(Instant now);
  // Polls the next frames to leave by the port: a burst at most, and no more than `frames` holds.
  Burst poll_burst(gateway::PortId port, std::span<FrameHandle> frames, Instant now);
  // Sends up to `most` frames and returns their number.
  std::size_t poll(gateway::PortId port, Instant now, std::size_t most = kAll);

  NodeParts& node_;
  std::optional<BigMemory> memory_;
  std::vector<std::uint64_t> journal_;
  SeededEntropy entropy_{0};
  std::unique_ptr<gateway::Gateway> engine_;
  std::map<std::size_t, FrameHandle> held_;  // frames that the engine queues, by its slots
  std::array<Ring, 2> rings_;
  std::vector<FrameHandle> stuck_;  // polled for the WAN port, but not sent yet
  Instant starved_until_;
};

}  // namespace satrelay::sim
