// The LAN of one station: a switch with a cable to each host, and with the gateway's LAN port. Each
// direction of each cable has its own rate, delay and faults.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "config/model/link_model.h"
#include "config/model/schema.h"
#include "relay/link/link_direction.h"
#include "relay/sim/checks/trace.h"
#include "relay/sim/hosts/host.h"
#include "relay/sim/network/event_loop.h"
#include "relay/sim/network/frame_pool.h"

namespace satrelay::sim {

class SimLan final : public Actor, public FrameSink {
 public:
  // `cable` has the properties of each host's cable, which are the same in both directions.
  SimLan(EventLoop& loop, FramePool& frames, Tracer& tracer, std::string name,
         const config::LinkDirection& cable, std::uint64_t seed);
  ~SimLan() override;

  void attach(SimHost& host);
  void connect_gateway(FrameSink& gateway, unsigned port);
  // Receives a frame from host `port`, or from the gateway if `port` is kGateway.
  static constexpr unsigned kGateway = 0xffff;
  void receive(unsigned port, FrameHandle frame) override;
  // Disconnects or reconnects all cables, as when a switch reboots.
  void set_outage(bool outage);
  // Number of frames that the cables lost, or dropped because a queue was full.
  std::uint64_t lost() const { return lost_; }

  void run(Instant now) override;
  Instant next_timeout() const override;

 private:
  struct Cable {
    SimHost* host;
    std::unique_ptr<link::LinkDirection> up;    // host to gateway
    std::unique_ptr<link::LinkDirection> down;  // gateway to host
  };
  void offer(link::LinkDirection& direction, FrameHandle frame);

  EventLoop* loop_;
  FramePool* frames_;
  Tracer* tracer_;
  std::string name_;
  config::LinkDirection cable_;
  std::uint64_t seed_;
  ActorId id_;
  std::vector<Cable> cables_;
  FrameSink* gateway_ = nullptr;
  unsigned gateway_port_ = 0;
  std::uint64_t lost_ = 0;
};

}  // namespace satrelay::sim
