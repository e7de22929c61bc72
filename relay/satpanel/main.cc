// satpanel: shows a gateway in the browser, and exports its metrics. It is a separate program, so
// that a fault in it does not stop the gateway. It needs only the rights to use the gateway's stats
// socket and control socket.
#include <curl/curl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "relay/ops/control/socket_access.h"
#include "relay/ops/log/log.h"
#include "relay/satpanel/gateway_link.h"
#include "relay/satpanel/history.h"
#include "relay/satpanel/http/http_server.h"
#include "relay/satpanel/observer.h"
#include "relay/satpanel/options.h"
#include "relay/satpanel/service.h"
#include "relay/satpanel/snmp/agent.h"
#include "relay/satpanel/users/sessions.h"
#include "relay/satpanel/users/user_command.h"
#include "relay/satpanel/users/user_file.h"
#include "relay/satpanel/webhooks/hook.h"
#include "relay/satpanel/webhooks/webhooks.h"
#include "relay/version/version.h"

namespace satrelay::panel {
namespace {

// An error in a file or a group that the command line names. A restart of the program would not
// help.
class WrongFile : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <typename Read>
auto from_file(const Read& read, const std::string& setting = "") {
  try {
    return read();
  } catch (const std::runtime_error& error) {
    throw WrongFile(setting + error.what());
  }
}

// Blocks SIGHUP, and the signals that end the program, in all threads. The main thread waits for
// these signals.
sigset_t block_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  return signals;
}

// The gateway's name. It distinguishes the gateway's events from those of other gateways.
std::string name_of(const ServeOptions& options) {
  if (!options.name.empty()) return options.name;
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

// Describes where the panel listens, for the log.
std::string place_of(const ServeOptions& options, std::uint16_t port) {
  const ServerOptions& server = options.server;
  if (!server.socket.empty()) {
    return fmt::format("unix:{}, for {}", server.socket,
                       options.listen_group.empty()
                           ? "root and its own user only; --listen-group lets a web server in"
                           : "the group " + options.listen_group);
  }
  const bool is_v6 = server.address.find(':') != std::string::npos;
  return fmt::format("http://{}{}{}:{}/", is_v6 ? "[" : "", server.address, is_v6 ? "]" : "", port);
}

// Functions that the observer's thread calls when there are new events. Other threads add and
// remove functions.
class Listeners {
 public:
  // Keeps a function in the list for as long as this object exists.
  class Listener {
   public:
    Listener(Listeners& all, std::function<void()> tell) : all_(all), tell_(std::move(tell)) {
      const std::lock_guard lock(all_.mutex_);
      all_.listeners_.insert(this);
    }
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;
    ~Listener() {
      const std::lock_guard lock(all_.mutex_);
      all_.listeners_.erase(this);
    }
    void tell() const { tell_(); }

   private:
    Listeners& all_;
    std::function<void()> tell_;
  };

  void tell() {
    const std::lock_guard lock(mutex_);
    for (const Listener* each : listeners_) each->tell();
  }

 private:
  std::mutex mutex_;
  std::set<const Listener*> listeners_;
};

int serve(const ServeOptions& options) {
  const sigset_t signals = block_signals();
  if (::geteuid() == 0) {
    ops::log_warning("runs as root, without need; give it a user of its own");
  }
  ServerOptions server_options = options.server;
  if (!options.listen_group.empty()) {
    server_options.access =
        from_file([&] { return ops::resolve(options.listen_group, 0660); }, "--listen-group: ");
  }
  UserFile users = from_file([&] { return UserFile(options.users); });
  Sessions sessions;
  GatewayLink link(options.gateway);
  History history(options.state.empty() ? options.state : options.state / "history");
  if (!history.notice().empty()) ops::log_warning(history.notice());
  std::vector<Hook> hooks;
  if (!options.webhooks.empty()) hooks = from_file([&] { return load_hooks(options.webhooks); });
  // The observer tells the other parts when there are new events. They then read the events from
  // the observer.
  Listeners listeners;
  Observer observer(link, history, [&] { listeners.tell(); });
  Webhooks webhooks(std::move(hooks), name_of(options), observer);
  const Listeners::Listener hooks_listen(listeners, [&] { webhooks.take_news(); });
  std::unique_ptr<SnmpAgent> agent;
  if (!options.agentx.empty()) {
    agent = std::make_unique<SnmpAgent>(options.agentx, name_of(options), options.traps, observer);
  }
  const Listeners::Listener agent_listens(listeners, [&] {
    if (agent != nullptr) agent->take_news();
  });
  Service service({.version = std::string(version()),
                   .hosts = known_hosts(options),
                   .webhooks = [&] { return webhooks.counters(); }},
                  link, observer, history, users, sessions);
  HttpServer server(server_options,
                    [&](const Request& request) { return service.answer(request); });
  const Listeners::Listener clients_listen(listeners, [&] { server.wake_streams(); });
  ops::log_info("listens at " + place_of(options, server.port()));
  while (true) {
    const timespec second{.tv_sec = 1, .tv_nsec = 0};
    const int signal = ::sigtimedwait(&signals, nullptr, &second);
    if (signal == SIGINT || signal == SIGTERM) break;
    if (users.refresh([](const std::string& what) { ops::log_error(what); })) {
      sessions.keep(*users.current());
      server.wake_streams();  // streams of removed or changed users must end
      ops::log_info("the list of users has changed");
    }
  }
  ops::log_info("ends");
  service.stop();
  return 0;
}

int run(int argc, char** argv) {
  const ParsedOptions parsed = parse_options(argc, argv);
  if (!parsed.options) return parsed.exit;
  ops::open_log("satpanel", config::LogLevel::kInfo);
  // Must be called before there are threads.
  curl_global_init(CURL_GLOBAL_DEFAULT);
  try {
    if (const auto* user = std::get_if<UserOptions>(&*parsed.options)) {
      return run_user_command(*user);
    }
    return serve(std::get<ServeOptions>(*parsed.options));
  } catch (const WrongFile& error) {
    ops::log_error(error.what());
    return 2;
  } catch (const std::exception& error) {
    ops::log_error(error.what());
    return 1;
  }
}

}  // namespace
}  // namespace satrelay::panel

int main(int argc, char** argv) { return satrelay::panel::run(argc, argv); }
