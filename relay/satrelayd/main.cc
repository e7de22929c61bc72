// satrelayd: the gateway at an earth station.
#include <malloc.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "config/checks/machine_memory.h"
#include "config/readers/loader.h"
#include "config/text/error.h"
#include "relay/doctor/taken_over.h"
#include "relay/dpdk/device/eal.h"
#include "relay/dpdk/device/port_watch.h"
#include "relay/dpdk/loop/clock.h"
#include "relay/dpdk/loop/poll_loop.h"
#include "relay/dpdk/loop/reload_signal.h"
#include "relay/dpdk/loop/scheduling.h"
#include "relay/dpdk/loop/stop_signal.h"
#include "relay/machine/cpu_topology.h"
#include "relay/machine/machine_faults.h"
#include "relay/machine/placement.h"
#include "relay/machine/start_memory.h"
#include "relay/ops/log/log.h"
#include "relay/satrelayd/commands/command_sockets.h"
#include "relay/satrelayd/commands/operations.h"
#include "relay/satrelayd/reporting/fault_watch.h"
#include "relay/satrelayd/reporting/flow_records.h"
#include "relay/satrelayd/reporting/port_event.h"
#include "relay/satrelayd/reporting/publisher.h"
#include "relay/satrelayd/reporting/reporting.h"
#include "relay/satrelayd/startup/devices.h"
#include "relay/satrelayd/startup/engine_set.h"
#include "relay/satrelayd/startup/interfaces.h"
#include "relay/satrelayd/startup/lan_follower.h"
#include "relay/satrelayd/startup/options.h"
#include "relay/satrelayd/startup/rights.h"
#include "relay/satrelayd/startup/run_locks.h"
#include "relay/satrelayd/startup/supervisor.h"
#include "relay/satrelayd/workers/link_sharing.h"
#include "relay/satrelayd/workers/worker_pool.h"
#include "relay/satrelayd/workers/worker_set.h"

namespace satrelay::satrelayd {
namespace {

// Exit statuses. relay/supervise reacts to them.
constexpr int kBadConfiguration = 2;
constexpr int kStartAgain = 3;
constexpr int kAlreadyRunning = 4;

// How long the program continues after SIGTERM, so that CLOSE reaches the peers, and RST reaches
// the hosts.
constexpr Duration kClosing = Duration::milliseconds(100);
// The longest time for which the program continues after SIGTERM. A budget limits the rate of
// CLOSEs, so many peers on a narrow link need more time than kClosing.
constexpr Duration kLongestClosing = Duration::seconds(2);

// A worker that has begun no round for so long hangs, or its core is taken.
constexpr Duration kHangs = Duration::seconds(1);

// The UTC time, in nanoseconds, at which dpdk::now() was 0.
std::uint64_t epoch_utc() {
  return wall_clock() - static_cast<std::uint64_t>((dpdk::now() - Instant()).to_nanoseconds());
}

// Logs how many records were lost while the program was closing, and how many flows have not ended.
// Counters would be useless here, since no client can read them any more.
void tell_of_unrecorded(std::uint64_t lost, std::size_t unfinished) {
  if (lost + unfinished == 0) return;
  ops::log_warning("records of flows: " + std::to_string(lost) + " found no room, and " +
                   std::to_string(unfinished) + " flows had not ended");
}

// A supervisor starts the program with these signals blocked, since it has no handlers then.
void allow_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, number);
  ::sigprocmask(SIG_UNBLOCK, &set, nullptr);
}

// Lets the supervisor set up interfaces that come back.
std::span<dpdk::Port* const> prepared_by(Supervisor& supervisor,
                                         std::span<dpdk::Port* const> ports) {
  for (dpdk::Port* port : ports) {
    port->set_preparation([&supervisor, port] { supervisor.prepare(port->name()); });
  }
  return ports;
}

using Objections = std::vector<config::Contradiction>;

// Returns the reasons if a configuration does not suit this machine.
Objections object(const config::Gateway& config) {
  Objections objections = object_to_access(config);
  auto excess = machine::find_excess(config, memory_of(config), config::machine_memory());
  if (excess) objections.push_back(*std::move(excess));
  return objections;
}

// Returns the reasons if this machine cannot start a gateway with the configuration.
Objections object_to_start(const config::Gateway& config) {
  Objections objections = object(config);
  auto absent = machine::object_to_cores(config.worker, machine::read_cpu_topology());
  if (absent) objections.push_back(*std::move(absent));
  return objections;
}

// The file may be checked on another machine, which has other interfaces and cores. So faults of
// the machine are warnings here.
void warn_of_machine(const config::Gateway& config) {
  const machine::MachineFacts facts = machine::read_machine_facts(config);
  for (const machine::Finding& finding :
       machine::judge_before_start(config, memory_of(config), facts)) {
    if (finding.severity == ops::Severity::kInfo) continue;
    std::cout << "warning: " << machine::to_line(finding) << '\n';
  }
}

// The users and groups that may use the sockets.
struct Accesses {
  ops::SocketAccess stats;
  ops::SocketAccess control;
};

struct Source {
  std::string file;
  std::optional<ctl::doctor::FileStamp> stamp;
};

// A running gateway. Its members are constructed in this order, and destroyed in the reverse order,
// since each member may use the members before it.
class Program {
 public:
  // `source` is the file of the configuration, as it was before it was read.
  Program(config::Gateway& config, const Source& source, const Accesses& accesses,
          Supervisor& supervisor);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  // Also after an exception, the ports are joined before the members free their memory.
  ~Program() { supervisor_.tell_done(); }

  // Call this once the ports are open. Logs the capabilities that the program keeps.
  void give_up_rights(const std::optional<ops::RunUser>& user);
  // Forwards frames until a stop signal arrives, a drain is over, or a port requires a restart.
  // Returns the exit status of the program.
  int run();

 private:
  records::RecordsReport report_of_records() const {
    return records_ ? records_->report() : records::RecordsReport();
  }
  void open_stats_socket(const Accesses& accesses);
  dpdk::PollLoop::Round round(Instant now);
  void let_lan_follow(Instant now);
  void send_closes();

  config::Gateway& config_;
  const std::string& file_;
  Supervisor& supervisor_;
  LanFollower follower_;
  Devices devices_;
  EngineSet engines_;
  CaptureTap tap_;
  std::optional<FlowRecords> records_;
  WorkerSet workers_;
  Reporting reporting_;
  dpdk::PortWatch port_watch_;
  dpdk::PollLoop loop_;
  LinkSharing sharing_;
  std::optional<WorkerPool> worker_pool_;
  Operations operations_;
  std::optional<CommandSockets> sockets_;
  std::optional<Publisher> publisher_;
  std::optional<FaultWatch> fault_watch_;
};

Program::Program(config::Gateway& config, const Source& source, const Accesses& accesses,
                 Supervisor& supervisor)
    : config_(config),
      file_(source.file),
      supervisor_(supervisor),
      devices_(config),
      engines_(config, devices_),
      records_(config.records.wanted() ? std::make_optional<FlowRecords>(config, epoch_utc)
                                       : std::nullopt),
      workers_(config, engines_, devices_, tap_, records_ ? &*records_ : nullptr),
      reporting_(workers_, devices_, engines_.identity().boot_epoch,
                 [this] { return report_of_records(); }),
      port_watch_(prepared_by(supervisor, devices_.ports),
                  [this](const dpdk::Port& port, const dpdk::PortChange& change) {
                    reporting_.tell(event_of(port.name(), change));
                  }),
      loop_(config.worker.polling, devices_.ports),
      sharing_(
          config, engines_.engines(), [this] { workers_.handover()->wake(0); }, dpdk::now()),
      operations_{
          .engines = engines_.engines(),
          .worker_pool = worker_pool_,
          .drain = Drain(engines_.engines(), [](const std::string& text) { ops::log_info(text); }),
          .reload = Reload(source.file, config, [this] { dpdk::run_on(devices_.other_cpus); }),
          .tell = [this](ops::Event event) { reporting_.tell(std::move(event)); },
          .took_over = [this](Reload::Running next) { reporting_.take_over(std::move(next)); }} {
  open_stats_socket(accesses);
  // The engines own the classes. A second owner would keep them in memory after a reload.
  config.classes.clear();
  sockets_.emplace(config, accesses.control, loop_, operations_, tap_, epoch_utc);
  for (config::Peer& peer : config.peers) {
    peer.security.forget_keys();  // the engines own the keys, as they own the classes
    if (peer.security.keys) continue;
    ops::log_warning("peer " + peer.name +
                     ": security: none; anyone on the satellite segment can read what the hosts "
                     "say, and forge it");
  }
  reporting_.take_over(ctl::doctor::taken_over(config, source.file, source.stamp));
}

void Program::open_stats_socket(const Accesses& accesses) {
  const std::string path = dpdk::Eal::runtime_directory() + "/dpdk_telemetry.v2";
  open_folders_to(accesses.stats, accesses.control);
  ops::open_to(path, accesses.stats);
  ops::log_info("stats socket: " + path);
}

void Program::give_up_rights(const std::optional<ops::RunUser>& user) {
  if (user) {
    for (dpdk::Port* port : devices_.ports) port->give_to(user->user);
    ops::give_runtime_folder(dpdk::Eal::runtime_directory(), user->user);
  }
  const std::string kept = satrelayd::give_up_rights(config_, user, supervisor_.is_there());
  ops::log_info((user ? "runs as " + user->name + "; " : "") + "capabilities kept: " + kept);
  if (user) warn_of_reload(config_, file_);
}

void Program::let_lan_follow(Instant now) {
  if (!config_.lan_follows_wan) return;
  if (const auto on = follower_.look(devices_.wan.link().up, now)) supervisor_.switch_lan(*on);
}

dpdk::PollLoop::Round Program::round(Instant now) {
  Worker& first = workers_.first();
  first.note_round(loop_.last_round());
  first.answer_bell(loop_.last_rest());
  // Serve the sockets first, so that a new command takes effect in this round.
  sockets_->service(now);
  sharing_.tick(0, now);
  dpdk::PollLoop::Round round = first.round(now, loop_.last_rest());
  round.next_timeout = earlier(round.next_timeout, sharing_.next_timeout(0));
  publisher_->run(now);
  let_lan_follow(now);
  supervisor_.run(now, [&] { return worker_pool_->all_have_run_since(now - kHangs); });
  look_after_reload(operations_);
  if (look_after_drain(operations_, now) || port_watch_.needs_new_start()) {
    dpdk::StopSignal::request();
  }
  round.next_timeout = earlier(
      round.next_timeout, earlier(publisher_->next_timeout(), operations_.drain.next_timeout()));
  return round;
}

void Program::send_closes() {
  Engines& engines = engines_.engines();
  const Instant began = dpdk::now();
  engines.shut_down(began);
  const auto goes_on = [&](Duration passed) {
    return passed < kClosing || (passed < kLongestClosing && engines.has_final_segments());
  };
  while (goes_on(dpdk::now() - began)) workers_.round(dpdk::now());
}

int Program::run() {
  if (!supervisor_.wait_for_ports()) throw StoppedAtStart();
  for (dpdk::Port* port : devices_.ports) port->begin_to_receive();
  if (records_) records_->begin();
  Handover* const handover = workers_.handover();
  if (handover != nullptr) loop_.watch(handover->descriptor(0));
  worker_pool_.emplace(config_.worker, devices_.ports, handover, sharing_, workers_.members());
  publisher_.emplace(engines_.engines(), *worker_pool_, workers_.first_reporter(),
                     reporting_.board());
  fault_watch_.emplace(file_, reporting_.changes(),
                       [this](ops::Event event) { reporting_.tell(std::move(event)); });
  ops::log_info("ready");
  loop_.run([this](Instant now) { return round(now); });
  ops::log_info("stopping");
  fault_watch_->stop();
  worker_pool_.reset();
  const std::uint64_t lost = workers_.records_lost();
  send_closes();
  supervisor_.tell_done();
  if (records_) {
    tell_of_unrecorded(workers_.records_lost() - lost, engines_.engines().unfinished_flows());
    records_->finish();
  }
  return port_watch_.needs_new_start() ? kStartAgain : EXIT_SUCCESS;
}

int run(config::Gateway config, const Source& source, bool force) {
  ops::open_log("satrelayd", config.log_level);
  for (const std::string& warning : config.remarks.warnings) ops::log_warning(warning);
  const std::optional<ops::RunUser> user = find_run_user(config);
  Accesses accesses{.stats = access_of(config.stats_access),
                    .control = access_of(config.control_access)};
  if (user) accesses.stats.owner = accesses.control.owner = user->user;
  warn_of_user(config, user);
  Supervisor supervisor;
  if (config.lan_follows_wan && !supervisor.is_there()) {
    ops::log_warning("lan_follows_wan has no effect: only satrelay-supervise switches port lan");
  }
  // Take the locks first: the next steps would disturb a gateway that runs already.
  const RunLocks locks(config, supervisor.is_there());
  if (!force) object_to_masters(config, supervisor.is_there());
  dpdk::StopSignal::install();
  dpdk::ReloadSignal::install();
  allow_signals();
  if (const std::string lack = machine::lacking_now(memory_of(config), config::machine_memory());
      !lack.empty()) {
    throw std::runtime_error(lack);
  }
  Program program(config, source, accesses, supervisor);
  program.give_up_rights(user);
  return program.run();
}

int main_or_throw(int argc, char** argv) {
  const ParsedOptions parsed = parse_options(argc, argv);
  if (!parsed.options) return parsed.exit;
  const auto& [file, check, force] = *parsed.options;
  try {
    const Source source{.file = file, .stamp = ctl::doctor::stamp_of(file)};
    config::Gateway config = config::load_gateway(file, check ? object : object_to_start);
    if (check) {
      for (const std::string& warning : config.remarks.warnings) std::cout << warning << '\n';
      warn_of_machine(config);
      for (const std::string& note : config.remarks.notes) std::cout << note << '\n';
      std::cout << file << ": valid\n";
      return EXIT_SUCCESS;
    }
    return run(std::move(config), source, force);
  } catch (const StoppedAtStart&) {
    ops::log_info("stopped before it was ready");
    return EXIT_SUCCESS;
  } catch (const ops::AlreadyRunning& error) {
    ops::log_error(error.what());
    return kAlreadyRunning;
  } catch (const config::ConfigError& error) {
    for (const std::string& line : config::lines_of(error)) ops::log_error(line);
    return kBadConfiguration;
  }
}

int run_main(int argc, char** argv) {
  try {
    return main_or_throw(argc, argv);
  } catch (const std::exception& error) {
    ops::log_error(error.what());
    return EXIT_FAILURE;
  }
}

// Ends the program while a thread still reads: no destructor of a static object may run beside it.
// By now all objects of the gateway are gone. Only DPDK's telemetry socket is still there, since
// DPDK removes it in a handler of exit().
[[noreturn]] void end_beside_a_thread(int status) {
  ::unlink(dpdk::Eal::stats_socket().c_str());
  std::fflush(stdout);  // not all streams: the thread may hold the lock of another one
  ::_exit(status);
}

}  // namespace
}  // namespace satrelay::satrelayd

int main(int argc, char** argv) {
  // Disable glibc's fast bins. If very many flows end, the bins would collect the flows' memory,
  // and a single free() would then join all of it, which takes 7 ms (docs/measurements.md, "The
  // longest call").
  mallopt(M_MXFAST, 0);
  satrelay::ops::open_log("satrelayd", satrelay::config::LogLevel::kInfo);
  const int status = satrelay::satrelayd::run_main(argc, argv);
  if (satrelay::satrelayd::FaultWatch::has_left_a_thread()) {
    satrelay::satrelayd::end_beside_a_thread(status);
  }
  return status;
}
