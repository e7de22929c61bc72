// A gateway as its host runs it: frames from two ports go in, frames come out, and the engine may
// be killed and started again. With several workers there is an engine for each, and each frame
// goes to the one that the steering names; what they send leaves by the same two ports.
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

// Told around every call of the engine, to count or time what happens inside it.
class EngineProbe {
 public:
  virtual ~EngineProbe() = default;
  virtual void enter() = 0;
  virtual void leave() = 0;
};

class GatewayNode final : public Actor, public FrameSink {
 public:
  // `tick`: how often the host looks at timers, zero for exactly when they are due.
  GatewayNode(EventLoop& loop, FramePool& frames, Tracer& tracer, std::string name,
              const config::Gateway& config, const MacAddress& wan_mac, Duration tick,
              const MachineSpec& machine = {});
  ~GatewayNode() override;

  void connect(gateway::PortId port, FrameSink& sink, unsigned sink_port);
  // Starts (or starts anew) with this boot epoch; all state of an earlier run is lost.
  void start(std::uint64_t boot_epoch);
  void kill();
  // Stops in order: tells hosts and peer, then ends.
  void shut_down();
  // limits.memory of the next start.
  void set_memory(ByteCount memory);
  // Keeps a journal of the flows from the next start on, which outlives kill(). With `false` it is
  // lost, as in a machine that lost its power.
  void keep_journal(bool on);
  // What happens to frames while no engine runs: dropped, or passed from port to port as a relay
  // that failed to wire does.
  void fail_to_wire(bool on) { fail_to_wire_ = on; }
  void receive(unsigned port, FrameHandle frame) override;
  void set_probe(EngineProbe* probe) { probe_ = probe; }

  void run(Instant now) override;
  Instant next_timeout() const override;

  bool is_running() const { return is_running_; }
  unsigned workers() const { return static_cast<unsigned>(workers_.size()); }
  gateway::Gateway& engine(unsigned worker = 0) { return *workers_[worker].engine; }
  // Of all workers.
  std::vector<gateway::PeerSnapshot> peers();
  std::vector<gateway::FlowSnapshot> flows(Instant now);
  std::size_t flow_count();
  std::size_t held_frames();
  std::uint64_t half_open(Instant now);
  std::uint64_t arena_used(Instant now);
  std::optional<std::string> audit();
  const gateway::Steering& steering() const { return *steering_; }
  // Over all runs.
  std::uint64_t counted(gateway::Counter counter) const;
  // The most objects that one call has gone over for each of its frames, in all runs.
  std::uint64_t most_visited() const { return most_visited_; }
  Work most_worked() const { return most_worked_; }
  const std::string& name() const { return name_; }
  void wake() { loop_->wake(id_); }
  // The thread of a worker does not run until then. The first one divides the links.
  void starve(unsigned worker, Instant until);
  // STP packets that a network card, which spreads frames by flow_hash() (Receive Side Scaling),
  // would have shown to another worker than theirs; over all runs.
  std::uint64_t stp_handed_over() const { return stp_handed_over_; }
  // What has left by the WAN port, of all runs and workers.
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
    std::map<std::size_t, FrameHandle> held;  // by the engine's slots
    Ring rings[2];
    std::vector<FrameHandle> stuck;  // written, and not handed to the WAN port
    Instant starved_until;
  };
  void plan_memory();
  void begin_sharing();
  // What each worker has of the links, as long as anybody sends.
  void share_links(Instant now);
  // A frame from a port, for one worker.
  void hand_over(Worker& worker, gateway::PortId port, FrameHandle frame);
  void overhear(unsigned but, gateway::PortId port, FrameHandle frame);
  void note_queue(const gateway::Frame& frame, unsigned worker);
  // The engine takes frames, a burst at most.
  void take(Worker& worker, gateway::PortId port, std::span<const FrameHandle> frames);
  void dispose(Worker& worker, gateway::PortId port, FrameHandle frame,
               const gateway::Gateway::Handled& handled);
  // What its owner says of the WAN port.
  stp::Reception reception(const Worker& worker);
  struct Burst {
    std::size_t count = 0;  // of frames, which stand first
    bool is_full = false;   // the engine may have more
  };
  // The next frames to leave by the port, a burst at most and no more than there is room for.
  Burst poll_burst(Worker& worker, gateway::PortId port, std::span<FrameHandle> frames,
                   Instant now);
  void send(gateway::PortId port, FrameHandle frame);
  void measure(FrameHandle frame);
  // So many at most; how many left.
  std::size_t poll(Worker& worker, gateway::PortId port, Instant now, std::size_t most = kAll);
  // What the machine's owner does in a turn of its own.
  void round(Instant now);
  std::size_t empty(Worker& worker, gateway::PortId port);
  // Whether it does not run now. One that runs again first takes what waits in its rings.
  bool is_starved(Worker& worker, Instant now);
  void stop_between_writing_and_sending(Worker& worker, Instant now);
  void drop_held(Worker& worker);
  // One call of the engine about so many frames, under the eyes of the probe.
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
  std::optional<gateway::Division> division_;  // none if nothing is shared
  Instant next_share_;
  bool ticks_ = false;  // at next_share_, whatever comes
  bool is_running_ = false;
  gateway::Counters earlier_counters_;  // of engines that are no more
  FrameSink* sinks_[2] = {nullptr, nullptr};
  unsigned sink_ports_[2] = {0, 0};
  EngineProbe* probe_ = nullptr;
  std::uint64_t most_visited_ = 0;
  Work most_worked_ = 0;
  std::optional<Machine> machine_;  // nullopt: everything is done at once
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
