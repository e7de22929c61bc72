#include "relay/satpanel/options.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>

#include "config/text/ip_words.h"
#include "relay/satpanel/snmp/agent.h"
#include "relay/version/version.h"

namespace satrelay::panel {
namespace {

constexpr const char* kUsersHelp = "The file of users, as `satpanel user` writes it";
// The longest path of a UNIX socket (unix(7)).
constexpr std::size_t kLongestPath = 107;
constexpr std::string_view kUnix = "unix:";
constexpr const char* kBehindNginx =
    "let nginx serve other machines: --listen unix:/run/satpanel/panel.sock --listen-group "
    "www-data, and the site satpanel.conf (docs/panel.md, section \"From other machines\")";

void add_serve_options(CLI::App& app, ServeOptions& options, std::string& listen) {
  app.add_option("--listen", listen,
                 "Where to listen: 127.0.0.1:PORT, [::1]:PORT or unix:PATH, a socket for a web "
                 "server that serves other machines")
      ->type_name("ADDRESS:PORT|unix:PATH")
      ->capture_default_str();
  app.add_option("--listen-group", options.listen_group,
                 "A group that may connect to the socket of --listen, such as the web server's; "
                 "without it only root and the panel's own user may")
      ->type_name("GROUP");
  app.add_option("--socket", options.gateway.stats,
                 "Stats socket: a path, or the gateway's stats_socket_prefix; needed only if "
                 "several gateways run here")
      ->type_name("PATH|PREFIX");
  app.add_option("--control-socket", options.gateway.control,
                 "Control socket; by default beside the stats socket")
      ->type_name("PATH");
  app.add_option("--users", options.users, kUsersHelp)->type_name("FILE");
  app.add_option("--state", options.state, "A folder for the history, kept over restarts")
      ->type_name("FOLDER");
  app.add_option("--host", options.hosts,
                 "Another name by which browsers reach the panel, for example behind a proxy; at a "
                 "UNIX socket the only names, by default any")
      ->type_name("NAME");
  app.add_option("--webhook", options.webhooks,
                 "A file of URLs to which events are sent (docs/alarms.md)")
      ->type_name("FILE");
  app.add_option("--agentx", options.agentx,
                 fmt::format("Answers for SATRELAY-MIB, as a subagent of the snmpd that listens "
                             "there (default: {})",
                             SnmpAgent::kUsualSocket))
      ->type_name("[SOCKET]")
      ->expected(0, 1);
  app.add_option(
         "--traps", options.traps,
         "SNMP notifications: alarms and their end only, or all events, severity info included")
      ->transform(CLI::CheckedTransformer(std::map<std::string, SnmpAgent::Traps>{
          {"alarms", SnmpAgent::Traps::kOnlyAlarms}, {"events", SnmpAgent::Traps::kAllEvents}}))
      ->type_name("alarms|events");
  app.add_option("--name", options.name,
                 "Name of the gateway in alarms; by default the name of this machine")
      ->type_name("NAME");
}

// Options of earlier versions. They stand in units and scripts, so the refusal says what to do.
void add_retired_options(CLI::App& app) {
  for (const char* name : {"--certificate", "--key"}) {
    const auto refuse = [name](const CLI::results_t&) -> bool {
      throw CLI::ValidationError(
          std::string(name) +
          " is no longer an option, as satpanel has no TLS of its own. Remove " +
          "--certificate and --key, and " + kBehindNginx);
    };
    app.add_option(name, refuse)
        ->expected(0, 1)
        ->group("");  // without a group, --help does not show it
  }
}

CLI::App* add_user_command(CLI::App& parent, const char* name, const char* help,
                           UserOptions& options, UserOptions::Action action) {
  CLI::App* command = parent.add_subcommand(name, help);
  command->add_option("--users", options.users, kUsersHelp)->required();
  if (action != UserOptions::Action::kList) {
    command->add_option("NAME", options.name, "Name of the user or the token")->required();
  }
  command->callback([&options, action] { options.action = action; });
  return command;
}

void add_role(CLI::App& command, std::string& role) {
  command.add_option("--role", role, "Role of the user or the token")
      ->check(CLI::IsMember({"viewer", "operator", "administrator"}))
      ->capture_default_str();
}

}  // namespace

std::optional<ListenAddress> parse_listen(const std::string& text) {
  if (text.starts_with(kUnix)) {
    std::string path = text.substr(kUnix.size());
    const bool is_file = path.starts_with('/') && !path.ends_with('/');
    if (!is_file || path.size() > kLongestPath) return std::nullopt;
    return ListenAddress{.address = "", .port = 0, .socket = std::move(path)};
  }
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  std::string address = text.substr(0, colon);
  const auto port = config::parse_number(text.substr(colon + 1), 65535);
  in_addr v4{};
  in6_addr v6{};
  if (address.starts_with('[') && address.ends_with(']')) {
    address = address.substr(1, address.size() - 2);
    if (::inet_pton(AF_INET6, address.c_str(), &v6) != 1) return std::nullopt;
  } else if (::inet_pton(AF_INET, address.c_str(), &v4) != 1) {
    return std::nullopt;
  }
  if (!port) return std::nullopt;
  return ListenAddress{.address = address, .port = static_cast<std::uint16_t>(*port), .socket = ""};
}

std::vector<std::string> known_hosts(const ServeOptions& options) {
  if (!options.server.socket.empty()) return options.hosts;
  std::vector<std::string> hosts{"localhost", "127.0.0.1", "[::1]"};
  const bool is_v6 = options.server.address.find(':') != std::string::npos;
  hosts.push_back(is_v6 ? '[' + options.server.address + ']' : options.server.address);
  hosts.insert(hosts.end(), options.hosts.begin(), options.hosts.end());
  return hosts;
}

std::string object_to(const ServeOptions& options) {
  const ServerOptions& server = options.server;
  if (server.socket.empty()) {
    if (!options.listen_group.empty()) return "--listen-group goes with --listen unix:PATH only";
    if (is_loopback(server.address)) return "";
    return "--listen " + server.address +
           ": other machines can reach this address, and satpanel does not encrypt. Instead " +
           kBehindNginx;
  }
  if (options.users.empty()) {
    return "--listen " + std::string(kUnix) + server.socket +
           ": a web server lets other machines reach the panel there, so it needs --users";
  }
  return "";
}

ParsedOptions parse_options(int argc, const char* const* argv) {
  CLI::App app("satpanel: a satrelay gateway in the browser, and its metrics for Prometheus",
               "satpanel");
  app.set_version_flag("--version", "satpanel " + version_and_commit());
  app.require_subcommand(0, 1);
  ServeOptions serve;
  std::string listen = "127.0.0.1:8440";
  add_serve_options(app, serve, listen);
  add_retired_options(app);
  UserOptions user;
  std::string role = "viewer";
  using Action = UserOptions::Action;
  CLI::App* users = app.add_subcommand("user", "Users that may log in")->require_subcommand(1);
  add_role(*add_user_command(*users, "add",
                             "Adds a user, or changes one; the password is asked for, or read "
                             "from standard input",
                             user, Action::kAddUser),
           role);
  add_user_command(*users, "remove", "Removes a user, or a token", user, Action::kRemove);
  add_user_command(*users, "list", "Lists the users and tokens", user, Action::kList);
  CLI::App* token =
      app.add_subcommand("token",
                         "Tokens for programs, such as Prometheus, that ask without logging in")
          ->require_subcommand(1);
  add_role(*add_user_command(*token, "add", "Adds a token, and prints it only this once", user,
                             Action::kAddToken),
           role);
  try {
    app.parse(argc, argv);
    if (app.got_subcommand(users) || app.got_subcommand(token)) {
      user.role = parse_role(role).value_or(Role::kViewer);
      if (user.action != Action::kList && !is_user_name(user.name)) {
        throw CLI::ValidationError("NAME", "1 to 32 letters, digits, '.', '_' or '-'");
      }
      return {.options = user};
    }
    const auto address = parse_listen(listen);
    if (!address) {
      throw CLI::ValidationError("--listen",
                                 "write 127.0.0.1:8440, [::1]:8440 or unix:PATH, with an absolute "
                                 "path of at most 107 characters");
    }
    if (app.count("--agentx") != 0 && serve.agentx.empty()) {
      serve.agentx = SnmpAgent::kUsualSocket;
    }
    serve.server.address = address->address;
    serve.server.port = address->port;
    serve.server.socket = address->socket;
    if (const std::string objection = object_to(serve); !objection.empty()) {
      throw CLI::ValidationError(objection);
    }
    return {.options = serve};
  } catch (const CLI::ParseError& error) {
    const int status = app.exit(error);
    return {.options = std::nullopt, .exit = status == 0 ? 0 : 2};
  }
}

}  // namespace satrelay::panel
