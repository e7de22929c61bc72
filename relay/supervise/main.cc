// satrelay-supervise: runs a gateway, and joins its ports while it does not forward.
#include <cstdlib>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "config/outline/read_outline.h"
#include "config/text/error.h"
#include "relay/ops/log/log.h"
#include "relay/ops/process/run_lock.h"
#include "relay/supervise/gateway_process.h"
#include "relay/supervise/options.h"
#include "relay/supervise/service_manager.h"
#include "relay/supervise/supervision.h"
#include "relay/supervise/wire.h"

namespace satrelay::supervise {
namespace {

config::Outline named_interfaces(const std::vector<std::string>& names) {
  config::Outline ports;
  ports.lan.interface = names[0];
  ports.wan.interface = names[1];
  return ports;
}

config::Outline ports_of(const Options& options) {
  if (options.file.empty()) return named_interfaces(options.interfaces);
  config::Outline ports = config::load_outline(options.file);
  if (!options.interfaces.empty() && (ports.lan.interface != options.interfaces[0] ||
                                      ports.wan.interface != options.interfaces[1])) {
    throw config::ConfigError(options.file + " has other ports than " + options.interfaces[0] +
                              " and " + options.interfaces[1] +
                              "; leave them out of the command line");
  }
  return ports;
}

// Another gateway may use these ports without a lock on them: one of an older version, or of
// another user.
void refuse_if_it_runs(const Options& options) {
  if (options.file.empty()) return;
  const std::string prefix = config::load_outline(options.file).stats_socket_prefix;
  ops::refuse_if_locked(ops::runtime_folder(prefix) / "lock", "stats_socket_prefix " + prefix);
}

bool same_device(const config::Port& a, const config::Port& b) {
  return a.driver == b.driver && a.interface == b.interface && a.mtu == b.mtu;
}

// The supervisor has locked the ports that the file had at the start. The gateway reads the file
// anew each time. Returns why the gateway must not be started, or nothing.
std::string object_to_ports(const std::string& file, const config::Outline& before) {
  try {
    const config::Outline now = config::load_outline(file);
    if (same_device(now.lan, before.lan) && same_device(now.wan, before.wan)) return {};
    return file + " has other ports than before; start the supervisor anew";
  } catch (const config::ConfigError&) {
    return {};  // the gateway reports the mistake, with its place
  }
}

// MTUs are put back if the gateway is not started again. A card may lose its link by each change.
bool is_final(int status) { return status == kStopped || status == kBadConfiguration; }

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

int run_gateway(const Options& options, const config::Outline& outline, Wire& wire) {
  std::vector<std::string> command{gateway_program(), "-c", options.file};
  if (options.force) command.emplace_back("--force");
  ServiceManager manager;
  refuse_if_it_runs(options);
  wire.lock();
  wire.pass_on_locks();
  wire.remember_mtus();
  Supervision supervision(
      std::move(command), [&] { return object_to_ports(options.file, outline); }, wire,
      std::move(manager));
  const int status = supervision.run();
  if (is_final(status)) wire.put_mtus_back();
  return status;
}

int join_ports(const Options& options, Wire& wire) {
  // systemd gives the result of the gateway to ExecStopPost=.
  if (variable("EXIT_STATUS") == std::to_string(kAlreadyRunning)) return EXIT_SUCCESS;
  refuse_if_it_runs(options);
  wire.lock();
  const bool is_joined = wire.join() || !wire.can_be_joined();
  const std::string result = variable("SERVICE_RESULT");
  if (result.empty() || result == "success") wire.put_mtus_back();
  return is_joined ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main_or_throw(int argc, char** argv) {
  const ParsedOptions parsed = parse_options(argc, argv);
  if (!parsed.options) return parsed.exit;
  try {
    const config::Outline outline = ports_of(*parsed.options);
    Wire wire(outline);
    switch (parsed.options->action) {
      case Action::kRun:
        return run_gateway(*parsed.options, outline, wire);
      case Action::kJoin:
        return join_ports(*parsed.options, wire);
      case Action::kPart:
        wire.lock();
        wire.part();
    }
    return EXIT_SUCCESS;
  } catch (const ops::AlreadyRunning& error) {
    ops::log_error(std::string(error.what()) + "; its ports are left alone");
    return kAlreadyRunning;
  } catch (const config::ConfigError& error) {
    ops::log_error(error.what());
    return kBadConfiguration;
  }
}

}  // namespace
}  // namespace satrelay::supervise

int main(int argc, char** argv) {
  satrelay::ops::open_log("satrelay-supervise", satrelay::config::LogLevel::kInfo);
  try {
    return satrelay::supervise::main_or_throw(argc, argv);
  } catch (const std::exception& error) {
    satrelay::ops::log_error(error.what());
    return EXIT_FAILURE;
  }
}
