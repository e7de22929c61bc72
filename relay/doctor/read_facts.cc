#include "relay/doctor/read_facts.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <system_error>
#include <thread>
#include <utility>

#include "config/outline/read_outline.h"
#include "config/readers/loader.h"
#include "config/text/error.h"
#include "relay/client/socket_search.h"
#include "relay/client/stats_client.h"
#include "relay/doctor/core_loads.h"
#include "relay/doctor/rights.h"
#include "relay/machine/interface_addresses.h"
#include "relay/ops/process/run_user.h"
#include "relay/version/version.h"

namespace satrelay::ctl::doctor {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kLoadInterval(300);
constexpr std::uint64_t kLatestEvents = 500;
// A gateway greets a silent peer once a round trip or more, and at most this seldom on a usual
// path.
constexpr std::chrono::milliseconds kBetweenReadings(2000);

FileFacts read_file(const std::string& path) {
  FileFacts facts;
  facts.path = path;
  if (path.empty()) return facts;
  try {
    facts.config = config::load_gateway(path);
    forget_secrets(*facts.config);
  } catch (const config::ConfigError& error) {
    facts.mistake = error.what();
  }
  facts.read_files = read_files_of(path, facts.config ? &*facts.config : nullptr);
  return facts;
}

// The prefix that names the gateway's socket; empty if the file does not give one.
std::string prefix_of(const FileFacts& file) {
  if (file.config) return file.config->stats_socket_prefix;
  if (file.path.empty()) return "";
  try {
    return config::load_outline(file.path).stats_socket_prefix;
  } catch (const config::ConfigError&) {
    return "";
  }
}

Json latest_events(StatsClient& client) {
  const std::uint64_t latest =
      number(client.query("/satrelay/event_numbers"), "latest").value_or(0);
  std::uint64_t next = latest > kLatestEvents ? latest - kLatestEvents : 1;
  Json events = Json::array();
  while (next <= latest) {
    const Json page = client.query("/satrelay/events," + std::to_string(next) + ",1000");
    if (page.empty()) break;
    for (const Json& event : page) events.push_back(event);
    const std::uint64_t last = number(events.back(), "number").value_or(0);
    if (last < next) break;
    next = last + 1;
  }
  return events;
}

std::string content_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

// The user that a gateway of this file becomes; nullopt if only root could start it.
std::optional<GatewayUser> user_of(const config::Gateway& config) {
  if (::geteuid() != 0) return std::nullopt;
  auto user = ops::find_user(config.user.empty() ? config::kGatewayUser : config.user);
  if (!user && config.user.empty()) user = ops::find_user(config::kNobody);
  if (!user) return std::nullopt;
  return GatewayUser{.name = user->name, .user = user->user, .groups = user->groups};
}

SocketState state_of(const fs::path& socket) {
  std::error_code error;
  if (socket.empty() || !fs::exists(socket, error)) {
    return error == std::errc::permission_denied ? SocketState::kSilent : SocketState::kAbsent;
  }
  return has_listener(socket) ? SocketState::kSilent : SocketState::kLeft;
}

void add_disk(const std::string& key, const fs::path& file, std::uint64_t needed, Facts& facts) {
  std::error_code error;
  const fs::path folder = fs::absolute(file).parent_path();
  const fs::space_info space = fs::space(folder, error);
  // --check warns of a folder that is missing (config/checks/file_doubt.h).
  if (error) return;
  // The files that exist already are a part of what the gateway needs.
  const std::uint64_t written = fs::exists(file, error) ? fs::file_size(file, error) : 0;
  facts.disks.push_back({.key = key,
                         .path = folder.string(),
                         .available_bytes = space.available,
                         .needed_bytes = needed - std::min(needed, error ? 0 : written)});
}

void read_disks(Facts& facts) {
  const config::Gateway& config = *facts.file.config;
  if (!config.records.file.empty()) {
    add_disk("records.file", config.records.file, config.records.rotate_size.value(), facts);
  }
  if (!config.journal.empty() && config.journal != config::kNoJournal) {
    add_disk("journal", config.journal, machine::journal_size(config).value(), facts);
  }
}

}  // namespace

std::uint64_t changed_ms(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return 0;
  return static_cast<std::uint64_t>(facts.st_mtim.tv_sec) * 1000 +
         static_cast<std::uint64_t>(facts.st_mtim.tv_nsec) / 1'000'000;
}

std::uint64_t utc_ms() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                        std::chrono::system_clock::now().time_since_epoch())
                                        .count());
}

std::vector<ReadFile> read_files_of(const std::string& path, const config::Gateway* config) {
  std::set<std::string> read{path};
  if (config != nullptr) {
    for (const config::Peer& peer : config->peers) {
      if (!peer.security.psk_file.empty()) read.insert(peer.security.psk_file);
    }
  }
  std::vector<ReadFile> files;
  files.reserve(read.size());
  for (const std::string& each : read) {
    files.push_back({.path = each, .changed_ms = changed_ms(each), .is_readable = true});
  }
  return files;
}

void forget_secrets(config::Gateway& config) {
  for (config::Peer& peer : config.peers) peer.security.forget_keys();
}

std::optional<GatewayUser> user_of(const StatsClient& client) {
  const auto process = client.server();
  if (!process) return std::nullopt;
  const std::string status = content_of("/proc/" + std::to_string(*process) + "/status");
  return status.empty() ? std::nullopt : std::optional(user_in_status(status));
}

GatewayFacts read_gateway(StatsClient& client, std::chrono::milliseconds window,
                          const Pause& pause) {
  GatewayFacts facts;
  facts.status = client.query("/satrelay/status");
  facts.ports = client.query("/satrelay/ports");
  facts.peers = client.query_all("/satrelay/peers");
  facts.links = client.query_all("/satrelay/links");
  facts.rules = client.query_all("/satrelay/rules");
  facts.counters = client.query("/satrelay/counters");
  facts.records = client.query("/satrelay/records");
  facts.bridged = client.query_all("/satrelay/bridged");
  facts.events = latest_events(client);
  const auto is_alive = [](const Json& peer) { return has_word(peer, "state", "alive"); };
  if (!std::ranges::all_of(facts.peers, is_alive)) {
    facts.earlier_peers = std::move(facts.peers);
    facts.earlier_counters = std::move(facts.counters);
    if (!pause(window)) throw StatsError("the reading was stopped");
    facts.peers = client.query_all("/satrelay/peers");
    facts.counters = client.query("/satrelay/counters");
  }
  return facts;
}

void read_machine(Facts& facts) {
  const config::Gateway& config = *facts.file.config;
  facts.machine = machine::read_machine_facts(config);
  if (!facts.gateway) facts.needed = machine::start_memory(config, ByteCount(0));
  const auto addresses = machine::addresses_of_interfaces();
  if (const auto found = addresses.find(config.lan.interface); found != addresses.end()) {
    facts.lan_addresses = found->second;
  }
  if (!facts.gateway && !config.worker.cpus.empty()) {
    facts.core_loads = read_core_loads(kLoadInterval);
  }
  read_disks(facts);
}

void read_rights(const std::optional<GatewayUser>& user, Facts& facts) {
  if (!user) return;
  facts.user = user->name;
  for (ReadFile& file : facts.file.read_files) file.is_readable = may_read(*user, file.path);
}

Facts read_facts(const std::string& file,
                 const std::function<fs::path(const std::string& prefix)>& socket_of) {
  Facts facts;
  facts.version = version();
  facts.file = read_file(file);
  std::optional<GatewayUser> user;
  fs::path socket;
  try {
    socket = socket_of(prefix_of(facts.file));
    StatsClient client(socket, StatsClient::kUsualTimeout);
    facts.gateway = read_gateway(client, kBetweenReadings, [](std::chrono::milliseconds time) {
      std::this_thread::sleep_for(time);
      return true;
    });
    user = user_of(client);
  } catch (const StatsError& error) {
    facts.gateway_trouble = error.what();
    facts.socket_state = state_of(socket);
    if (facts.file.config) user = user_of(*facts.file.config);
  }
  facts.now_ms = utc_ms();
  if (facts.file.config) read_machine(facts);
  read_rights(user, facts);
  return facts;
}

}  // namespace satrelay::ctl::doctor
