// satrelayd: the gateway at an earth station.
#include <linux/capability.h>
#include <sys/random.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "config/error.h"
#include "config/loader.h"
#include "relay/dpdk/capabilities.h"
#include "relay/dpdk/clock.h"
#include "relay/dpdk/control_thread.h"
#include "relay/dpdk/eal.h"
#include "relay/dpdk/memory.h"
#include "relay/dpdk/packet_pool.h"
#include "relay/dpdk/poll_loop.h"
#include "relay/dpdk/port.h"
#include "relay/dpdk/reload_signal.h"
#include "relay/dpdk/stop_signal.h"
#include "relay/gateway/gateway.h"
#include "relay/gateway/memory_plan.h"
#include "relay/ops/control_server.h"
#include "relay/ops/log.h"
#include "relay/ops/snapshot_board.h"
#include "relay/ops/telemetry.h"
#include "relay/satrelayd/capture_service.h"
#include "relay/satrelayd/control_command.h"
#include "relay/satrelayd/drain.h"
#include "relay/satrelayd/journal_file.h"
#include "relay/satrelayd/publisher.h"
#include "relay/satrelayd/reload.h"
#include "relay/satrelayd/worker.h"

namespace satrelay::satrelayd {
namespace {

constexpr int kBadConfiguration = 2;
// Device rings both ways on two ports, bursts, and frames being built.
constexpr std::size_t kPackets = 16384 + gateway::Gateway::kMostHeldFrames;
// After SIGTERM: CLOSE to the peers and RST to the hosts leave within this time.
constexpr Duration kFarewell = Duration::milliseconds(100);

constexpr Duration kJournalInterval = Duration::seconds(1);
constexpr Duration kCaptureInterval = Duration::milliseconds(10);

// UTC, nanoseconds.
std::uint64_t wall_clock() {
  std::timespec wall{};
  std::timespec_get(&wall, TIME_UTC);
  return static_cast<std::uint64_t>(wall.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(wall.tv_nsec);
}

// UTC at instant 0, nanoseconds.
std::uint64_t epoch_utc() {
  return wall_clock() - static_cast<std::uint64_t>((dpdk::now() - Instant()).to_nanoseconds());
}

class KernelEntropy final : public Entropy {
 public:
  void fill(MutableBytes out) override {
    // Up to 256 bytes come whole (getrandom(2)); keys are shorter.
    if (getrandom(out.data(), out.size(), 0) != static_cast<::ssize_t>(out.size())) {
      throw std::runtime_error("the kernel gives no random numbers");
    }
  }
};

// The worker has its core to itself, or nearly: time that passes is time that is spent.
class DeviceClock final : public Stopwatch {
 public:
  Instant read() const override { return dpdk::now(); }
};

gateway::Identity make_identity(const MacAddress& wan_mac, Entropy& entropy,
                                const Stopwatch& stopwatch) {
  gateway::Identity identity;
  identity.boot_epoch = wall_clock();
  entropy.fill(std::as_writable_bytes(std::span(identity.secret)));
  identity.wan_mac = wan_mac;
  identity.entropy = &entropy;
  identity.stopwatch = &stopwatch;
  return identity;
}

// A gateway without a journal is better than none.
std::unique_ptr<JournalFile> open_journal(const config::Gateway& config) {
  if (config.journal == config::kNoJournal) return nullptr;
  try {
    const JournalFile::Where where{.file = dpdk::Eal::runtime_directory() + "/flows",
                                   .copy = config.journal};
    auto journal = std::make_unique<JournalFile>(
        where, JournalFile::Limits{config.limits.flows, config.limits.idle_timeout}, wall_clock());
    ops::log_info(journal->found());
    return journal;
  } catch (const std::exception& error) {
    ops::log_warning(std::string("no journal of the flows: ") + error.what());
    return nullptr;
  }
}

// Once is enough to say that the disk is full.
void look_after(JournalFile& journal, bool& was_well) {
  try {
    journal.look_after(wall_clock());
    was_well = true;
  } catch (const std::exception& error) {
    if (was_well) ops::log_warning(std::string("journal of the flows: ") + error.what());
    was_well = false;
  }
}

void say_farewell(gateway::Gateway& gateway, Worker& worker) {
  const Instant end = dpdk::now() + kFarewell;
  gateway.shut_down(dpdk::now());
  while (dpdk::now() < end) worker.round(dpdk::now());
}

// What the operator can ask of a running gateway.
struct Operations {
  gateway::Gateway& gateway;
  Drain drain;
  Reload reload;
  std::string reload_result = "error: nothing was reloaded yet";
};

void start_drain(const StartDrain& command, Drain& drain) {
  if (drain.is_under_way()) {
    dpdk::StopSignal::request();
  } else {
    drain.begin(command.timeout, dpdk::now());
  }
}

// Of those that are more than words.
std::string carry_out(const ControlCommand& command, Operations& operations) {
  if (const auto* capacity = std::get_if<SetCapacity>(&command)) {
    return apply(*capacity, operations.gateway, dpdk::now());
  }
  if (const auto* rate = std::get_if<SetPeerRate>(&command)) {
    return apply(*rate, operations.gateway, dpdk::now());
  }
  if (const auto* set = std::get_if<SetRule>(&command)) return apply(*set, operations.gateway);
  if (const auto* set = std::get_if<SetClass>(&command)) {
    return apply(*set, operations.gateway, dpdk::now());
  }
  if (const auto* bypass = std::get_if<SetBypass>(&command)) {
    return apply(*bypass, operations.gateway, dpdk::now());
  }
  if (const auto* drain = std::get_if<StartDrain>(&command)) start_drain(*drain, operations.drain);
  if (std::holds_alternative<StartReload>(command)) operations.reload.begin();
  return "ok\n";
}

ops::ControlServer::Answer answer(std::string_view line, Operations& operations) {
  const ControlParse parse = parse_control_command(line);
  if (!parse.command) return {.text = "error: " + parse.error + "\n"};
  if (std::holds_alternative<ShowHelp>(*parse.command)) return {.text = kControlHelp};
  if (std::holds_alternative<Quit>(*parse.command)) return {.text = "ok\n", .close = true};
  if (std::holds_alternative<ShowReload>(*parse.command)) {
    return {.text = operations.reload.is_reading() ? "reading\n" : operations.reload_result + "\n"};
  }
  const std::string text = carry_out(*parse.command, operations);
  if (text == "ok\n") ops::log_info("control: " + std::string(line));
  return {.text = text};
}

void look_after_reload(Operations& operations, Instant now) {
  if (dpdk::ReloadSignal::take()) operations.reload.begin();
  const auto outcome = operations.reload.poll();
  if (!outcome) return;
  if (outcome->configuration) {
    operations.gateway.reconfigure(*outcome->configuration, now, outcome->rules);
    ops::set_log_level(outcome->configuration->log_level);
    operations.reload_result = "ok";
    ops::log_info("reload: taken over");
  } else {
    operations.reload_result = "error: " + outcome->error;
    ops::log_error("reload: refused, nothing has changed: " + outcome->error);
  }
}

// A group that the machine lacks is a mistake of the configuration: to start again does not help.
ops::SocketAccess access_of(const config::Access& access) {
  try {
    return ops::resolve(access.group, access.mode);
  } catch (const std::runtime_error& error) {
    throw config::ConfigError(error.what());
  }
}

// DPDK keeps the sockets in folders that only their owner may enter.
void open_folders_to(const ops::SocketAccess& stats, const ops::SocketAccess& control) {
  if (stats.is_private() && control.is_private()) return;
  const std::filesystem::path folder = dpdk::Eal::runtime_directory();
  for (const auto& each : {folder, folder.parent_path()}) {
    std::filesystem::permissions(each, std::filesystem::perms(0755));
  }
}

// What closing a port needs, and memory that a device is to reach.
std::vector<int> needed_by(const config::Gateway& config) {
  std::vector<int> capabilities;
  for (const config::Port* port : {&config.lan, &config.wan}) {
    if (port->driver == config::Driver::kAfXdp) capabilities.push_back(CAP_NET_ADMIN);
    if (port->driver == config::Driver::kPci) capabilities.push_back(CAP_IPC_LOCK);
  }
  return capabilities;
}

void run(config::Gateway config, const std::string& file) {
  ops::open_log("satrelayd", config.log_level);
  const ops::SocketAccess stats_access = access_of(config.stats_access);
  const ops::SocketAccess control_access = access_of(config.control_access);
  dpdk::StopSignal::install();
  dpdk::ReloadSignal::install();
  const std::uint16_t mtu = std::max(config.lan.mtu, config.wan.mtu);
  const dpdk::Eal eal({.program = "satrelayd",
                       .file_prefix = config.stats_socket_prefix,
                       .cpu = config.worker.cpu,
                       .memory = dpdk::PacketPool::memory_for(kPackets, mtu),
                       .ports = {config.lan, config.wan},
                       .verbose = config.log_level == config::LogLevel::kDebug});
  if (!eal.uses_hugepages()) ops::log_info("no hugepages: running on normal pages");
  dpdk::PacketPool pool("packets", kPackets, mtu);
  dpdk::Port lan("lan", config.lan, pool);
  dpdk::Port wan("wan", config.wan, pool);
  for (const dpdk::Port* port : {&lan, &wan}) {
    ops::log_info(port->description() + ", MTU " + std::to_string(port->mtu()) + ", " +
                  port->mac().to_string());
    for (const std::string& notice : port->notices()) ops::log_warning(notice);
  }
  dpdk::LargeMemory memory(gateway::plan_memory(config).arena.value());
  ops::log_info("memory for stored bytes: " + std::to_string(memory.bytes().size() >> 20) +
                " MiB on " + std::string(memory.backing()));
  const std::unique_ptr<JournalFile> journal = open_journal(config);
  KernelEntropy entropy;
  const DeviceClock clock;
  gateway::Gateway gateway(config, make_identity(wan.mac(), entropy, clock), memory.bytes(),
                           dpdk::now(), journal ? journal->records() : MutableBytes());
  std::optional<dpdk::ControlThread> journal_keeper;
  if (journal) {
    journal_keeper.emplace("flow-journal", kJournalInterval,
                           [&, was_well = true]() mutable { look_after(*journal, was_well); });
  }
  CaptureTap tap;
  Worker worker(gateway, lan, wan, pool, tap);
  ops::SnapshotBoard board;
  const ops::Telemetry telemetry(board);
  Publisher publisher(gateway, {&lan, &wan}, worker, board);
  const std::array<dpdk::Port*, 2> ports{&lan, &wan};
  dpdk::PollLoop loop(config.worker.polling, ports);
  const std::string stats_socket = dpdk::Eal::runtime_directory() + "/dpdk_telemetry.v2";
  open_folders_to(stats_access, control_access);
  ops::open_to(stats_socket, stats_access);
  ops::log_info("stats socket: " + stats_socket);
  Operations operations{
      .gateway = gateway,
      .drain = Drain(gateway, [](const std::string& text) { ops::log_info(text); }),
      .reload = Reload(file, config)};
  config.classes.clear();  // the gateway has them; what a reload replaces shall not stay here
  std::optional<ops::ControlServer> control;
  if (config.control_socket != config::kNoSocket) {
    const std::string path = config.control_socket.empty()
                                 ? dpdk::Eal::runtime_directory() + "/control.sock"
                                 : config.control_socket;
    control.emplace(
        path,
        ops::ControlServer::Wake{[&](int descriptor) { loop.watch(descriptor); },
                                 [&](int descriptor) { loop.unwatch(descriptor); }},
        [&](std::string_view line) { return answer(line, operations); }, control_access);
    ops::log_info("control socket: " + path);
  }
  std::optional<CaptureService> capture;
  std::optional<dpdk::ControlThread> capture_keeper;
  if (config.control_socket != config::kNoSocket) {
    capture.emplace(dpdk::Eal::runtime_directory() + "/capture.sock", control_access, tap,
                    epoch_utc, [](const std::string& text) { ops::log_info(text); });
    capture_keeper.emplace("capture", kCaptureInterval, [&] { capture->look(dpdk::now()); });
  }
  for (const config::Peer& peer : config.peers) {
    if (peer.security.keys) continue;
    ops::log_warning("peer " + peer.name +
                     ": security: none; anyone on the satellite segment can read what the hosts "
                     "say, and forge it");
  }
  ops::log_info("capabilities kept: " + dpdk::keep_only(needed_by(config)));
  ops::log_info("ready");
  loop.run([&](Instant now) {
    // First, so that the round sends what a command has changed.
    if (control) control->service(now);
    dpdk::PollLoop::Round round = worker.round(now);
    publisher.run(now);
    look_after_reload(operations, now);
    if (operations.drain.is_over(now)) dpdk::StopSignal::request();
    round.next_timeout = earlier(
        round.next_timeout, earlier(publisher.next_timeout(), operations.drain.next_timeout()));
    return round;
  });
  ops::log_info("stopping");
  say_farewell(gateway, worker);
}

int main_or_throw(int argc, char** argv) {
  CLI::App app("satrelayd: a transparent gateway that carries TCP over a satellite link");
  std::string file;
  bool check = false;
  app.add_option("-c,--config", file, "gateway.yaml (docs/operations.md lists its keys)")
      ->required();
  app.add_flag("--check", check, "only validate the configuration");
  app.set_version_flag("--version", SATRELAY_VERSION);
  CLI11_PARSE(app, argc, argv);
  try {
    config::Gateway config = config::load_gateway(file);
    if (check) {
      access_of(config.stats_access);
      access_of(config.control_access);
      std::cout << file << ": valid\n";
      return EXIT_SUCCESS;
    }
    run(std::move(config), file);
    return EXIT_SUCCESS;
  } catch (const config::ConfigError& error) {
    ops::log_error(error.what());
    return kBadConfiguration;
  }
}

}  // namespace
}  // namespace satrelay::satrelayd

int main(int argc, char** argv) {
  satrelay::ops::open_log("satrelayd", satrelay::config::LogLevel::kInfo);
  try {
    return satrelay::satrelayd::main_or_throw(argc, argv);
  } catch (const std::exception& error) {
    satrelay::ops::log_error(error.what());
    return EXIT_FAILURE;
  }
}
