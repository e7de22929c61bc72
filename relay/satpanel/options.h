// The command line of satpanel.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "relay/satpanel/gateway_link.h"
#include "relay/satpanel/http/http_server.h"
#include "relay/satpanel/snmp/agent.h"
#include "relay/satpanel/users/users.h"

namespace satrelay::panel {

struct ServeOptions {
  GatewaySockets gateway;
  ServerOptions server;
  std::string listen_group;  // group that may connect to the socket `server.socket`
  std::filesystem::path users;
  // Folder of files that survive a restart; "" means that nothing is kept.
  std::filesystem::path state;
  // More names by which clients may address the panel.
  std::vector<std::string> hosts;
  std::filesystem::path webhooks;  // a file that lists webhooks; "" means that there are none
  std::string agentx;              // socket on which snmpd accepts subagents; "" means no SNMP
  SnmpAgent::Traps traps = SnmpAgent::Traps::kOnlyAlarms;
  std::string name;  // name of the gateway in alarms; "" means the machine's name
};

// Options of `satpanel user ...` and `satpanel token ...`, which change the file of users.
struct UserOptions {
  enum class Action : std::uint8_t { kAddUser, kAddToken, kRemove, kList };
  Action action{};
  std::filesystem::path users;
  std::string name;
  Role role = Role::kViewer;
};

struct ParsedOptions {
  std::optional<std::variant<ServeOptions, UserOptions>> options;
  int exit = 0;  // the exit status, if there are no options
};

ParsedOptions parse_options(int argc, const char* const* argv);

// An address and a port, as in "127.0.0.1:8440" or "[::1]:8440", or the path of a UNIX socket, as
// in "unix:/run/satpanel/panel.sock".
struct ListenAddress {
  std::string address;
  std::uint16_t port = 0;
  std::string socket;  // "" if there are an address and a port
};
std::optional<ListenAddress> parse_listen(const std::string& text);

// Returns the names by which clients may address a panel with these options. If the result is
// empty, any name is allowed. That is so at a UNIX socket without `hosts`: browsers reach the
// socket through a web server only, which passes on the requests under its own names.
std::vector<std::string> known_hosts(const ServeOptions& options);

// Returns the reason if these options are refused, and the cure: a panel that other machines could
// reach without encryption or without users. Returns "" if the options are accepted.
std::string object_to(const ServeOptions& options);

}  // namespace satrelay::panel
