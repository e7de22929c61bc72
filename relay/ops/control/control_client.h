// The client's side of a control socket, and what both sides need to name it.
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

// Sends one line, returns the answer. Throws std::runtime_error.
std::string send_control_command(const std::string& path, std::string_view line);

// What comes of a reload that was answered with "ok": "ok\n", or "error: ...\n". "reading\n" if
// `go_on`, which is asked before each look, has said no meanwhile. Throws std::runtime_error.
std::string await_reload(const std::string& path, const std::function<bool()>& go_on);

}  // namespace satrelay::ops
