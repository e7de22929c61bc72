// The satellite hop: the two directions of the link between the gateways' WAN ports, in virtual
// time.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "config/model/link_model.h"
#include "config/model/schema.h"
#include "relay/link/link_direction.h"
#include "relay/sim/checks/trace.h"
#include "relay/sim/network/event_loop.h"
#include "relay/sim/network/frame_pool.h"

namespace satrelay::sim {

class SatelliteLink final : public Actor, public FrameSink {
 public:
  static constexpr unsigned kA = 0, kB = 1;  // port numbers

  SatelliteLink(EventLoop& loop, FramePool& frames, Tracer& tracer,
                const config::LinkDirection& a_to_b, const config::LinkDirection& b_to_a,
                std::uint32_t overhead, std::uint64_t seed);
  ~SatelliteLink() override;

  void connect(unsigned end, FrameSink& sink, unsigned port);
  // Receives a frame from the gateway at port kA or kB.
  void receive(unsigned port, FrameHandle frame) override;
  // Calls `call` with every frame that enters the link, including frames that the link then loses.
  void on_frame(std::function<void(unsigned from, ConstBytes)> call) {
    on_frame_.push_back(std::move(call));
  }
  // Calls `call` with every frame that the link loses on entry.
  void on_lost(std::function<void(ConstBytes)> call) { on_lost_ = std::move(call); }
  void set_outage(bool outage, config::LinkWays ways = config::LinkWays::kBoth);
  link::LinkDirection& from_a() { return a_to_b_; }
  link::LinkDirection& from_b() { return b_to_a_; }

  void run(Instant now) override;
  Instant next_timeout() const override;

 private:
  void release_dropped(link::LinkDirection& direction);
  void deliver(link::LinkDirection& direction, unsigned to, Instant now);
  EventLoop* loop_;
  FramePool* frames_;
  Tracer* tracer_;
  ActorId id_;
  link::LinkDirection a_to_b_;
  link::LinkDirection b_to_a_;
  FrameSink* sinks_[2] = {nullptr, nullptr};
  unsigned ports_[2] = {0, 0};
  std::vector<std::function<void(unsigned, ConstBytes)>> on_frame_;
  std::function<void(ConstBytes)> on_lost_;
};

}  // namespace satrelay::sim
