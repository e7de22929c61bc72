// satrelayd: the gateway at an earth station.
#include <malloc.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "config/checks/machine_memory.h"
#include "config/readers/loader.h"
#include "config/text/error.h"
#include "relay/dpdk/device/eal.h"
#include "relay/dpdk/device/memory.h"
#include "relay/dpdk/device/packet_pool.h"
#include "relay/dpdk/device/port.h"
#include "relay/dpdk/device/port_watch.h"
#include "relay/dpdk/loop/clock.h"
#include "relay/dpdk/loop/control_thread.h"
#include "relay/dpdk/loop/poll_loop.h"
#include "relay/dpdk/loop/reload_signal.h"
#include "relay/dpdk/loop/scheduling.h"
#include "relay/dpdk/loop/stop_signal.h"
#include "relay/gateway/addresses/common_knowledge.h"
#include "relay/gateway/flows/table/memory_plan.h"
#include "relay/gateway/gateway.h"
#include "relay/gateway/recovery/journal_slices.h"
#include "relay/gateway/steering/steering.h"
#include "relay/ops/control/control_server.h"
#include "relay/ops/events/event_log.h"
#include "relay/ops/events/watch.h"
#include "relay/ops/log/log.h"
#include "relay/ops/process/run_lock.h"
#include "relay/ops/stats/history.h"
#include "relay/ops/stats/snapshot_board.h"
#include "relay/ops/stats/telemetry.h"
#include "relay/satrelayd/commands/capture_service.h"
#include "relay/satrelayd/commands/operations.h"
#include "relay/satrelayd/reporting/flow_records.h"
#include "relay/satrelayd/reporting/journal_file.h"
#include "relay/satrelayd/reporting/port_event.h"
#include "relay/satrelayd/reporting/publisher.h"
#include "relay/satrelayd/reporting/reports.h"
#include "relay/satrelayd/startup/options.h"
#include "relay/satrelayd/startup/rights.h"
#include "relay/satrelayd/startup/start_memory.h"
#include "relay/satrelayd/workers/cpu_topology.h"
#include "relay/satrelayd/workers/engines.h"
#include "relay/satrelayd/workers/handover.h"
#include "relay/satrelayd/workers/link_sharing.h"
#include "relay/satrelayd/workers/placement.h"
#include "relay/satrelayd/workers/worker.h"
#include "relay/satrelayd/workers/worker_pool.h"
#include "relay/satrelayd/workers/worker_report.h"
#include "relay/version/version.h"

namespace satrelay::satrelayd {
namespace {

// Exit statuses; deploy/satrelay-supervise acts on them.
constexpr int kBadConfiguration = 2;
constexpr int kStartAgain = 3;
constexpr int kAlreadyRunning = 4;

// CPUs for threads that must take no time from a worker.
std::vector<unsigned> without(std::vector<unsigned> cpus, const std::vector<unsigned>& of_workers) {
  std::erase_if(
      cpus, [&](unsigned cpu) { return std::ranges::find(of_workers, cpu) != of_workers.end(); });
  return cpus;
}

// Thrown if SIGTERM came before the gateway was ready.
struct StoppedAtStart {};
// Packets for device rings both ways on two ports, for bursts, and for frames that are being built.
// Several workers also need packets for the rings between them.
std::size_t packets_of(const config::Gateway& config) {
  constexpr std::size_t kOfOne = 16384 + gateway::Gateway::kMostHeldFrames;
  const std::size_t workers = config.worker.count;
  return workers * kOfOne + (workers > 1 ? workers * Handover::kRoom : 0);
}
// After SIGTERM: the time in which CLOSE must reach the peers and RST the hosts.
constexpr Duration kClosing = Duration::milliseconds(100);
// The longest time, for many peers on a narrow link, where a budget limits CLOSEs.
constexpr Duration kLongestClosing = Duration::seconds(2);

constexpr Duration kJournalInterval = Duration::seconds(1);
constexpr Duration kCaptureInterval = Duration::milliseconds(10);
constexpr Duration kWatchInterval = Duration::milliseconds(100);
constexpr Duration kLookForHistory = Duration::seconds(1);
constexpr std::chrono::seconds kPatienceOfHistory(1);

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
    // getrandom(2) returns up to 256 bytes whole; keys are shorter.
    if (getrandom(out.data(), out.size(), 0) != static_cast<::ssize_t>(out.size())) {
      throw std::runtime_error("the kernel gives no random numbers");
    }
  }
};

// Measures elapsed time as work: the worker has its core to itself, or nearly so.
class DeviceClock final : public Stopwatch {
 public:
  Instant read() const override { return dpdk::now(); }
};

// The identity of the first worker.
gateway::Identity make_identity(const MacAddress& wan_mac, Entropy& entropy,
                                const Stopwatch& stopwatch, bool lan_port_sums, std::size_t peers) {
  gateway::Identity identity;
  identity.boot_epoch = wall_clock();
  entropy.fill(std::as_writable_bytes(std::span(identity.secret)));
  identity.common = std::make_shared<gateway::CommonKnowledge>(
      gateway::HashKey{identity.secret[0], identity.secret[1]}, peers);
  identity.wan_mac = wan_mac;
  identity.entropy = &entropy;
  identity.stopwatch = &stopwatch;
  identity.lan_port_sums = lan_port_sums;
  return identity;
}

// If this fails, the gateway runs without a journal.
std::unique_ptr<JournalFile> open_journal(const config::Gateway& config) {
  if (config.journal == config::kNoJournal) return nullptr;
  try {
    const JournalFile::Where where{.file = dpdk::Eal::runtime_directory() + "/flows",
                                   .copy = config.journal};
    auto journal = std::make_unique<JournalFile>(
        where,
        JournalFile::Limits{static_cast<std::uint32_t>(
                                gateway::journal_records(config.limits.flows, config.worker.count)),
                            config.limits.idle_timeout},
        wall_clock());
    ops::log_info(journal->found());
    return journal;
  } catch (const std::exception& error) {
    ops::log_warning(std::string("no journal of the flows: ") + error.what());
    return nullptr;
  }
}

// Log a failure once, such as a full disk, until the journal works again.
void look_after(JournalFile& journal, bool& was_well) {
  try {
    journal.look_after(wall_clock());
    was_well = true;
  } catch (const std::exception& error) {
    if (was_well) ops::log_warning(std::string("journal of the flows: ") + error.what());
    was_well = false;
  }
}

// Finds events on the board since the last look, and writes all events that wait.
void look_for_events(const ops::SnapshotBoard& board, const records::RecordsReport& records,
                     ops::Watch& watch, ops::EventLog& events) {
  const auto latest = board.latest();
  if (latest) {
    const auto age = std::chrono::duration_cast<std::chrono::nanoseconds>(latest->age);
    watch.look(*latest->snapshot, records, Duration::nanoseconds(age.count()), dpdk::now());
  }
  events.write(dpdk::now());
}

// Adds to the history if that is due. Does nothing while the gateway stops, since no worker answers
// then.
void keep_history(ops::SnapshotBoard& board, ops::History& history, Instant& next) {
  const auto latest = board.latest();
  if (!latest || dpdk::now() < next || dpdk::StopSignal::requested()) return;
  next = dpdk::now() + ops::History::kInterval;
  const auto classes =
      board.ask([](const ops::LiveView& view) { return view.classes(); }, kPatienceOfHistory);
  history.add(*latest->snapshot, classes.value_or(std::vector<gateway::ClassSnapshot>()),
              dpdk::now(), wall_clock() / 1'000'000U);
}

void send_closes(Engines& engines, std::span<const std::unique_ptr<Worker>> workers) {
  const Instant began = dpdk::now();
  engines.shut_down(began);
  const auto goes_on = [&](Duration passed) {
    return passed < kClosing || (passed < kLongestClosing && engines.has_final_segments());
  };
  while (goes_on(dpdk::now() - began)) {
    for (const auto& worker : workers) worker->round(dpdk::now());
  }
}

std::uint64_t records_lost(std::span<const std::unique_ptr<Worker>> workers) {
  std::uint64_t lost = 0;
  for (const auto& worker : workers) lost += worker->counters().records_lost;
  return lost;
}

// Logs the records that were lost and the flows that have not ended during the closing. No client
// reads counters any more at that time.
void tell_of_unrecorded(std::uint64_t lost, std::size_t unfinished) {
  if (lost + unfinished == 0) return;
  ops::log_warning("records of flows: " + std::to_string(lost) + " found no room, and " +
                   std::to_string(unfinished) + " flows had not ended");
}

void tell_of_queues(const dpdk::Port& port, unsigned workers) {
  if (port.queues() == workers) return;
  ops::log_warning("port " + port.name() + ": the device has one queue for " +
                   std::to_string(workers) + " workers: the first one receives and sends for all");
}

StartMemory memory_of(const config::Gateway& config) {
  const std::uint16_t mtu = std::max(config.lan.mtu, config.wan.mtu);
  return start_memory(config, ByteCount(dpdk::PacketPool::memory_for(packets_of(config), mtu)));
}

void warn_of_placement(const config::Worker& worker, std::span<const dpdk::Port* const> ports) {
  std::vector<PortPlace> places;
  for (const dpdk::Port* port : ports) {
    places.push_back({.name = port->name(),
                      .node = port->numa_node(),
                      .missing_offloads = port->missing_offloads()});
  }
  for (const std::string& advice : advise(worker, places, read_cpu_topology())) {
    ops::log_warning(advice);
  }
}

// The reason why a configuration does not suit this machine.
std::optional<config::Contradiction> object(const config::Gateway& config) {
  if (auto objection = object_to_user(config)) return objection;
  return find_excess(config, memory_of(config), config::machine_memory());
}

// Called while memory is touched: other programs may take memory meanwhile, and the operator may
// stop the gateway.
void watch_memory(const dpdk::LargeMemory::Progress& progress) {
  if (dpdk::StopSignal::requested()) throw StoppedAtStart();
  if (progress.is_reserved) return;
  const std::string excess =
      config::exceeds_available(ByteCount(progress.left), config::machine_memory());
  if (excess.empty()) return;
  throw std::runtime_error(std::to_string(progress.left >> 20) + " MiB more for stored bytes are " +
                           excess);
}

// Locks what two gateways must not share.
class RunLocks {
 public:
  // Throws ops::AlreadyRunning, or std::system_error.
  explicit RunLocks(const config::Gateway& config) {
    const std::filesystem::path folder = ops::runtime_folder(config.stats_socket_prefix);
    ops::make_runtime_folder(folder);
    runtime_.emplace(folder / "lock", "stats_socket_prefix " + config.stats_socket_prefix);
    if (config.journal == config::kNoJournal || config.journal.empty()) return;
    try {
      journal_.emplace(config.journal + ".lock", "journal " + config.journal);
    } catch (const std::system_error&) {
      // Opening the journal will fail as well, and log the reason.
    }
  }

 private:
  std::optional<ops::RunLock> runtime_;
  std::optional<ops::RunLock> journal_;
};

int run(config::Gateway config, const std::string& file) {
  ops::open_log("satrelayd", config.log_level);
  for (const std::string& warning : config.warnings) ops::log_warning(warning);
  const std::optional<ops::RunUser> user = find_run_user(config);
  ops::SocketAccess stats_access = access_of(config.stats_access);
  ops::SocketAccess control_access = access_of(config.control_access);
  if (user) stats_access.owner = control_access.owner = user->user;
  warn_of_user(config, user);
  // Take the locks before any step that a running gateway would notice.
  const RunLocks locks(config);
  dpdk::StopSignal::install();
  dpdk::ReloadSignal::install();
  if (const std::string lack = lacking_now(memory_of(config), config::machine_memory());
      !lack.empty()) {
    throw std::runtime_error(lack);
  }
  const std::uint16_t mtu = std::max(config.lan.mtu, config.wan.mtu);
  const std::vector<unsigned> cpus = dpdk::own_cpus();  // the EAL pins this thread
  const dpdk::Eal eal({.program = "satrelayd",
                       .file_prefix = config.stats_socket_prefix,
                       .cpu = config.worker.cpu_of(0),
                       .memory = dpdk::PacketPool::memory_for(packets_of(config), mtu),
                       .ports = {config.lan, config.wan},
                       .verbose = config.log_level == config::LogLevel::kDebug});
  if (!eal.uses_hugepages()) ops::log_info("no hugepages: running on normal pages");
  dpdk::PacketPool pool("packets", packets_of(config), mtu);
  const unsigned count = config.worker.count;
  const dpdk::Spread spread{.queues = config.worker.count};
  dpdk::Port lan("lan", config.lan, pool, spread);
  dpdk::Port wan("wan", config.wan, pool, spread);
  for (const dpdk::Port* port : {&lan, &wan}) {
    tell_of_queues(*port, count);
    ops::log_info(port->description() + ", MTU " + std::to_string(port->mtu()) + ", " +
                  port->mac().to_string());
    for (const std::string& notice : port->notices()) ops::log_warning(notice);
  }
  warn_of_placement(config.worker, std::array<const dpdk::Port*, 2>{&lan, &wan});
  const Instant touching = dpdk::now();
  dpdk::LargeMemory memory(arena_of(config).value(), watch_memory);
  ops::log_info("memory for stored bytes: " + std::to_string(memory.bytes().size() >> 20) +
                " MiB on " + std::string(memory.backing()) + ", touched in " +
                std::to_string((dpdk::now() - touching).to_milliseconds()) + " ms");
  const std::unique_ptr<JournalFile> journal = open_journal(config);
  KernelEntropy entropy;
  const DeviceClock clock;
  gateway::Identity identity =
      make_identity(wan.mac(), entropy, clock, lan.sums_tcp(), config.peers.size());
  const gateway::JournalSlices journals =
      gateway::deal_out(journal ? journal->records() : MutableBytes(), count);
  if (journals.dropped > 0) {
    ops::log_warning("journal of the flows: no room for " + std::to_string(journals.dropped) +
                     " flows of an earlier run, as there are other workers now");
  }
  std::vector<std::unique_ptr<gateway::Gateway>> gateways;
  std::vector<gateway::Gateway*> each_gateway;
  for (unsigned i = 0; i < count; ++i) {
    identity.share = {.worker = i, .workers = count};
    const std::size_t size = memory.bytes().size() / count;
    gateways.push_back(std::make_unique<gateway::Gateway>(
        config, identity, memory.bytes().subspan(i * size, size), dpdk::now(), journals.slices[i]));
    each_gateway.push_back(gateways.back().get());
  }
  Engines engines(std::move(each_gateway));
  std::optional<dpdk::ControlThread> journal_keeper;
  if (journal) {
    journal_keeper.emplace("flow-journal", kJournalInterval,
                           [&, was_well = true]() mutable { look_after(*journal, was_well); });
  }
  CaptureTap tap;
  std::optional<FlowRecords> records;
  if (config.records.wanted()) records.emplace(config, epoch_utc);
  std::optional<Handover> handover;
  if (count > 1) handover.emplace("handover", count);
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<std::unique_ptr<WorkerReporter>> reporters;
  std::vector<WorkerReporter*> each_reporter;
  std::vector<WorkerPool::Member> members;
  for (unsigned i = 0; i < count; ++i) {
    std::optional<Worker::Team> team;
    if (count > 1) {
      team.emplace(Worker::Team{i, *handover,
                                gateway::Steering(config, {identity.secret[0], identity.secret[1]},
                                                  {identity.common, &identity.common->awaited})});
    }
    workers.push_back(std::make_unique<Worker>(engines[i], lan, wan, pool, tap, std::move(team)));
    if (records) workers.back()->record_flows(records->ring(i));
    reporters.push_back(std::make_unique<WorkerReporter>(
        engines[i], *workers.back(), std::array<const dpdk::Port*, 2>{&lan, &wan}, i));
    each_reporter.push_back(reporters.back().get());
    if (i > 0) members.push_back({workers.back().get(), reporters.back().get()});
  }
  Reports reports(std::move(each_reporter), {&lan, &wan});
  ops::SnapshotBoard board([&] { return reports.latest(); });
  ops::EventRing latest_events(identity.boot_epoch);
  ops::EventLog events(latest_events, {.log = ops::log,
                                       .time_ms = [] { return wall_clock() / 1'000'000U; },
                                       .name_of_user = ops::name_of_user});
  ops::History history;
  const auto report_of_records = [&] {
    return records ? records->report() : records::RecordsReport();
  };
  const ops::Telemetry telemetry(board, latest_events, history, report_of_records,
                                 std::string(version()));
  ops::Watch watch([&](ops::Event event) { events.tell(std::move(event)); });
  // A thread of its own, since the log may be slow.
  const dpdk::ControlThread watcher("events", kWatchInterval, [&] {
    look_for_events(board, report_of_records(), watch, events);
  });
  const dpdk::ControlThread historian("history", kLookForHistory, [&, next = Instant()]() mutable {
    keep_history(board, history, next);
  });
  const std::array<dpdk::Port*, 2> ports{&lan, &wan};
  const dpdk::PortWatch port_watch(ports,
                                   [&](const dpdk::Port& port, const dpdk::PortChange& change) {
                                     events.tell(event_of(port.name(), change));
                                   });
  dpdk::PollLoop loop(config.worker.polling, ports);
  const std::string stats_socket = dpdk::Eal::runtime_directory() + "/dpdk_telemetry.v2";
  open_folders_to(stats_access, control_access);
  ops::open_to(stats_socket, stats_access);
  ops::log_info("stats socket: " + stats_socket);
  LinkSharing sharing(
      config, engines, [&] { handover->wake(0); }, dpdk::now());
  std::optional<WorkerPool> worker_pool;
  Operations operations{
      .engines = engines,
      .worker_pool = worker_pool,
      .drain = Drain(engines, [](const std::string& text) { ops::log_info(text); }),
      .reload =
          Reload(file, config,
                 [off_workers = without(cpus, config.worker.cpus)] { dpdk::run_on(off_workers); }),
      .tell = [&](ops::Event event) { events.tell(std::move(event)); }};
  config.classes.clear();  // the gateway has them; a reload shall be able to free them
  std::optional<ops::ControlServer> control;
  if (config.control_socket != config::kNoSocket) {
    const std::string path = config.control_socket.empty()
                                 ? dpdk::Eal::runtime_directory() + "/control.sock"
                                 : config.control_socket;
    control.emplace(
        path,
        ops::ControlServer::Wake{[&](int descriptor) { loop.watch(descriptor); },
                                 [&](int descriptor) { loop.unwatch(descriptor); }},
        [&](std::string_view line, const ops::Caller& caller) {
          return answer(line, caller, operations);
        },
        control_access);
    ops::log_info("control socket: " + path);
  }
  std::optional<CaptureService> capture;
  std::optional<dpdk::ControlThread> capture_keeper;
  if (config.control_socket != config::kNoSocket) {
    capture.emplace(dpdk::Eal::runtime_directory() + "/capture.sock", control_access, tap,
                    epoch_utc, [&](ops::Event event) { events.tell(std::move(event)); });
    capture_keeper.emplace("capture", kCaptureInterval, [&] { capture->look(dpdk::now()); });
  }
  for (config::Peer& peer : config.peers) {
    peer.security.forget_keys();  // as for classes
    if (peer.security.keys) continue;
    ops::log_warning("peer " + peer.name +
                     ": security: none; anyone on the satellite segment can read what the hosts "
                     "say, and forge it");
  }
  if (user) {
    for (dpdk::Port* port : ports) port->give_to(user->user);
    ops::give_runtime_folder(dpdk::Eal::runtime_directory(), user->user);
  }
  const std::string kept = give_up_rights(config, user);
  ops::log_info((user ? "runs as " + user->name + "; " : "") + "capabilities kept: " + kept);
  if (user) warn_of_reload(config, file);
  if (records) records->begin();
  if (handover) loop.watch(handover->descriptor(0));
  worker_pool.emplace(config.worker, ports, handover ? &*handover : nullptr, sharing, members);
  Publisher publisher(engines, *worker_pool, *reporters[0], board);
  ops::log_info("ready");
  loop.run([&](Instant now) {
    workers[0]->note_round(loop.last_round());
    workers[0]->answer_bell(loop.last_rest());
    // First, so that the round already obeys a new command.
    if (control) control->service(now);
    sharing.tick(0, now);
    dpdk::PollLoop::Round round = workers[0]->round(now, loop.last_rest());
    round.next_timeout = earlier(round.next_timeout, sharing.next_timeout(0));
    publisher.run(now);
    look_after_reload(operations);
    if (look_after_drain(operations, now) || port_watch.needs_new_start()) {
      dpdk::StopSignal::request();
    }
    round.next_timeout = earlier(
        round.next_timeout, earlier(publisher.next_timeout(), operations.drain.next_timeout()));
    return round;
  });
  ops::log_info("stopping");
  worker_pool.reset();
  const std::uint64_t lost = records_lost(workers);
  send_closes(engines, workers);
  if (records) {
    tell_of_unrecorded(records_lost(workers) - lost, engines.unfinished_flows());
    records->finish();
  }
  return port_watch.needs_new_start() ? kStartAgain : EXIT_SUCCESS;
}

int main_or_throw(int argc, char** argv) {
  const ParsedOptions parsed = parse_options(argc, argv);
  if (!parsed.options) return parsed.exit;
  const auto& [file, check] = *parsed.options;
  try {
    config::Gateway config = config::load_gateway(file, object);
    if (check) {
      access_of(config.stats_access);
      access_of(config.control_access);
      for (const std::string& warning : config.warnings) std::cout << warning << '\n';
      for (const std::string& note : config.notes) std::cout << note << '\n';
      std::cout << file << ": valid\n";
      return EXIT_SUCCESS;
    }
    return run(std::move(config), file);
  } catch (const StoppedAtStart&) {
    ops::log_info("stopped before it was ready");
    return EXIT_SUCCESS;
  } catch (const ops::AlreadyRunning& error) {
    ops::log_error(error.what());
    return kAlreadyRunning;
  } catch (const config::ConfigError& error) {
    ops::log_error(error.what());
    return kBadConfiguration;
  }
}

}  // namespace
}  // namespace satrelay::satrelayd

int main(int argc, char** argv) {
  // If very many flows end, glibc would collect their memory in its fast bins, and join all of it
  // in one free() that takes 7 ms (docs/measurements.md, "The longest call").
  mallopt(M_MXFAST, 0);
  satrelay::ops::open_log("satrelayd", satrelay::config::LogLevel::kInfo);
  try {
    return satrelay::satrelayd::main_or_throw(argc, argv);
  } catch (const std::exception& error) {
    satrelay::ops::log_error(error.what());
    return EXIT_FAILURE;
  }
}
