// satpanel: a gateway in the browser, and its metrics. A program of its own that needs no rights
// but to read the gateway's stats socket and to write to its control socket: whatever it does, the
// gateway goes on.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <exception>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <variant>

#include "relay/ops/log.h"
#include "relay/satpanel/gateway_link.h"
#include "relay/satpanel/history.h"
#include "relay/satpanel/http_server.h"
#include "relay/satpanel/observer.h"
#include "relay/satpanel/options.h"
#include "relay/satpanel/service.h"
#include "relay/satpanel/sessions.h"
#include "relay/satpanel/user_command.h"
#include "relay/satpanel/user_file.h"

namespace satrelay::panel {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path + ": cannot be read");
  return {std::istreambuf_iterator<char>(file), {}};
}

// What must end the program in order: blocked in all threads, and waited for in one.
sigset_t block_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  return signals;
}

int serve(const ServeOptions& options) {
  const sigset_t signals = block_signals();
  if (::geteuid() == 0) {
    ops::log_warning("runs as root, which it need not; give it a user of its own");
  }
  ServerOptions server_options = options.server;
  const bool is_tls = !server_options.certificate.empty();
  if (is_tls) {
    server_options.certificate = read_file(options.server.certificate);
    server_options.key = read_file(options.server.key);
  }
  UserFile users(options.users);
  Sessions sessions;
  GatewayLink link(options.gateway);
  History history(options.state.empty() ? options.state : options.state / "history");
  // The observer tells the server of news, and the server answers with what the observer has.
  std::unique_ptr<HttpServer> server;
  std::mutex server_mutex;
  Observer observer(link, history, [&] {
    const std::lock_guard lock(server_mutex);
    if (server != nullptr) server->wake_streams();
  });
  Service service({.version = SATRELAY_VERSION, .is_tls = is_tls, .hosts = known_hosts(options)},
                  link, observer, history, users, sessions);
  {
    auto listening = std::make_unique<HttpServer>(
        server_options, [&](const Request& request) { return service.answer(request); });
    const std::lock_guard lock(server_mutex);
    server = std::move(listening);
  }
  const bool is_v6 = options.server.address.find(':') != std::string::npos;
  ops::log_info(fmt::format("listens at {}://{}{}{}:{}/", is_tls ? "https" : "http",
                            is_v6 ? "[" : "", options.server.address, is_v6 ? "]" : "",
                            server->port()));
  while (true) {
    const timespec second{.tv_sec = 1, .tv_nsec = 0};
    const int signal = ::sigtimedwait(&signals, nullptr, &second);
    if (signal == SIGINT || signal == SIGTERM) break;
    if (users.refresh([](const std::string& what) { ops::log_error(what); })) {
      sessions.keep(*users.current());
      ops::log_info("users are read anew");
    }
  }
  ops::log_info("ends");
  service.stop();
  // Who is called by others goes last.
  std::unique_ptr<HttpServer> ended;
  {
    const std::lock_guard lock(server_mutex);
    ended = std::move(server);
  }
  ended.reset();
  return 0;
}

int run(int argc, char** argv) {
  const ParsedOptions parsed = parse_options(argc, argv);
  if (!parsed.options) return parsed.exit;
  ops::open_log("satpanel", config::LogLevel::kInfo);
  try {
    if (const auto* user = std::get_if<UserOptions>(&*parsed.options)) {
      return run_user_command(*user);
    }
    return serve(std::get<ServeOptions>(*parsed.options));
  } catch (const std::exception& error) {
    ops::log_error(error.what());
    return 1;
  }
}

}  // namespace
}  // namespace satrelay::panel

int main(int argc, char** argv) { return satrelay::panel::run(argc, argv); }
