// satrelayctl: shows what a gateway tells on its stats socket, and sets the capacity of its links.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "relay/ops/control_client.h"
#include "relay/satrelayctl/render.h"
#include "relay/satrelayctl/socket_search.h"
#include "relay/satrelayctl/stats_client.h"

namespace {

namespace ctl = satrelay::ctl;

constexpr std::chrono::seconds kTimeout(2);

struct Capacity {
  std::string link;
  std::string way;
  std::string rate;
};

struct Options {
  std::string socket;
  std::string control_socket;
  bool json = false;
  bool all = false;
};

std::string show(const std::string& what, const Options& options) {
  ctl::StatsClient client(ctl::choose_stats_socket(options.socket, ctl::runtime_folders()),
                          kTimeout);
  const std::string command = "/satrelay/" + what;
  const bool paged = what == "peers" || what == "flows";
  const nlohmann::ordered_json reply = paged ? client.query_all(command) : client.query(command);
  if (options.json) {
    // Host names and such come from the network: replace what is not UTF-8.
    return reply.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  }
  if (what == "status") return ctl::render_status(reply);
  if (what == "ports") return ctl::render_ports(reply);
  if (what == "peers") return ctl::render_peers(reply);
  if (what == "flows") return ctl::render_flows(reply);
  return ctl::render_counters(reply, options.all ? ctl::Zeros::kShow : ctl::Zeros::kHide);
}

// The worker of the gateway answers a line with a line.
int set_capacity(const Capacity& capacity, const Options& options) {
  const std::string path =
      !options.control_socket.empty()
          ? options.control_socket
          : (ctl::choose_stats_socket(options.socket, ctl::runtime_folders()).parent_path() /
             "control.sock")
                .string();
  const std::string answer = satrelay::ops::send_control_command(
      path, "capacity " + capacity.link + ' ' + capacity.way + ' ' + capacity.rate);
  if (answer == "ok\n") return 0;
  std::cerr << "satrelayctl: " << (answer.empty() ? "no answer\n" : answer);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Shows what a satrelay gateway is doing, and tells it what its links carry.",
               "satrelayctl");
  Options options;
  app.add_option("--socket", options.socket,
                 "Stats socket: a path, or the gateway's stats_socket_prefix; needed only if "
                 "several gateways run here")
      ->type_name("PATH|PREFIX");
  app.add_flag("--json", options.json, "Print the reply as JSON instead of a table");
  app.require_subcommand(1);
  app.fallthrough();  // options may also follow the command
  app.add_subcommand("status", "Uptime, flows, memory, and sums over all flows");
  app.add_subcommand("ports", "The LAN and the WAN port, with their errors");
  app.add_subcommand("peers", "The far gateways: state, round-trip time, loss");
  app.add_subcommand("flows", "Every relayed TCP connection");
  app.add_subcommand("counters", "Why frames were bridged or dropped and flows ended")
      ->add_flag("--all", options.all, "Show the counters that are 0, too");
  Capacity capacity;
  CLI::App* set = app.add_subcommand(
      "capacity", "Tells the gateway what a link carries from now on (adaptive coding)");
  set->add_option("LINK", capacity.link, "Its name under links: in the configuration")->required();
  set->add_option("WAY", capacity.way,
                  "send: obeyed here at once; receive: announced to the far gateway")
      ->required()
      ->check(CLI::IsMember({"send", "receive"}));
  set->add_option("RATE", capacity.rate,
                  "Like 12Mbit, at most what is configured; configured: back to that")
      ->required();
  set->add_option("--control-socket", options.control_socket,
                  "The gateway's control_socket, if its configuration names one");
  CLI11_PARSE(app, argc, argv);

  try {
    if (set->parsed()) return set_capacity(capacity, options);
    const std::string text = show(app.get_subcommands().front()->get_name(), options);
    std::cout << text << std::flush;
    return std::cout ? 0 : 1;
  } catch (const std::exception& e) {
    std::cerr << "satrelayctl: " << e.what() << '\n';
    return 1;
  }
}
