// A gateway in the simulation. The node does the work of satrelayd around the engines: it moves
// frames between two ports and the engines, and it can kill the engines and start them again. There
// is one engine for each worker (gateway_worker.h), and steering chooses the worker for each frame.
// All workers send through the same two ports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "config/model/schema.h"
#include "relay/gateway/gateway.h"
#include "relay/gateway/steering/steering.h"
#include "relay/sim/checks/trace.h"
#include "relay/sim/network/event_loop.h"
#include "relay/sim/network/frame_pool.h"
#include "relay/sim/network/link_meter.h"
#include "relay/sim/network/machine.h"
#include "relay/sim/node/engine_work.h"
#include "relay/sim/node/gateway_worker.h"
#include "relay/sim/node/link_divider.h"

namespace satrelay::sim {

class GatewayNode final : public Actor, public FrameSink {
 public:
  // `tick` is the interval at which timers are checked. Zero means that they are checked exactly
  // when due.
  GatewayNode(EventLoop& loop, FramePool& frames, Tracer& tracer, std::string name,
              const config::Gateway& config, const MacAddress& wan_mac, Duration tick,
              const MachineSpec& machine = {});
  ~GatewayNode() override;

  void connect(gateway::PortId port, FrameSink& sink, unsigned sink_port) {
    node_.ports.connect(port, sink, sink_port);
  }
  // Starts or restarts the gateway with this boot epoch. All state of an earlier run is lost.
  void start(std::uint64_t boot_epoch);
  void kill();
  // Stops the gateway in order: resets the hosts' connections, closes the sessions, then ends.
  void shut_down();
  // Sets limits.memory, from the next start on.
  void set_memory(ByteCount memory);
  // If `on`, the gateway keeps a journal of its flows from the next start on, and the journal
  // survives kill(). Otherwise the journal is lost, as when the machine loses power.
  void keep_journal(bool on);
  // Sets whether frames pass from port to port while no engine runs, as through a fail-to-wire
  // relay. Otherwise the node drops these frames.
  void fail_to_wire(bool on) { fail_to_wire_ = on; }
  void receive(unsigned port, FrameHandle frame) override;
  void set_probe(EngineProbe* probe) { node_.work.set_probe(probe); }

  void run(Instant now) override;
  Instant next_timeout() const override;

  bool is_running() const { return is_running_; }
  unsigned workers() const { return static_cast<unsigned>(workers_.size()); }
  gateway::Gateway& engine(unsigned worker = 0) { return workers_[worker].engine(); }
  // Sums and lists over all workers of this node.
  std::vector<gateway::PeerSnapshot> peers();
  std::vector<gateway::FlowSnapshot> flows(Instant now);
  std::size_t flow_count() const;
  std::size_t held_frames() const;
  std::uint64_t half_open(Instant now) const;
  std::uint64_t arena_used(Instant now) const;
  std::optional<std::string> audit();
  const gateway::Steering& steering() const { return *steering_; }
  // The sum of a counter over all workers and all runs.
  std::uint64_t counted(gateway::Counter counter) const;
  // The largest number of visited objects per frame of any call, over all runs.
  std::uint64_t most_visited() const { return node_.work.most_visited(); }
  Work most_worked() const { return node_.work.most_worked(); }
  const std::string& name() const { return node_.name; }
  void wake() { node_.loop.wake(id_); }
  // Keeps the worker's thread from running until `until`. Only worker 0 divides the rates of the
  // links among the workers. So the division does not change while worker 0 is kept from running.
  void starve(unsigned worker, Instant until);
  // Number of STP packets, over all runs, that Receive Side Scaling would have given to a different
  // worker from the one that steering chose. The network card is assumed to spread frames by
  // flow_hash().
  std::uint64_t stp_handed_over() const { return stp_handed_over_; }
  // The meter of all that the workers sent through the WAN port, over all runs.
  LinkMeter& meter() { return meter_; }
  // Number of frames, over all runs, that were dropped because a ring of the port was full.
  std::uint64_t missed(gateway::PortId port) const;

 private:
  void plan_memory();
  void overhear(unsigned but, gateway::PortId port, FrameHandle frame);
  void note_queue(const gateway::Frame& frame, unsigned worker);
  void measure(FrameHandle frame);
  // Runs one round of satrelayd's loop for all workers, which share one machine.
  void round(Instant now);
  // The sum of a value over all workers.
  template <typename Value>
  std::uint64_t sum(Value value) const {
    std::uint64_t all = 0;
    for (const GatewayWorker& worker : workers_) all += value(worker);
    return all;
  }

  NodeParts node_;
  config::Gateway config_;
  MacAddress wan_mac_;
  Duration tick_;
  ActorId id_;
  std::deque<GatewayWorker> workers_;
  std::optional<gateway::Steering> steering_;
  LinkDivider divider_;
  bool is_running_ = false;
  gateway::Counters earlier_counters_;  // sums of the counters of earlier runs
  std::uint64_t stp_handed_over_ = 0;
  bool fail_to_wire_ = false;
  LinkMeter meter_;
};

}  // namespace satrelay::sim
