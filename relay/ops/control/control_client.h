// The client's side of a control socket, and the functions by which both sides address it.
#pragma once

#include <sys/un.h>

#include <functional>
#include <string>
#include <string_view>

namespace satrelay::ops {

// Throws std::runtime_error if the path does not fit.
sockaddr_un control_address(const std::string& path);
bool connect_control(int descriptor, const sockaddr_un& address);
// Throws std::runtime_error that names the socket and the error number's meaning.
[[noreturn]] void fail_control(const std::string& path, const std::string& what, int error);

// Sends one line and returns the answer. Throws std::runtime_error.
std::string send_control_command(const std::string& path, std::string_view line);

// Waits for the result of a reload that was answered with "ok": returns "ok\n" or "error: ...\n".
// Calls `go_on` before each look, and returns "reading\n" once that says no. Throws
// std::runtime_error.
std::string await_reload(const std::string& path, const std::function<bool()>& go_on);

}  // namespace satrelay::ops
