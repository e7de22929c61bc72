// satrelayctl: shows what a gateway tells on its stats socket, and tells it what to do.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "relay/satrelayctl/capture.h"
#include "relay/satrelayctl/control.h"
#include "relay/satrelayctl/explain.h"
#include "relay/satrelayctl/keygen.h"
#include "relay/satrelayctl/render.h"
#include "relay/satrelayctl/reply.h"
#include "relay/satrelayctl/socket_search.h"
#include "relay/satrelayctl/stats_client.h"
#include "relay/satrelayctl/top.h"

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
  std::uint64_t flow = 0;
  ctl::PacketQuestion packet;
  std::string control_socket;
  bool json = false;
  bool all = false;
};

std::string show(const std::string& what, const Options& options) {
  ctl::StatsClient client(ctl::choose_stats_socket(options.socket, ctl::runtime_folders()),
                          kTimeout);
  const std::string command = "/satrelay/" + what;
  const bool paged = what == "peers" || what == "flows" || what == "rules" || what == "classes";
  nlohmann::ordered_json reply =
      paged               ? client.query_all(command)
      : what == "flow"    ? client.query(command + ',' + std::to_string(options.flow))
      : what == "explain" ? client.query(command + ',' + ctl::explain_parameters(options.packet))
                          : client.query(command);
  if (what == "flow" && reply.empty()) {
    throw ctl::StatsError("there is no flow " + std::to_string(options.flow) +
                          ", or it has ended; see satrelayctl flows");
  }
  if (options.json) {
    ctl::name_unmeasured(what, reply);
    // Host names and such come from the network: replace what is not UTF-8.
    return reply.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  }
  if (what == "status") return ctl::render_status(reply);
  if (what == "ports") return ctl::render_ports(reply);
  if (what == "peers") return ctl::render_peers(reply);
  if (what == "rules") return ctl::render_rules(reply);
  if (what == "classes") return ctl::render_classes(reply);
  if (what == "explain") return ctl::render_explanation(reply);
  if (what == "flows") return ctl::render_flows(reply);
  if (what == "flow") return ctl::render_flow(reply);
  return ctl::render_counters(reply, options.all ? ctl::Zeros::kShow : ctl::Zeros::kHide);
}

std::string line_of(std::string line, const std::vector<std::string>& words) {
  for (const std::string& each : words) line += ' ' + each;
  return line;
}

ctl::ControlTarget target(const Options& options) {
  // The stats socket is needed where the control socket stands beside it.
  const bool named = !options.control_socket.empty();
  const std::filesystem::path stats =
      named && options.socket.empty()
          ? std::filesystem::path()
          : ctl::choose_stats_socket(options.socket, ctl::runtime_folders());
  return {.stats = stats,
          .control = named ? std::filesystem::path(options.control_socket)
                           : stats.parent_path() / "control.sock"};
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Shows what a satrelay gateway is doing, and tells it what to do.", "satrelayctl");
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
  app.add_subcommand("rules", "What fell under each rule: connections, bytes, frames");
  app.add_subcommand("classes", "What shares the links: rates, what waits, what was sent in each");
  CLI::App* explain =
      app.add_subcommand("explain", "Which rule holds for a connection or a packet, and why");
  explain->add_option("SOURCE", options.packet.source, "Address of the client")->required();
  explain
      ->add_option("DESTINATION", options.packet.destination,
                   "Address of the server, with its port: 198.51.100.7:443, [2001:db8::7]:443")
      ->required();
  explain->add_option("--protocol", options.packet.protocol, "tcp, udp, icmp or a number")
      ->capture_default_str();
  explain->add_option("--vlan", options.packet.vlan, "The outermost tag, or untagged")
      ->capture_default_str();
  explain->add_option("--dscp", options.packet.dscp, "0 to 63, or a name like EF or AF41")
      ->capture_default_str();
  explain
      ->add_option("--direction", options.packet.direction,
                   "outbound: from a host of this LAN; inbound: from one behind a peer")
      ->check(CLI::IsMember({"outbound", "inbound"}))
      ->capture_default_str();
  app.add_subcommand("flows", "Every relayed TCP connection");
  app.add_subcommand("flow", "Both halves of one connection, and what each direction waits for")
      ->add_option("ID", options.flow, "As in the first column of flows")
      ->required();
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
  std::string bypass;
  CLI::App* switch_bypass = app.add_subcommand(
      "bypass", "New flows are bridged while it is on; those that are there go on");
  switch_bypass->add_option("STATE", bypass, "on or off")
      ->required()
      ->check(CLI::IsMember({"on", "off"}));
  std::string timeout;
  CLI::App* start_drain = app.add_subcommand(
      "drain",
      "New flows are bridged, and the gateway stops when no flow is left; once more: at once");
  start_drain->add_option("--timeout", timeout,
                          "Like 10min: flows that are left then are reset; without it none is");
  CLI::App* read_anew = app.add_subcommand(
      "reload", "Reads the configuration anew: taken over as a whole, or refused with the reason");
  std::string peer;
  std::string peer_rate;
  CLI::App* set_rate =
      app.add_subcommand("rate", "No more than this is sent to a peer from now on");
  set_rate->add_option("PEER", peer, "Its name")->required();
  set_rate->add_option("RATE", peer_rate, "Like 20Mbit; configured: as much as the link carries")
      ->required();
  std::string rule;
  std::vector<std::string> switches;
  CLI::App* set_rule = app.add_subcommand(
      "set", "Sets functions of a rule until the next reload: compress=off window=mirror");
  set_rule->add_option("RULE", rule, "Its name or its number")->required();
  set_rule
      ->add_option("SWITCH=VALUE", switches,
                   "compress=auto|on|off (also for connections that are there), "
                   "handshake=local|remote, ack=local|end-to-end, close=local|confirmed, "
                   "window=rewrite|mirror")
      ->required();
  std::string traffic_class;
  std::vector<std::string> part;
  CLI::App* set_class = app.add_subcommand(
      "class", "Sets the part of a class until the next reload: weight=4 guaranteed=2Mbit");
  set_class->add_option("NAME", traffic_class, "Its name")->required();
  set_class
      ->add_option("KEY=VALUE", part,
                   "weight=1 to 255, guaranteed=RATE|none, maximum=RATE|none; or configured: as it "
                   "was read")
      ->required();
  ctl::TopOptions top;
  CLI::App* live = app.add_subcommand(
      "top", "Peers, rules, classes and the busiest flows, anew every second; q ends it");
  live->add_option("--interval", top.interval, "Seconds between two screens")
      ->check(CLI::Range(0.2, 3600.0))
      ->capture_default_str();
  live->add_flag("--once", top.once, "One screen of 80x24 on standard output");
  ctl::CaptureOptions capture;
  CLI::App* look = app.add_subcommand(
      "capture", "Writes the frames that pass a port into a file for Wireshark; Ctrl-C ends it");
  look->add_option("--port", capture.port, "lan or wan")
      ->required()
      ->check(CLI::IsMember({"lan", "wan"}));
  look->add_flag("--decrypted", capture.decrypted,
                 "Of the WAN: STP before it is encrypted and after it was decrypted");
  look->add_option("--filter", capture.filter, "As for tcpdump: 'tcp port 80'");
  look->add_option("--write", capture.file, "FILE.pcapng, or - for standard output")->required();
  look->add_option("--packets", capture.packets, "Ends after so many")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  look->add_option("--seconds", capture.seconds, "Ends after so long")->check(CLI::PositiveNumber);
  look->add_option("--snaplen", capture.longest, "Keeps so many bytes of each frame")
      ->check(CLI::Range(1, 16384));
  std::string key_file;
  CLI::App* make_key = app.add_subcommand(
      "keygen", "Makes the secret that two gateways share; asks no gateway for anything");
  make_key->add_option("FILE", key_file, "A new file, which only its owner may read; else printed");
  for (CLI::App* command :
       {set, switch_bypass, start_drain, read_anew, set_rate, set_rule, set_class}) {
    command->add_option("--control-socket", options.control_socket,
                        "The gateway's control_socket, if its configuration names one");
  }
  CLI11_PARSE(app, argc, argv);

  try {
    if (make_key->parsed() && !key_file.empty()) {
      ctl::write_key_file(key_file);
      return 0;
    }
    if (make_key->parsed()) {
      std::cout << ctl::make_key() << std::flush;
      return std::cout ? 0 : 1;
    }
    if (set->parsed()) {
      return ctl::tell(target(options),
                       "capacity " + capacity.link + ' ' + capacity.way + ' ' + capacity.rate);
    }
    if (live->parsed()) {
      return ctl::top(ctl::choose_stats_socket(options.socket, ctl::runtime_folders()), top);
    }
    if (look->parsed()) {
      const auto stats = ctl::choose_stats_socket(options.socket, ctl::runtime_folders());
      return ctl::capture(stats.parent_path() / "capture.sock", capture);
    }
    if (set_rate->parsed()) return ctl::tell(target(options), "rate " + peer + ' ' + peer_rate);
    if (set_rule->parsed()) {
      return ctl::tell(target(options), line_of("set " + rule, switches));
    }
    if (set_class->parsed()) {
      return ctl::tell(target(options), line_of("class " + traffic_class, part));
    }
    if (switch_bypass->parsed()) return ctl::tell(target(options), "bypass " + bypass);
    if (read_anew->parsed()) return ctl::reload(target(options));
    if (start_drain->parsed()) return ctl::drain(target(options), timeout);
    const std::string text = show(app.get_subcommands().front()->get_name(), options);
    std::cout << text << std::flush;
    return std::cout ? 0 : 1;
  } catch (const std::exception& e) {
    std::cerr << "satrelayctl: " << e.what() << '\n';
    return 1;
  }
}
