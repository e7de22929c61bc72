#include "relay/satrelayctl/support/tech_support.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "relay/client/capture_session.h"
#include "relay/client/stats_client.h"
#include "relay/satrelayctl/commands/event_reader.h"
#include "relay/satrelayctl/commands/interruption.h"
#include "relay/satrelayctl/support/child_program.h"
#include "relay/satrelayctl/support/machine.h"
#include "relay/satrelayctl/support/program_log.h"
#include "relay/satrelayctl/support/redaction.h"
#include "relay/satrelayctl/support/support_folder.h"
#include "relay/satrelayctl/views/difference.h"
#include "relay/satrelayctl/views/render_history.h"
#include "relay/satrelayctl/views/views.h"

namespace satrelay::ctl {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kMostOfProgram(20);
constexpr std::chrono::seconds kMostOfArchiving(600);
constexpr std::size_t kLongestConfiguration = 1 << 20;
constexpr const char* kLog = "log.txt";
constexpr std::size_t kLogLines = 2000;
constexpr std::size_t kMostOfLog = 1 << 20;
constexpr const char* kUsualUnit = "satrelayd*.service";
// Listings that are read twice, to show how much the values change in the meantime.
constexpr std::string_view kReadTwice[] = {"counters", "ports", "peers"};

// Thrown at Ctrl-C, so that destructors clean up.
struct Interrupted {};

void say(const std::string& what) { std::cerr << "satrelayctl: " << what << std::endl; }

// Replaces invalid UTF-8, since texts like host names come from the network.
std::string json_text(const Json& value, int indent = 2) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

// A file to which a program writes.
class Output {
 public:
  explicit Output(const std::filesystem::path& file)
      : descriptor_(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {
    if (descriptor_ < 0) throw std::runtime_error(file.string() + ": " + std::strerror(errno));
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() { ::close(descriptor_); }
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

class Collection {
 public:
  Collection(const TechSupportOptions& options,
             const std::function<std::filesystem::path()>& find_socket)
      : options_(options), file_(options.file, options.existing) {
    try {
      socket_ = find_socket();
      StatsClient client(socket_, StatsClient::kUsualTimeout);
      gateway_ = client.server();
      dpdk_ = client.built_with();
      const Json status = client.query("/satrelay/status");
      if (status.contains("version")) version_ = status["version"].get<std::string>();
    } catch (const std::runtime_error& error) {
      silence_ = error.what();
    }
  }

  void collect() {
    begin("configuration");
    add_configuration();
    begin("versions and machine");
    add_versions();
    folder_.add("machine.txt", "processor, NUMA, memory, hugepages, cores set aside",
                describe_machine("/"));
    begin("network interfaces");
    add_network();
    begin("log");
    add_log();
    begin("gateway");
    if (silence_.empty()) {
      add_gateway();
    } else {
      say(silence_ + "; the archive continues without the gateway");
      folder_.lacks("all listings of the gateway", silence_);
    }
    folder_.write_manifest(heading());
  }

  void publish() {
    begin(options_.file.string());
    const std::string problem = run_program(
        {"/usr/bin/tar", "--create", "--gzip", "--owner=0", "--group=0", "--numeric-owner",
         "--directory", folder_.parent().string(), SupportFolder::kName},
        file_.descriptor(), kMostOfArchiving);
    if (is_interrupted()) throw Interrupted();
    if (!problem.empty()) throw std::runtime_error(problem);
    file_.publish();
  }

 private:
  static void begin(const std::string& what) {
    if (is_interrupted()) throw Interrupted();
    say(what);
  }

  void add_configuration() {
    const std::string name = "configuration.yaml";
    std::ifstream in(options_.configuration, std::ios::binary);
    std::string text(kLongestConfiguration + 1, '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (!in.eof() || in.bad()) {
      const int error = errno;
      const bool is_long = in.gcount() > static_cast<std::streamsize>(kLongestConfiguration);
      return folder_.lacks(name, options_.configuration.string() + ": " +
                                     (is_long ? "longer than 1 MiB" : std::strerror(error)) +
                                     (is_long ? "" : "; --config names another one"));
    }
    text.resize(static_cast<std::size_t>(in.gcount()));
    const Redacted redacted = without_secrets(text);
    folder_.add(name,
                options_.configuration.string() + "; what looks like a secret is replaced by " +
                    std::string(kLeftOut) + ": " + std::to_string(redacted.secrets) +
                    ". No psk_file was read",
                redacted.text);
  }

  void add_versions() {
    struct utsname kernel {};
    ::uname(&kernel);
    std::string text = "satrelayctl  " + options_.version + "\nkernel       " + kernel.sysname +
                       ' ' + kernel.release + ' ' + kernel.version + ' ' + kernel.machine +
                       "\nsystem       " + operating_system("/") + '\n';
    if (!version_.empty()) text += "satrelayd    " + version_ + ", as it runs\n";
    if (!dpdk_.empty()) text += "gateway's    " + dpdk_ + '\n';
    folder_.add("versions.txt", "of the programs, DPDK, the kernel and the system", text);
    if (version_.empty())
      folder_.lacks("version of satrelayd", "only a running gateway reports it");
    if (dpdk_.empty()) folder_.lacks("version of DPDK", "only a running gateway reports it");
  }

  void add_network() {
    const std::string name = "network.txt";
    folder_.add(name, "interfaces with driver and offloads (ethtool -i, -k, -l, -g), and PCI cards",
                describe_cards("/"));
    std::map<std::string, std::string> problems;  // one problem for each option of ethtool
    for (const std::string& interface : network_interfaces("/")) {
      std::ofstream(folder_.path_of(name), std::ios::app) << describe_interface("/", interface);
      const Output output(folder_.path_of(name));
      for (const char* what : {"-i", "-k", "-l", "-g"}) {
        const std::string problem = run_program({"/usr/sbin/ethtool", what, interface},
                                                output.descriptor(), kMostOfProgram);
        if (is_interrupted()) throw Interrupted();
        if (problem.empty()) continue;
        problems[fmt::format("ethtool {}", what)] = fmt::format("{}: {}", interface, problem);
      }
    }
    for (const auto& [what, why] : problems) folder_.lacks(what, why);
  }

  // If a gateway runs, adds the log from the place where this gateway writes it. Otherwise adds the
  // log of the service satrelayd.
  void add_log() {
    if (!gateway_) return add_journal(kUsualUnit, "");
    const LogOutput output = log_output("/", *gateway_);
    const std::string unit = unit_of("/", *gateway_);
    switch (output.kind) {
      case LogOutput::Kind::kFile:
        return add_log_file(output);
      case LogOutput::Kind::kSocket:
        return add_journal(unit.empty() ? kUsualUnit : unit, "");
      case LogOutput::Kind::kOther:
        return add_journal(kUsualUnit,
                           "satrelayd logs to " + output.words + ", which cannot be read again; ");
      case LogOutput::Kind::kUnknown:
        return add_journal(
            kUsualUnit, "the place that satrelayd logs to is not known (" + output.words + "); ");
    }
  }

  void add_log_file(const LogOutput& output) {
    try {
      folder_.add(kLog, "the last lines of " + output.words + ", the place that satrelayd logs to",
                  last_lines(output.file, kLogLines, kMostOfLog));
    } catch (const std::runtime_error& error) {
      folder_.lacks(kLog, output.words + ", the place that satrelayd logs to: " + error.what());
    }
  }

  void add_journal(const std::string& unit, const std::string& before) {
    const std::filesystem::path file = folder_.path_of(kLog);
    const Output output(file);
    const std::string problem =
        run_program({"/usr/bin/journalctl", "--unit", unit, "--lines", std::to_string(kLogLines),
                     "--no-pager", "--quiet", "--output", "short-iso-precise"},
                    output.descriptor(), kMostOfProgram);
    if (is_interrupted()) throw Interrupted();
    if (problem.empty() && std::filesystem::file_size(file) != 0) {
      return folder_.has(kLog, before + "the last lines of the unit " + unit + " in the journal");
    }
    std::filesystem::remove(file);
    folder_.lacks(
        kLog, before + (problem.empty() ? "the journal has no line of the unit " + unit : problem));
  }

  // Makes a new connection each time: DPDK's socket serves only ten connections at once, and other
  // clients may need one between our queries.
  Json ask(const View& view) const {
    StatsClient client(socket_, StatsClient::kUsualTimeout);
    const std::string command = "/satrelay/" + std::string(view.name);
    Json reply = view.paging == Paging::kPaged ? client.query_all(command) : client.query(command);
    name_unmeasured(view.name, reply);
    return reply;
  }

  using Replies = std::map<std::string, Json>;

  void add_listing(const View& view, const std::string& suffix, Replies& into) {
    if (is_interrupted()) throw Interrupted();
    const std::string name = std::string(view.name) + suffix + ".json";
    try {
      const Json& reply = into[std::string(view.name)] = ask(view);
      folder_.add(name, view.help, json_text(reply));
    } catch (const StatsError& error) {
      folder_.lacks(name, error.what());
    }
  }

  void add_gateway() {
    Replies first;
    Replies second;
    for (const View& view : views()) {
      if (view.subject == Subject::kGateway) add_listing(view, "", first);
    }
    const auto first_read = Clock::now();
    add_history();
    add_events();
    wait_and_capture();
    const std::chrono::duration<double> apart = Clock::now() - first_read;
    Json changes{{"seconds", apart.count()}};
    for (const View& view : views()) {
      const std::string name(view.name);
      if (std::ranges::find(kReadTwice, view.name) == std::end(kReadTwice)) continue;
      add_listing(view, "-later", second);
      if (first.contains(name) && second.contains(name)) {
        changes[name] = difference(first[name], second[name]);
      }
    }
    folder_.add("difference.json",
                "the changes between the two readings, and the time between them",
                json_text(changes));
  }

  void add_history() {
    const std::string name = "history.json";
    try {
      Json points = history_in_order(
          StatsClient(socket_, StatsClient::kUsualTimeout).query_all("/satrelay/history,gateway"),
          0);
      name_unmeasured("history", points);
      folder_.add(name, "the last hour in steps of ten seconds, the oldest first",
                  json_text(points));
    } catch (const StatsError& error) {
      folder_.lacks(name, error.what());
    }
  }

  void add_events() {
    const std::string name = "events.json";
    try {
      std::string lines;
      EventReader reader(socket_,
                         {.event = [&](const Json& event) { lines += json_text(event, -1); },
                          .notice = [](const std::string&) {}});
      reader.read_kept(std::nullopt);
      folder_.add(name, "the events of the gateway since its start, one a line", lines);
    } catch (const StatsError& error) {
      folder_.lacks(name, error.what());
    }
  }

  // Waits until the second reading is due, and captures frames in the meantime. A gateway allows
  // one capture at a time, so each port gets half of the time.
  void wait_and_capture() {
    const auto begun = Clock::now();
    const auto end = begun + options_.interval;
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(options_.interval).count();
    begin("waits " + std::to_string(seconds) + " s for the second reading" +
          (options_.capture.packets == 0 ? "" : ", and captures meanwhile"));
    add_capture("lan", begun + options_.interval / 2);
    add_capture("wan", end);
    waits(std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()));
    if (is_interrupted()) throw Interrupted();
  }

  void add_capture(const std::string& port, Clock::time_point end) {
    const std::string name = "capture-" + port + ".pcapng";
    if (options_.capture.packets == 0) return folder_.lacks(name, "left out by --no-capture");
    const std::string problem = capture(port, folder_.path_of(name), end);
    if (problem.empty()) return folder_.has(name, captured_part() + " that passed the port");
    std::filesystem::remove(folder_.path_of(name));
    folder_.lacks(name, problem);
  }

  std::string capture(const std::string& port, const std::filesystem::path& file,
                      Clock::time_point end) const {
    try {
      CaptureRequested wish;
      wish.port = port;
      wish.packets = options_.capture.packets;
      wish.longest = options_.capture.longest;
      CaptureSession session(socket_.parent_path() / "capture.sock", wish);
      std::ofstream out(file, std::ios::binary);
      session.write_to(out, [&](std::uint64_t) { return !is_interrupted() && Clock::now() < end; });
      out.flush();
      return out ? "" : std::string("it could not be written: ") + std::strerror(errno);
    } catch (const std::exception& error) {
      return error.what();
    }
  }

  std::string heading() const {
    struct utsname machine {};
    ::uname(&machine);
    return "The findings of satrelayctl tech-support at " + utc_now() + " on " + machine.nodename +
           (::geteuid() == 0 ? ", as root" : ", not as root: some findings may need root") +
           ".\nThey contain names, addresses of interfaces and peers, and the rules. Secrets are "
           "left out;\ncheck configuration.yaml yourself before you pass the archive on." +
           (options_.capture.packets == 0
                ? ""
                : "\nThe captures show which hosts communicate: " + captured_part() + ".") +
           "\n";
  }

  std::string captured_part() const {
    return options_.capture.longest == 0
               ? "whole frames, with the data of hosts,"
               : fmt::format("the first {} bytes of frames", options_.capture.longest);
  }

  const TechSupportOptions& options_;
  NewFile file_;  // created before the other members, so that an existing file is reported at once
  SupportFolder folder_;
  std::filesystem::path socket_;
  std::optional<pid_t> gateway_;  // the process that answers; nullopt if it is not known
  std::string version_;           // version of satrelayd; "" if it is not known
  std::string dpdk_;              // version of the gateway's DPDK; "" if it is not known
  std::string silence_;           // why the gateway does not answer; "" if it does
};

}  // namespace

int tech_support(const TechSupportOptions& options,
                 const std::function<std::filesystem::path()>& find_socket) {
  heed_interruptions();
  try {
    Collection collection(options, find_socket);
    collection.collect();
    collection.publish();
  } catch (const Interrupted&) {
    say("interrupted; no archive was written");
    return 128 + SIGINT;
  }
  say(options.file.string() +
      " is written; its MANIFEST lists the contents, and the parts that are missing");
  return 0;
}

}  // namespace satrelay::ctl
