// The two ports through which all workers of a gateway node send.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <utility>

#include "relay/gateway/gateway.h"
#include "relay/sim/network/frame_pool.h"

namespace satrelay::sim {

class NodePorts {
 public:
  explicit NodePorts(FramePool& frames) : frames_(&frames) {}

  static gateway::PortId far(gateway::PortId port) {
    return port == gateway::PortId::kLan ? gateway::PortId::kWan : gateway::PortId::kLan;
  }
  void connect(gateway::PortId port, FrameSink& sink, unsigned sink_port) {
    at(port) = {&sink, sink_port};
  }
  // Calls `call` with each frame that send() sends through the WAN port.
  void on_wan(std::function<void(FrameHandle)> call) { on_wan_ = std::move(call); }
  bool is_connected(gateway::PortId port) const { return at(port).sink != nullptr; }
  void send(gateway::PortId port, FrameHandle frame) {
    if (is_connected(port) && port == gateway::PortId::kWan) on_wan_(frame);
    pass(port, frame);
  }
  // Sends a frame that does not come from an engine, without a call of the function set by
  // on_wan().
  void pass(gateway::PortId port, FrameHandle frame) {
    if (!is_connected(port)) return frames_->release(frame);
    at(port).sink->receive(at(port).port, frame);
  }

 private:
  struct Outlet {
    FrameSink* sink = nullptr;
    unsigned port = 0;
  };
  Outlet& at(gateway::PortId port) { return outlets_[static_cast<std::size_t>(port)]; }
  const Outlet& at(gateway::PortId port) const { return outlets_[static_cast<std::size_t>(port)]; }

  FramePool* frames_;
  std::array<Outlet, 2> outlets_;
  std::function<void(FrameHandle)> on_wan_;
};

}  // namespace satrelay::sim
