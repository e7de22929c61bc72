// The web server in front of the panel says two things about a client: its address, and whether its
// connection is encrypted. It overwrites these headers, and only it and other members of the
// socket's group can reach the socket. A client of a TCP port could write the headers itself, so
// there they mean nothing.
#pragma once

#include <optional>
#include <span>
#include <string>

namespace satrelay::panel {

struct ForwardedClient {
  std::string address;  // IPv4 or IPv6, in its usual form
  bool is_https = false;
};

// The address of clients that the web server does not name: programs of this machine that connect
// to the socket themselves. They count as one client.
constexpr const char* kLocalClient = "127.0.0.1";

// Takes the values of all headers X-Real-IP and X-Forwarded-Proto of a request. Returns nullopt if
// a header is there twice or malformed: then the web server is set up in a wrong way, and a client
// could choose the address under which its wrong passwords are counted.
std::optional<ForwardedClient> read_forwarding(std::span<const std::string> addresses,
                                               std::span<const std::string> schemes);

}  // namespace satrelay::panel
