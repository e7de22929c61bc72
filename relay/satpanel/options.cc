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

void add_serve_options(CLI::App& app, ServeOptions& options, std::string& listen) {
  app.add_option("--listen", listen, "ADDRESS:PORT to listen at; for IPv6 [ADDRESS]:PORT")
      ->capture_default_str();
  app.add_option("--socket", options.gateway.stats,
                 "Stats socket: a path, or the gateway's stats_socket_prefix; needed only if "
                 "several gateways run here")
      ->type_name("PATH|PREFIX");
  app.add_option("--control-socket", options.gateway.control,
                 "Control socket; by default beside the stats socket");
  app.add_option("--users", options.users, kUsersHelp);
  app.add_option("--state", options.state, "A folder for the history, kept over restarts");
  app.add_option("--certificate", options.server.certificate,
                 "PEM file with the certificate and its chain; turns HTTPS on");
  app.add_option("--key", options.server.key, "PEM file with the key of the certificate");
  app.add_option("--host", options.hosts,
                 "Another name by which browsers reach the panel, for example behind a proxy");
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
                 "Name of the gateway in alarms; by default the name of this machine");
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
  return ListenAddress{address, static_cast<std::uint16_t>(*port)};
}

std::vector<std::string> known_hosts(const ServeOptions& options) {
  // If the panel listens at an address that is not a loopback address, any name is allowed. Users
  // must log in there, and a browser sends the login cookie only to the name under which the user
  // logged in.
  if (!is_loopback(options.server.address)) return {};
  std::vector<std::string> hosts{"localhost", "127.0.0.1", "[::1]"};
  const bool is_v6 = options.server.address.find(':') != std::string::npos;
  hosts.push_back(is_v6 ? '[' + options.server.address + ']' : options.server.address);
  hosts.insert(hosts.end(), options.hosts.begin(), options.hosts.end());
  return hosts;
}

std::string object_to(const ServeOptions& options) {
  if (options.server.certificate.empty() != options.server.key.empty()) {
    return "--certificate and --key belong together";
  }
  if (is_loopback(options.server.address)) return "";
  const std::string begin =
      "to listen at " + options.server.address + ", which other machines can reach, ";
  if (options.users.empty()) return begin + "the panel needs --users";
  if (options.server.certificate.empty()) return begin + "it needs --certificate and --key";
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
                                 "write ADDRESS:PORT, like 127.0.0.1:8440 or [::1]:8440");
    }
    if (app.count("--agentx") != 0 && serve.agentx.empty()) {
      serve.agentx = SnmpAgent::kUsualSocket;
    }
    serve.server.address = address->address;
    serve.server.port = address->port;
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
