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

int run_gateway(const Options& options, Wire& wire) {
  std::vector<std::string> command{gateway_program(), "-c", options.file};
  if (options.force) command.emplace_back("--force");
  ServiceManager manager;
  wire.lock();
  wire.remember_mtus();
  Supervision supervision(std::move(command), wire, std::move(manager));
  const int status = supervision.run();
  wire.put_mtus_back();
  return status;
}

int join_ports(Wire& wire) {
  wire.lock();
  const bool is_joined = wire.join() || !wire.can_be_joined();
  wire.put_mtus_back();
  return is_joined ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main_or_throw(int argc, char** argv) {
  const ParsedOptions parsed = parse_options(argc, argv);
  if (!parsed.options) return parsed.exit;
  try {
    Wire wire(ports_of(*parsed.options));
    switch (parsed.options->action) {
      case Action::kRun:
        return run_gateway(*parsed.options, wire);
      case Action::kJoin:
        return join_ports(wire);
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
