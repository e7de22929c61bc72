// A gateway in the simulation. The node does the work of satrelayd around the engine: it moves
// frames between two ports and the engine. It can kill the engine and start it again. There is one
// engine for each worker, and steering chooses the worker for each frame. All workers send by the
// same two ports.
#pragma once

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
#include "relay/gateway/shares/division.h"
#include "relay/gateway/steering/steering.h"
#include "relay/sim/checks/trace.h"
#include "relay/sim/network/big_memory.h"
#include "relay/sim/network/event_loop.h"
#include "relay/sim/network/frame_pool.h"
#include "relay/sim/network/link_meter.h"
#include "relay/sim/network/machine.h"

namespace satrelay::sim {

// Called before and after every call of the engine, to count or time the work inside.
class EngineProbe {
 public:
  virtual ~EngineProbe() = default;
  virtual void enter() = 0;
  virtual void leave() = 0;
};

class GatewayNode final : public Actor, public FrameSink {
 public:
  // `tick`: the interval at which timers are checked; zero: exactly when they are due.
  GatewayNode(EventLoop& loop, FramePool& frames, Tracer& tracer, std::string name,
              const config::Gateway& config, const MacAddress& wan_mac, Duration tick,
              const MachineSpec& machine = {});
  ~GatewayNode() override;

  void connect(gateway::PortId port, FrameSink& sink, unsigned sink_port);
  // Starts or restarts the gateway with this boot epoch. All state of an earlier run is lost.
  void start(std::uint64_t boot_epoch);
  void kill();
  // Stops in order: resets the hosts' connections, closes the sessions, then ends.
  void shut_down();
  // Sets limits.memory for the next start.
  void set_memory(ByteCount memory);
  // true: the next starts keep a journal of the flows, and it outlives kill(). false: the journal
  // is lost, as when the machine loses power.
  void keep_journal(bool on);
  // Whether frames pass from port to port while no engine runs, as through a fail-to-wire relay. If
  // not, they are dropped.
  void fail_to_wire(bool on) { fail_to_wire_ = on; }
  void receive(unsigned port, FrameHandle frame) override;
  void set_probe(EngineProbe* probe) { probe_ = probe; }

  void run(Instant now) override;
  Instant next_timeout() const override;

  bool is_running() const { return is_running_; }
  unsigned workers() const { return static_cast<unsigned>(workers_.size()); }
  gateway::Gateway& engine(unsigned worker = 0) { return *workers_[worker].engine; }
  // Sums and lists over all workers.
  std::vector<gateway::PeerSnapshot> peers();
  std::vector<gateway::FlowSnapshot> flows(Instant now);
  std::size_t flow_count();
  std::size_t held_frames();
  std::uint64_t half_open(Instant now);
  std::uint64_t arena_used(Instant now);
  std::optional<std::string> audit();
  const gateway::Steering& steering() const { return *steering_; }
  // Summed over all runs.
  std::uint64_t counted(gateway::Counter counter) const;
  // The most objects that one call visited for each of its frames, over all runs.
  std::uint64_t most_visited() const { return most_visited_; }
  Work most_worked() const { return most_worked_; }
  const std::string& name() const { return name_; }
  void wake() { loop_->wake(id_); }
  // Keeps the worker's thread from running until `until`. Worker 0 divides the links, so they are
  // not divided while it is starved.
  void starve(unsigned worker, Instant until);
  // STP packets, over all runs, that Receive Side Scaling would have given to another worker than
  // steering did. Such a network card spreads frames by flow_hash().
  std::uint64_t stp_handed_over() const { return stp_handed_over_; }
  // Counts what all workers sent by the WAN port, over all runs.
  LinkMeter& meter() { return meter_; }
  // Frames for which a port's rings had no room.
  std::uint64_t missed(gateway::PortId port) const;

 private:
  static constexpr std::size_t kAll = ~std::size_t{0};
  static constexpr std::size_t kBurst = 32;  // frames that a port hands over at once
  struct Worker {
    std::optional<BigMemory> memory;
    std::vector<std::uint64_t> journal;
    SeededEntropy entropy{0};
    std::unique_ptr<gateway::Gateway> engine;
    std::map<std::size_t, FrameHandle> held;  // frames that the engine queues, by its slots
    Ring rings[2];
    std::vector<FrameHandle> stuck;  // polled for the WAN port, but not sent yet
    Instant starved_until;
  };
  void plan_memory();
  void begin_sharing();
  // Divides the links among the workers. It repeats each tick, until no worker has sent for long.
  void share_links(Instant now);
  // Gives a frame from a port to one worker.
  void hand_over(Worker& worker, gateway::PortId port, FrameHandle frame);
  void overhear(unsigned but, gateway::PortId port, FrameHandle frame);
  void note_queue(const gateway::Frame& frame, unsigned worker);
  // Shows the frames to the engine, a burst at most.
  void take(Worker& worker, gateway::PortId port, std::span<const FrameHandle> frames);
  void dispose(Worker& worker, gateway::PortId port, FrameHandle frame,
               const gateway::Gateway::Handled& handled);
  // The state of the WAN port's ring, as far as the Insight allows.
  stp::Reception reception(const Worker& worker);
  struct Burst {
    std::size_t count = 0;  // frames to send; they stand first
    bool is_full = false;   // the engine may have more
  };
  // Polls the next frames to leave by the port: a burst at most, and no more than `frames` holds.
  Burst poll_burst(Worker& worker, gateway::PortId port, std::span<FrameHandle> frames,
                   Instant now);
  void send(gateway::PortId port, FrameHandle frame);
  void measure(FrameHandle frame);
  // Sends up to `most` frames and returns their number.
  std::size_t poll(Worker& worker, gateway::PortId port, Instant now, std::size_t most = kAll);
  // One round of satrelayd's loop, if there is a Machine.
  void round(Instant now);
  std::size_t empty(Worker& worker, gateway::PortId port);
  // Whether the worker is starved at `now`. If not, the worker first empties its rings.
  bool is_starved(Worker& worker, Instant now);
  void stop_between_writing_and_sending(Worker& worker, Instant now);
  void drop_held(Worker& worker);
  // Makes one call of the engine, for `frames` frames, and measures what it visits.
  template <typename Call>
  auto watched(Worker& worker, std::size_t frames, Call call);
  EventLoop* loop_;
  FramePool* frames_;
  Tracer* tracer_;
  std::string name_;
  config::Gateway config_;
  MacAddress wan_mac_;
  Duration tick_;
  ActorId id_;
  std::vector<Worker> workers_;
  std::optional<gateway::Steering> steering_;
  std::optional<gateway::Division> division_;  // absent if workers share nothing
  Instant next_share_;
  bool ticks_ = false;  // whether share_links() is due at next_share_
  bool is_running_ = false;
  gateway::Counters earlier_counters_;  // of earlier engines
  FrameSink* sinks_[2] = {nullptr, nullptr};
  unsigned sink_ports_[2] = {0, 0};
  EngineProbe* probe_ = nullptr;
  std::uint64_t most_visited_ = 0;
  Work most_worked_ = 0;
  std::optional<Machine> machine_;  // nullopt: work takes no time
  std::size_t ring_size_ = 0;
  Verbs verbs_ = Verbs::kBursts;
  Insight insight_ = Insight::kAll;
  std::uint64_t feigned_ = 0;
  std::uint64_t stp_handed_over_ = 0;
  Instant stuck_since_;
  bool fail_to_wire_ = false;
  LinkMeter meter_;
};

}  // namespace satrelay::sim
