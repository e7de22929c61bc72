// satrelayctl: shows a gateway's state from its stats socket, and sends commands to it.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <iostream>
#include <list>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "relay/client/explain.h"
#include "relay/client/reply.h"
#include "relay/client/socket_search.h"
#include "relay/client/stats_client.h"
#include "relay/metrics/exposition.h"
#include "relay/metrics/readings.h"
#include "relay/ops/control/control_grammar.h"
#include "relay/ops/control/nearest_word.h"
#include "relay/ops/events/severity.h"
#include "relay/ops/stats/history_words.h"
#include "relay/satrelayctl/commands/capture.h"
#include "relay/satrelayctl/commands/completion.h"
#include "relay/satrelayctl/commands/control.h"
#include "relay/satrelayctl/commands/event_time.h"
#include "relay/satrelayctl/commands/events.h"
#include "relay/satrelayctl/commands/examples.h"
#include "relay/satrelayctl/commands/keygen.h"
#include "relay/satrelayctl/commands/top.h"
#include "relay/satrelayctl/commands/watch.h"
#include "relay/satrelayctl/doctor/doctor.h"
#include "relay/satrelayctl/init/init.h"
#include "relay/satrelayctl/support/gateway_choice.h"
#include "relay/satrelayctl/support/tech_support.h"
#include "relay/satrelayctl/views/render.h"
#include "relay/satrelayctl/views/render_history.h"
#include "relay/satrelayctl/views/screen.h"
#include "relay/satrelayctl/views/views.h"
#include "relay/text/table.h"
#include "relay/version/version.h"

namespace satrelay::ctl {
namespace {

constexpr std::chrono::milliseconds kPatienceOfCompletion(300);

// Exit status for a wrong command line, as of all programs (docs/guide.md, "Exit statuses").
constexpr int kWrongUsage = 2;
constexpr const char* kLooks = "Show the state";
constexpr const char* kTells = "Command the gateway";
constexpr const char* kOthers = "Other commands";

int print(const std::string& text) {
  std::cout << text << std::flush;
  return std::cout ? 0 : 1;
}

// The arguments of a command of the control socket, as the user typed them.
struct ControlArguments {
  std::vector<std::string> values;    // values by position; "" if an argument was left out
  std::vector<std::string> settings;  // KEY=VALUE
};

class Program {
 public:
  Program();
  int run(int argc, char** argv);

 private:
  using Run = std::function<int()>;

  CLI::App* add(const std::string& name, const std::string& help, const char* group, Run run);
  void add_view(const View& view);
  void add_explain_options(CLI::App& command);
  void add_control(const ops::ControlCommandSpec& spec);
  void add_top();
  void add_history();
  void add_events();
  void add_metrics();
  void add_capture();
  void add_tech_support();
  void add_doctor();
  void add_keygen();
  void add_init();
  void add_completion();
  void add_help();

  void only_words(CLI::Option& option, std::vector<std::string> words);
  void takes_file(CLI::Option& option) { candidates_[&option].are_files = true; }

  int show(const View& view) const;
  int show_metrics() const;
  std::string look_at(const View& view, std::size_t width) const;
  void add_watch(CLI::App& command);
  int print_or_watch(const std::string& name,
                     const std::function<std::string(std::size_t width)>& look) const;
  std::string look_back(std::size_t width) const;
  std::string json_text(const Json& reply) const;
  int tell_gateway(const ops::ControlCommandSpec& spec, const ControlArguments& arguments) const;
  int help_about(const std::string& name) const;
  int complain(const CLI::ParseError& error) const;
  std::string guess(const std::string& typed) const;
  std::filesystem::path stats_socket() const { return gateway_.stats_socket(); }
  // True if several gateways run, and the user has named none of them.
  bool must_be_named() const {
    return !gateway_.is_named() && find_stats_sockets(runtime_folders()).size() > 1;
  }

  CLI::App app_{"Shows the state of a satrelay gateway, and gives it commands.", "satrelayctl"};
  std::vector<std::pair<CLI::App*, Run>> commands_;
  // A list, since the parser stores pointers to the elements, and so their addresses must not
  // change.
  std::list<ControlArguments> control_arguments_;
  GatewayChoice gateway_;
  std::uint64_t flow_ = 0;
  PacketQuestion packet_;
  bool json_ = false;
  bool all_ = false;
  bool open_metrics_ = false;
  bool wide_ = false;
  std::string watch_;  // interval in seconds; "" means that the view is shown once
  std::array<std::string, ops::kHistoryWords.size()> history_of_;  // indexed by HistoryOf
  std::string history_last_ = "60min";
  TopOptions top_;
  EventOptions events_;
  CaptureOptions capture_;
  TechSupportOptions support_;
  bool replace_ = false;
  std::string key_file_;
  CandidatesOf candidates_;
  std::string shell_;
  std::vector<std::string> names_wanted_;
  std::string help_command_;
};

Program::Program() {
  app_.set_version_flag("--version", "satrelayctl " + version_and_commit());
  for (CLI::Option* option : gateway_.add_options(app_)) takes_file(*option);
  app_.add_flag("--json", json_, "Print the reply as JSON instead of a table");
  app_.require_subcommand(1);
  app_.fallthrough();  // options may also follow the command
  for (const View& view : views()) add_view(view);
  add_top();
  add_history();
  add_events();
  add_metrics();
  add_capture();
  for (const ops::ControlCommandSpec& spec : ops::kControlCommands) {
    if (spec.use != ops::ControlUse::kSocketOnly) add_control(spec);
  }
  add_doctor();
  add_tech_support();
  add_init();
  add_keygen();
  add_completion();
  add_help();
  app_.footer(kExamples);  // set last, since commands that are added later would inherit it
}

// Makes the option accept only these words. Completion offers the same words.
void Program::only_words(CLI::Option& option, std::vector<std::string> words) {
  option.check(CLI::IsMember(words));
  candidates_[&option].words = std::move(words);
}

CLI::App* Program::add(const std::string& name, const std::string& help, const char* group,
                       Run run) {
  CLI::App* command = app_.add_subcommand(name, help)->group(group);
  commands_.emplace_back(command, std::move(run));
  return command;
}

void Program::add_view(const View& view) {
  CLI::App* command =
      add(std::string(view.name), view.help, kLooks, [this, &view] { return show(view); });
  if (view.name == "explain") add_explain_options(*command);
  if (view.name == "flow") {
    command->add_option("ID", flow_, "As in the first column of flows")->required();
  }
  if (view.name == "counters") {
    command->add_flag("--all", all_, "Show the counters that are 0, too");
  }
  command->add_flag("--wide", wide_,
                    "On a terminal: all columns, even if the lines are longer than it is wide");
  if (view.subject != Subject::kOne) add_watch(*command);
}

// The interval must follow '=' directly: after a blank, it would be read as a separate argument.
void Program::add_watch(CLI::App& command) {
  command.add_flag("--watch{2}", watch_, "Repeat every 2 s, or every SECONDS, until Ctrl-C")
      ->check(CLI::Range(0.2, 3600.0))
      ->option_text("[=SECONDS]");
}

void Program::add_explain_options(CLI::App& command) {
  command.add_option("SOURCE", packet_.source, "Address of the client")->required();
  command
      .add_option("DESTINATION", packet_.destination,
                  "Address of the server, with its port: 198.51.100.7:443, [2001:db8::7]:443")
      ->required();
  command.add_option("--protocol", packet_.protocol, "tcp, udp, icmp or a number")
      ->capture_default_str();
  command.add_option("--vlan", packet_.vlan, "The outermost tag, or untagged")
      ->capture_default_str();
  command.add_option("--dscp", packet_.dscp, "0 to 63, or a name like EF or AF41")
      ->capture_default_str();
  only_words(
      *command
           .add_option("--direction", packet_.direction,
                       "outbound: from a host of this LAN; inbound: from a host behind a peer")
           ->capture_default_str(),
      {"outbound", "inbound"});
}

// Adds a command of the control socket. Checks words from a fixed list here, so that a mistake is
// reported even if no gateway runs. The gateway checks all other values.
void Program::add_control(const ops::ControlCommandSpec& spec) {
  ControlArguments& arguments = control_arguments_.emplace_back();
  arguments.values.resize(spec.arguments.size());
  CLI::App* command = add(std::string(spec.name), spec.help, kTells,
                          [this, &spec, &arguments] { return tell_gateway(spec, arguments); });
  for (std::size_t i = 0; i < spec.arguments.size(); ++i) {
    const ops::ControlArgument& argument = spec.arguments[i];
    const bool is_option = argument.presence == ops::Presence::kOptional;
    std::string help = ops::settings_help(argument.settings);
    if (!help.empty() && *argument.value.help != '\0') help += "; or ";
    const std::string name =
        is_option ? option_name(argument.value.name) : std::string(argument.value.name);
    // The name of a parameter may not have '=' (CLI11 2.4).
    CLI::Option* option =
        argument.settings.empty()
            ? command->add_option(name, arguments.values[i], argument.value.help)
            : command->add_option("SETTING", arguments.settings, help + argument.value.help)
                  ->type_name(name);
    if (argument.value.type == ops::ValueType::kDuration) option->type_name("TIME");
    if (!is_option) option->required();
    Candidates candidates = candidates_of(argument);
    if (argument.value.type == ops::ValueType::kChoice) {
      option->check(CLI::IsMember(candidates.words));
    }
    candidates_[option] = std::move(candidates);
  }
  takes_file(*gateway_.add_control_option(*command));
}

void Program::add_top() {
  CLI::App* command =
      add("top", "Peers, rules, classes and the busiest flows, updated every second; q ends it",
          kLooks, [this] { return top(stats_socket(), top_); });
  command->add_option("--interval", top_.interval, "Seconds between two screens")
      ->check(CLI::Range(0.2, 3600.0))
      ->capture_default_str();
  command->add_flag("--once", top_.once, "One screen of 80x24 on standard output");
}

void Program::add_history() {
  CLI::App* command =
      add("history", "The last hour: rates, loss, round trip, queue, compression", kLooks, [this] {
        return print_or_watch("history", [this](std::size_t width) { return look_back(width); });
      });
  const auto add_name = [&](ops::HistoryOf of, const ops::NamesIn& names) {
    const auto place = static_cast<std::size_t>(of);
    const std::string word(ops::to_word(of));
    CLI::Option* option =
        command->add_option("--" + word, history_of_[place],
                            "History of this " + word + "; without it, of the gateway");
    option->type_name("NAME");
    candidates_[option].names = names;
    return option;
  };
  CLI::Option* link = add_name(ops::HistoryOf::kLink, {"peers", "link", "link"});
  CLI::Option* peer = add_name(ops::HistoryOf::kPeer, {"peers"});
  CLI::Option* of_class = add_name(ops::HistoryOf::kClass, {"classes"});
  link->excludes(peer)->excludes(of_class);
  peer->excludes(of_class);
  command
      ->add_option(
          "--last", history_last_,
          "10min: the last 10 minutes; 14:30: from that time on, by the clock of this machine")
      ->type_name("DURATION|TIME")
      ->capture_default_str();
  command->add_flag("--wide", wide_, "On a terminal: lines longer than it is wide");
  add_watch(*command);
}

void Program::add_events() {
  CLI::App* command = add(
      "events", "The events, newest last: peers, ports, commands and their users", kLooks, [this] {
        events_.json = json_;
        return events(stats_socket(), events_);
      });
  command->add_flag("--follow", events_.follow, "Continues with new events, until Ctrl-C");
  command
      ->add_option(
          "--since", events_.since,
          "10min: the last 10 minutes; 14:30 or \"2026-11-25 14:30\": by the clock of this machine")
      ->type_name("TIME|DURATION");
  only_words(
      *command->add_option("--severity", events_.severity, "Only events of this severity or worse")
           ->type_name("LEVEL"),
      {ops::kSeverityWords.begin(), ops::kSeverityWords.end()});
  command->add_option("--last", events_.last, "At most so many events; 50 without --since")
      ->check(CLI::PositiveNumber)
      ->type_name("COUNT");
}

void Program::add_metrics() {
  CLI::App* command = add("metrics", "The metrics of the gateway, for Prometheus", kLooks,
                          [this] { return show_metrics(); });
  command->add_flag("--openmetrics", open_metrics_, "OpenMetrics 1.0 instead of the text format");
}

void Program::add_capture() {
  CLI::App* command = add(
      "capture", "Writes the frames that pass a port into a file for Wireshark; Ctrl-C ends it",
      kLooks, [this] { return capture(stats_socket().parent_path() / "capture.sock", capture_); });
  only_words(*command->add_option("--port", capture_.wish.port, "lan or wan")->required(),
             {"lan", "wan"});
  command->add_flag("--decrypted", capture_.wish.decrypted,
                    "For the WAN: STP before encryption and after decryption");
  command->add_option("--filter", capture_.wish.filter, "As for tcpdump: 'tcp port 80'")
      ->type_name("EXPRESSION");
  takes_file(*command->add_option("--write", capture_.file, "FILE.pcapng, or - for standard output")
                  ->type_name("FILE")
                  ->required());
  command->add_option("--packets", capture_.wish.packets, "Ends after so many packets")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--seconds", capture_.wish.seconds, "Ends after so many seconds")
      ->check(CLI::PositiveNumber);
  command->add_option("--snaplen", capture_.wish.longest, "Keeps only so many bytes of each frame")
      ->check(CLI::Range(1, 16384));
}

void Program::add_tech_support() {
  CLI::App* command =
      add("tech-support",
          "Collects the state of the gateway and the machine in one archive, for support", kOthers,
          [this] {
            support_.version = version_and_commit();
            support_.existing = replace_ ? Existing::kReplace : Existing::kKeep;
            // If several gateways run, the user must name one, so stats_socket() throws here. If no
            // gateway runs, or if the only gateway does not answer, the archive says so.
            if (must_be_named()) stats_socket();
            return tech_support(support_, [this] { return stats_socket(); });
          });
  takes_file(
      *command->add_option("FILE", support_.file, "A new .tar.gz, which only its owner may read")
           ->required());
  takes_file(
      *command
           ->add_option(
               "--config", support_.configuration,
               "The gateway's configuration; the archive leaves out what looks like a secret")
           ->type_name("FILE")
           ->capture_default_str());
  const TechSupportOptions::Capture usual = support_.capture;
  CLI::Option* whole_frames =
      command
          ->add_option_function<std::uint64_t>(
              "--capture",
              [this](std::uint64_t packets) {
                support_.capture = {.packets = packets, .longest = 0};
              },
              "Captures so many whole frames of each port, with the data of hosts; without it, " +
                  std::to_string(usual.packets) + " frames, and of each the first " +
                  std::to_string(usual.longest) + " bytes; in both cases for 5 s at most")
          ->check(CLI::Range(1, 100'000))
          ->type_name("COUNT");
  command
      ->add_flag_callback(
          "--no-capture", [this] { support_.capture.packets = 0; }, "Captures no frames")
      ->excludes(whole_frames);
  command->add_flag("--force", replace_, "Replaces the file if it exists");
}

void Program::add_doctor() {
  const auto options = std::make_shared<doctor::Options>();
  CLI::App* command =
      add("doctor", "Looks for faults of the gateway, its file and the machine, with their cure",
          kLooks, [this, options] {
            options->json = json_;
            if (options->file.empty()) options->file = gateway_.file();
            return doctor::run(*options, [this] { return stats_socket(); });
          });
  takes_file(*doctor::add_options(*command, *options));
}

void Program::add_keygen() {
  CLI::App* command =
      add("keygen", "Makes the secret that two gateways share; needs no running gateway", kOthers,
          [this] {
            if (key_file_.empty()) return print(make_key());
            write_key_file(key_file_);
            return 0;
          });
  takes_file(*command->add_option(
      "FILE", key_file_,
      "A new file, which only its owner may read; without it, the secret is printed"));
}

void Program::add_init() {
  const auto options = std::make_shared<init::Options>();
  CLI::App* command = add("init", "Asks for what two gateways need, and writes their files",
                          kOthers, [options] { return init::run(*options); });
  for (CLI::Option* file : init::add_options(*command, *options)) takes_file(*file);
}

void Program::add_completion() {
  CLI::App* command =
      add("completion", "Prints a script that lets a shell complete the words", kOthers, [this] {
        return print(
            completion_script(app_, candidates_, shell_ == "zsh" ? Shell::kZsh : Shell::kBash));
      });
  only_words(*command->add_option("SHELL", shell_, "bash or zsh")->required(),
             {std::begin(kShellWords), std::end(kShellWords)});
  // A command for the completion script. If the gateway does not answer, the command prints neither
  // names nor a message.
  CLI::App* names = add(kNamesCommand, "Names in a listing of the gateway", "", [this] {
    try {
      StatsClient client(stats_socket(), kPatienceOfCompletion);
      const Json entries = client.query_all("/satrelay/" + names_wanted_[0]);
      return print(names_in(entries, names_wanted_[1].c_str(), names_wanted_[2].c_str()));
    } catch (const StatsError&) {
      return 1;
    }
  });
  names->add_option("WHERE", names_wanted_, "LISTING FIELD OTHERWISE")->required()->expected(3);
}

void Program::add_help() {
  CLI::App* command = add("help", "This list, or the help of a command", kOthers,
                          [this] { return help_about(help_command_); });
  command->add_option("COMMAND", help_command_, "A command of this list");
}

int Program::show(const View& view) const {
  return print_or_watch(std::string(view.name),
                        [this, &view](std::size_t width) { return look_at(view, width); });
}

int Program::print_or_watch(const std::string& name,
                            const std::function<std::string(std::size_t width)>& look) const {
  if (watch_.empty()) return print(look(wide_ ? text::kAnyWidth : output_width()));
  return watch({.seconds = std::stod(watch_),
                .title = app_.get_name() + ' ' + name + ", every " + watch_ + " s",
                .wide = wide_},
               look);
}

// Replaces invalid UTF-8, since texts such as host names come from the network. If --watch is
// given, each reply is a single line, so that another program can read it.
std::string Program::json_text(const Json& reply) const {
  return reply.dump(watch_.empty() ? 2 : -1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string Program::look_back(std::size_t width) const {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto since = parse_since(
      history_last_, static_cast<std::uint64_t>(
                         std::chrono::duration_cast<std::chrono::milliseconds>(now).count()));
  if (!since) throw StatsError("--last: " + std::string(kSinceHint));
  const auto chosen =
      std::ranges::find_if(history_of_, [](const auto& name) { return !name.empty(); });
  std::string subject(ops::to_word(ops::HistoryOf::kGateway));
  std::string question = subject;
  if (chosen != history_of_.end()) {
    const std::string word(
        ops::kHistoryWords[static_cast<std::size_t>(chosen - history_of_.begin())]);
    subject = word + ' ' + *chosen;
    question = word + ',' + *chosen;
  }
  StatsClient client(stats_socket(), StatsClient::kUsualTimeout);
  Json points = history_in_order(client.query_all("/satrelay/history," + question), *since);
  if (json_) {
    name_unmeasured("history", points);
    return json_text(points);
  }
  return render_history(points, {.subject = subject, .marks = terminal_marks(), .width = width});
}

std::string Program::look_at(const View& view, std::size_t width) const {
  StatsClient client(stats_socket(), StatsClient::kUsualTimeout);
  std::string command = "/satrelay/" + std::string(view.name);
  if (view.name == "flow") command += ',' + std::to_string(flow_);
  if (view.name == "explain") command += ',' + explain_parameters(packet_);
  Json reply = view.paging == Paging::kPaged ? client.query_all(command) : client.query(command);
  if (view.name == "flow" && reply.empty()) {
    throw StatsError("there is no flow " + std::to_string(flow_) +
                     ", or it has ended; see satrelayctl flows");
  }
  if (json_) {
    name_unmeasured(view.name, reply);
    return json_text(reply);
  }
  if (view.name == "counters" && all_) return render_counters(reply, Zeros::kShow, width);
  return view.render(reply, width);
}

// If the gateway does not run, prints metrics that say so instead of throwing: this is not a
// mistake of the user.
int Program::show_metrics() const {
  metrics::Readings readings;
  try {
    readings = metrics::read_gateway(stats_socket(), StatsClient::kUsualTimeout);
  } catch (const StatsError& error) {
    if (must_be_named()) throw;
    readings.error = error.what();
  }
  if (!readings.error.empty()) std::cerr << "satrelayctl: " << readings.error << '\n';
  return print(metrics::expose(readings, open_metrics_ ? metrics::ExpositionFormat::kOpenMetrics
                                                       : metrics::ExpositionFormat::kText));
}

int Program::tell_gateway(const ops::ControlCommandSpec& spec,
                          const ControlArguments& arguments) const {
  std::string line(spec.name);
  for (const std::string& value : arguments.values) {
    if (!value.empty()) line += ' ' + value;
  }
  for (const std::string& setting : arguments.settings) line += ' ' + setting;
  switch (spec.use) {
    case ops::ControlUse::kUntilRead:
      return reload(gateway_.target(), line);
    case ops::ControlUse::kUntilOver:
      return drain(gateway_.target(), line);
    case ops::ControlUse::kAnswered:
    case ops::ControlUse::kSocketOnly:
      break;
  }
  return tell(gateway_.target(), line);
}

std::string Program::guess(const std::string& typed) const {
  std::vector<std::string> names;
  for (const auto& [command, run] : commands_) {
    if (!command->get_group().empty()) names.push_back(command->get_name());
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  const auto meant = ops::nearest_word(typed, known);
  return "there is no command " + typed +
         (meant ? "; did you mean " + std::string(*meant) + "?" : "") +
         "\nsatrelayctl help lists all\n";
}

int Program::help_about(const std::string& name) const {
  // CLI11's help() would describe `help` itself, which is the command that was parsed.
  const auto about = [this](const CLI::App& app, const std::string& called) {
    return print(app_.get_formatter()->make_help(&app, called, CLI::AppFormatMode::Normal));
  };
  if (name.empty()) return about(app_, app_.get_name());
  for (const auto& [command, run] : commands_) {
    if (command->get_name() == name) return about(*command, app_.get_name() + ' ' + name);
  }
  std::cerr << "satrelayctl: " << guess(name);
  return kWrongUsage;
}

int Program::complain(const CLI::ParseError& error) const {
  const std::vector<std::string> left = app_.remaining();
  const bool is_unknown =
      app_.get_subcommands().empty() && !left.empty() && !left.front().starts_with('-');
  if (!is_unknown) return app_.exit(error) == 0 ? 0 : kWrongUsage;
  std::cerr << "satrelayctl: " << guess(left.front());
  return kWrongUsage;
}

int Program::run(int argc, char** argv) {
  try {
    app_.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return complain(error);
  }
  for (const auto& [command, run] : commands_) {
    if (command->parsed()) return run();
  }
  return kWrongUsage;
}

}  // namespace
}  // namespace satrelay::ctl

int main(int argc, char** argv) {
  try {
    return satrelay::ctl::Program().run(argc, argv);
  } catch (const std::exception& e) {
    std::cerr << "satrelayctl: " << e.what() << '\n';
    return 1;
  }
}
