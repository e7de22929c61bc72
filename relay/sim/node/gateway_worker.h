// A worker of a gateway node: an engine with its memory, the frames that wait for the engine, and
// the frames that the engine has queued. It does the work that a satrelayd thread does around its
// engine.
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

// The parts of a gateway node that all its workers share.
struct NodeParts {
  EventLoop& loop;
  FramePool& frames;
  Tracer& tracer;
  std::string name;
  unsigned workers;
  MachineSpec spec;
  std::optional<Machine> machine;  // nullopt means that work takes no time
  NodePorts ports;
  EngineWork work;
  // Number of missed frames that exist only in the reports to the engines (Insight::kFeigned).
  std::uint64_t feigned = 0;
  Instant stuck_since;  // time at which a worker last stopped between writing and sending
};

class GatewayWorker {
 public:
  explicit GatewayWorker(NodeParts& node) : node_(node) {}

  // Reserves the memory for the next engine. `size` is in bytes.
  void set_memory(std::size_t size);
  // Clears and resizes the journal, which survives stop(). Zero words mean that there is no
  // journal.
  void set_journal(std::size_t words) { journal_.assign(words, 0); }
  // Starts an engine. The engine uses the entropy source of this worker, which is seeded with
  // `seed`.
  void start(const config::Gateway& config, gateway::Identity identity, std::uint64_t seed);
  // Destroys the engine, and releases all frames that wait for it or that it has queued.
  void stop();
  gateway::Gateway& engine() const { return *engine_; }

  // Keeps the worker's thread from running until `until`.
  void starve(Instant until) { starved_until_ = until; }
  bool is_starved(Instant now) const { return now < starved_until_; }
  // Takes ownership of a frame from a port. Passes the frame to the engine at once if the engine is
  // free, otherwise puts it into the port's ring.
  void hand_over(gateway::PortId port, FrameHandle frame);
  // Does all work that is due, if the node has no Machine.
  void run(Instant now);
  // Runs one round of satrelayd's loop, if the node has a Machine. Returns the number of frames
  // that the round handled.
  std::size_t round(Instant now);
  // Simulates that other programs get the processor while the worker sends. A pause does the most
  // harm at this point: the engine considers the polled frames sent, but they leave only after the
  // pause.
  void stop_between_writing_and_sending(Instant now);
  // Sends everything that the engine has to send.
  void send_all(Instant now);

  // True if work waits until the Machine is free.
  bool has_work() const { return has_arrived() || !stuck_.empty(); }
  Instant next_timeout() const;
  // Number of frames, over all runs, that were dropped because the port's ring was full.
  std::uint64_t missed(gateway::PortId port) const { return ring_of(port).missed(); }

 private:
  static constexpr std::size_t kAll = ~std::size_t{0};
  static constexpr std::size_t kBurst = 32;  // most frames that a port delivers at a time
  struct Burst {
    std::size_t count = 0;  // number of frames to send, which are at the beginning of the span
    bool is_full = false;   // true if the engine may have more frames to send
  };
  const Ring& ring_of(gateway::PortId port) const { return rings_[static_cast<std::size_t>(port)]; }
  Ring& ring_of(gateway::PortId port) { return rings_[static_cast<std::size_t>(port)]; }
  bool has_arrived() const { return !rings_[0].empty() || !rings_[1].empty(); }
  // The number of frames to pass to the engine in each call, if `frames` frames wait.
  std::size_t call_size(std::size_t frames) const;
  // Passes at most a burst of frames to the engine.
  void take(gateway::PortId port, std::span<const FrameHandle> frames);
  void dispose(gateway::PortId port, FrameHandle frame, const gateway::Gateway::Handled& handled);
  // Returns the state of the WAN port's ring, reduced to the information that Insight permits.
  stp::Reception reception();
  // Passes at most one burst from the ring to the engine. Further frames wait for the next call.
  std::size_t empty(gateway::PortId port);
  void handle_timeout(Instant now);
  void renew_spare(std::size_t i);
  // Polls the engine for the next frames to send through the port: at most a burst, and at most as
  // many as `frames` can hold.
  Burst poll_burst(gateway::PortId port, std::span<FrameHandle> frames, Instant now);
  // Sends up to `most` frames and returns their number.
  std::size_t poll(gateway::PortId port, Instant now, std::size_t most = kAll);

  NodeParts& node_;
  std::optional<BigMemory> memory_;
  std::vector<std::uint64_t> journal_;
  SeededEntropy entropy_{0};
  std::unique_ptr<gateway::Gateway> engine_;
  // Frames that the engine queues, by the engine's slot number.
  std::map<std::size_t, FrameHandle> held_;
  std::array<Ring, 2> rings_;
  // Empty frames for the engine to write into. Most polls write none, so a frame stays here until
  // it is written. Taking 32 frames from the pool for each poll took a quarter of the time of a
  // run.
  struct Spare {
    FrameHandle frame = 0;
    bool is_ours = false;  // false if `frame` was written and sent, and must be replaced
  };
  std::array<Spare, kBurst> spares_;
  std::array<MutableBytes, kBurst> rooms_;  // memory of `spares_`
  // Frames that were polled for the WAN port, but have not been sent.
  std::vector<FrameHandle> stuck_;
  Instant starved_until_;
};

}  // namespace satrelay::sim
