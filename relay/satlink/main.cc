// satlink: a satellite link between two ports.
#include <fmt/format.h>

#include <array>
#include <exception>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "config/checks/machine_memory.h"
#include "config/readers/loader.h"
#include "config/text/error.h"
#include "relay/dpdk/device/eal.h"
#include "relay/dpdk/device/port.h"
#include "relay/dpdk/device/port_watch.h"
#include "relay/dpdk/loop/poll_loop.h"
#include "relay/dpdk/loop/scheduling.h"
#include "relay/dpdk/loop/telemetry_command.h"
#include "relay/kernel/kernel_interface.h"
#include "relay/ops/control/control_client.h"
#include "relay/ops/control/control_server.h"
#include "relay/ops/log/log.h"
#include "relay/ops/process/run_lock.h"
#include "relay/satlink/control_command.h"
#include "relay/satlink/counters.h"
#include "relay/satlink/emulator.h"
#include "relay/satlink/options.h"
#include "relay/satlink/sizing.h"

namespace satrelay::satlink {
namespace {

ops::ControlServer::Answer answer(std::string_view line, Emulator& emulator, const dpdk::Port& a,
                                  const dpdk::Port& b) {
  const ControlParse parse = parse_control_command(line);
  if (!parse.command) return {.text = "error: " + parse.error + "\n"};
  return std::visit(
      [&](const auto& command) -> ops::ControlServer::Answer {
        using Command = std::decay_t<decltype(command)>;
        if constexpr (std::is_same_v<Command, ShowCounters>) {
          return {.text = counters_json(collect_counters(emulator, a, b), dpdk::now())};
        } else if constexpr (std::is_same_v<Command, ShowHelp>) {
          return {.text = kControlHelp};
        } else if constexpr (std::is_same_v<Command, Quit>) {
          return {.text = "ok\n", .close = true};
        } else {
          emulator.apply(command);
          ops::log_info("control: " + std::string(line));
          return {.text = "ok\n"};
        }
      },
      *parse.command);
}

void log_summary(const char* name, const link::DirectionCounters& c) {
  ops::log_info(fmt::format(
      "{}: {} frames in, {} out; dropped: queue {}, MTU {}, loss {}, outage {}, memory {}", name,
      c.frames_in, c.frames_out, c.dropped_queue, c.dropped_mtu, c.dropped_loss, c.dropped_outage,
      c.dropped_memory));
}

std::uint16_t largest_mtu(const config::SatLink& config) {
  return std::max(config.a.mtu, config.b.mtu);
}

Sizing sizing_of(const config::SatLink& config) {
  const std::uint16_t mtu = largest_mtu(config);
  const std::size_t packet_bytes =
      (dpdk::PacketPool::memory_for(65536, mtu) - dpdk::PacketPool::memory_for(0, mtu)) / 65536;
  return size_for(config, packet_bytes);
}

ByteCount frame_store(const config::SatLink& config) {
  return ByteCount(dpdk::PacketPool::memory_for(sizing_of(config).packets, largest_mtu(config)));
}

std::vector<config::Contradiction> object_to_memory(const config::SatLink& config) {
  const ByteCount needed = frame_store(config);
  const std::string excess = config::exceeds_total(needed, config::machine_memory());
  if (excess.empty()) return {};
  return {{.path = config.memory == ByteCount(0) ? "" : "memory",
           .message = std::to_string(needed.value() >> 20) + "MiB for frames in flight are " +
                      excess + "; write less"}};
}

void run(const config::SatLink& config) {
  dpdk::StopSignal::install();
  const std::uint16_t mtu = largest_mtu(config);
  const Sizing sizing = sizing_of(config);
  if (const std::string excess =
          config::exceeds_available(frame_store(config), config::machine_memory());
      !excess.empty()) {
    throw std::runtime_error("the memory for frames in flight is " + excess);
  }
  const std::string prefix =
      config.stats_socket_prefix.empty() ? "satlink" : config.stats_socket_prefix;
  // DPDK would go on without this folder, with a stats socket in the root folder.
  ops::make_runtime_folder(ops::runtime_folder(prefix));
  const dpdk::Eal eal({.program = "satlink",
                       .file_prefix = prefix,
                       .cpu = config.worker.cpu_of(0),
                       .memory = dpdk::PacketPool::memory_for(sizing.packets, mtu),
                       .ports = {config.a, config.b},
                       .verbose = config.log_level == config::LogLevel::kDebug});
  for (const std::string& notice : eal.notices()) ops::log_warning(notice);
  dpdk::PacketPool pool("frames", sizing.packets, mtu);
  dpdk::Port a("a", config.a, pool);
  dpdk::Port b("b", config.b, pool);
  for (const dpdk::Port* port : {&a, &b}) {
    for (const std::string& change : port->changes()) ops::log_info(change);
    for (const std::string& notice : port->notices()) ops::log_warning(notice);
  }
  for (const std::string& notice : kernel::check_kernel_backlog()) ops::log_info(notice);

  Emulator emulator(config, sizing, pool, a, b, dpdk::now());
  const std::array<dpdk::Port*, 2> ports{&a, &b};
  if (config.worker.polling == config::Polling::kAdaptive && !dpdk::request_prompt_scheduling()) {
    ops::log_info("no real-time scheduling: on a busy machine frames may leave late");
  }
  const dpdk::PortWatch port_watch(ports, [](const dpdk::Port& port, const auto& change) {
    ops::log_warning(to_text(port, change));
  });
  dpdk::PollLoop loop(config.worker.polling, ports);
  dpdk::TelemetryCommand telemetry("/satlink/counters", "All counters since start. No parameters.");
  std::optional<ops::ControlServer> control;
  if (!config.control_socket.empty()) {
    control.emplace(
        config.control_socket,
        ops::ControlServer::Wake{[&](int descriptor) { loop.watch(descriptor); },
                                 [&](int descriptor) { loop.unwatch(descriptor); }},
        [&](std::string_view line, const ops::Caller&) { return answer(line, emulator, a, b); });
  }
  ops::log_info(
      fmt::format("ready: {}, {}; room for {} and {} frames in flight, {}; stats socket {}",
                  a.description(), b.description(), sizing.a_to_b_frames, sizing.b_to_a_frames,
                  eal.uses_hugepages() ? "hugepages" : "normal pages", dpdk::Eal::stats_socket()));
  for (dpdk::Port* port : ports) port->begin_to_receive();
  loop.run([&](Instant now) {
    if (control) control->service(now);
    if (port_watch.needs_new_start()) dpdk::StopSignal::request();
    if (telemetry.is_asked()) telemetry.answer(collect_counters(emulator, a, b));
    return emulator.round(now);
  });
  ops::log_info("stopping");
  log_summary("a_to_b", emulator.a_to_b().counters());
  log_summary("b_to_a", emulator.b_to_a().counters());
  if (port_watch.needs_new_start()) throw std::runtime_error("a port needs a new start");
}

int send_command(const std::string& path, const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
  const std::string text = ops::send_control_command(path, line);
  std::cout << text;
  return text.starts_with("error") ? 1 : 0;
}

}  // namespace
}  // namespace satrelay::satlink

int main(int argc, char** argv) {
  namespace sl = satrelay::satlink;
  const sl::ParsedOptions parsed = sl::parse_options(argc, argv);
  if (!parsed.options) return parsed.exit;
  const sl::Options& options = *parsed.options;
  const auto fail = [](const std::vector<std::string>& lines, int status) {
    satrelay::ops::open_log("satlink", satrelay::config::LogLevel::kInfo);
    for (const std::string& line : lines) satrelay::ops::log_error(line);
    return status;
  };
  try {
    if (!options.control.empty()) return sl::send_command(options.control, options.words);
    const auto config = satrelay::config::load_sat_link(options.file, sl::object_to_memory);
    if (options.check) {
      std::cout << options.file << ": good\n";
      return 0;
    }
    satrelay::ops::open_log("satlink", config.log_level);
    sl::run(config);
    return 0;
  } catch (const satrelay::config::ConfigError& error) {
    return fail(satrelay::config::lines_of(error), 2);
  } catch (const std::exception& error) {
    return fail({error.what()}, 1);
  }
}
