#include "relay/satrelayd/commands/command_sockets.h"

#include <string>
#include <utility>

#include "relay/dpdk/device/eal.h"
#include "relay/dpdk/loop/clock.h"
#include "relay/ops/log/log.h"

namespace satrelay::satrelayd {
namespace {

constexpr Duration kCaptureInterval = Duration::milliseconds(10);

}  // namespace

CommandSockets::CommandSockets(const config::Gateway& config, const ops::SocketAccess& access,
                               dpdk::PollLoop& loop, Operations& operations, CaptureTap& tap,
                               CaptureService::Epoch epoch) {
  if (config.control_socket == config::kNoSocket) return;
  const std::string folder = dpdk::Eal::runtime_directory();
  const std::string path =
      config.control_socket.empty() ? folder + "/control.sock" : config.control_socket;
  control_.emplace(
      path,
      ops::ControlServer::Wake{[&loop](int descriptor) { loop.watch(descriptor); },
                               [&loop](int descriptor) { loop.unwatch(descriptor); }},
      [&operations](std::string_view line, const ops::Caller& caller) {
        return answer(line, caller, operations);
      },
      access);
  ops::log_info("control socket: " + path);
  capture_.emplace(folder + "/capture.sock", access, tap, std::move(epoch), operations.tell);
  capture_keeper_.emplace("capture", kCaptureInterval, [this] { capture_->look(dpdk::now()); });
}

}  // namespace satrelay::satrelayd
