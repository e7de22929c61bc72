// The client side of a control socket, and functions that both client and server use.
#pragma once

#include <sys/un.h>

#include <functional>
#include <string>
#include <string_view>

namespace satrelay::ops {

// Returns the address of the socket at `path`. Throws std::runtime_error if the path is empty or
// too long.
sockaddr_un control_address(const std::string& path);
bool connect_control(int descriptor, const sockaddr_un& address);
// Throws std::runtime_error with the path of the socket and the meaning of the error number.
[[noreturn]] void fail_control(const std::string& path, const std::string& what, int error);

// Sends one line and returns the answer. Throws std::runtime_error.
std::string send_control_command(const std::string& path, std::string_view line);

// Waits until a reload is complete, and returns its result: "ok\n" or "error: ...\n". Call this
// after the gateway has answered the command `reload` with "ok". Before each query, calls `go_on`.
// If `go_on` returns false, stops waiting and returns "reading\n". Throws std::runtime_error.
std::string await_reload(const std::string& path, const std::function<bool()>& go_on);

}  // namespace satrelay::ops
