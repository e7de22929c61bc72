#include "relay/satrelayctl/support/gateway_choice.h"

#include "config/model/schema.h"
#include "config/outline/read_outline.h"
#include "config/text/error.h"
#include "relay/client/socket_search.h"
#include "relay/client/stats_client.h"

namespace satrelay::ctl {

std::vector<CLI::Option*> GatewayChoice::add_options(CLI::App& app) {
  CLI::Option* const socket =
      app.add_option("--socket", socket_,
                     "Stats socket: a path, or the gateway's stats_socket_prefix; needed only "
                     "if several gateways run here")
          ->type_name("PATH|PREFIX");
  CLI::Option* const config =
      app.add_option_function<std::string>(
             "-c,--config", [this](const std::string& file) { use_sockets_of(file); },
             "The gateway.yaml of the gateway, instead of --socket")
          ->type_name("FILE")
          ->excludes(socket);
  return {socket, config};
}

CLI::Option* GatewayChoice::add_control_option(CLI::App& command) {
  return command
      .add_option("--control-socket", control_socket_,
                  "The gateway's control_socket, if its configuration names one")
      ->type_name("PATH");
}

void GatewayChoice::use_sockets_of(const std::string& file) {
  try {
    const config::Outline outline = config::load_outline(file);
    file_ = file;
    socket_ = outline.stats_socket_prefix;
    control_socket_ = outline.control_socket;
  } catch (const config::ConfigError& error) {
    throw CLI::ValidationError("--config", error.what());
  }
}

std::filesystem::path GatewayChoice::stats_socket() const {
  return choose_stats_socket(socket_, runtime_folders());
}

ControlTarget GatewayChoice::target() const {
  if (control_socket_ == config::kNoSocket) {
    throw StatsError("the gateway takes no commands: its file has control_socket: none");
  }
  // If the user has not named the control socket, it is in the folder of the stats socket.
  const bool named = !control_socket_.empty();
  const std::filesystem::path stats =
      named && !is_named() ? std::filesystem::path() : stats_socket();
  return {.stats = stats,
          .control = named ? std::filesystem::path(control_socket_)
                           : stats.parent_path() / "control.sock"};
}

}  // namespace satrelay::ctl
