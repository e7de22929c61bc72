#include "relay/satrelayctl/top.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "relay/satrelayctl/render_top.h"
#include "relay/client/stats_client.h"

namespace satrelay::ctl {
namespace {

constexpr std::chrono::seconds kTimeout(2);
// A page of flows is a question to the worker: not more than 20 of them a screen.
constexpr std::size_t kMostFlows = 240;
constexpr std::size_t kMostRules = 1000;

volatile std::sig_atomic_t interrupted = 0;
void interrupt(int) { interrupted = 1; }

nlohmann::ordered_json some_of(StatsClient& client, const std::string& command, std::size_t most) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  while (all.size() < most) {
    nlohmann::ordered_json page = client.query(command + "," + std::to_string(all.size()));
    if (!page.is_object() || page.empty()) break;
    for (nlohmann::ordered_json& entry : page) all.push_back(std::move(entry));
  }
  return all;
}

TopSample take_sample(StatsClient& client) {
  TopSample sample;
  sample.status = client.query("/satrelay/status");
  sample.peers = some_of(client, "/satrelay/peers", kMostRules);
  sample.rules = some_of(client, "/satrelay/rules", kMostRules);
  sample.classes = some_of(client, "/satrelay/classes", kMostRules);
  sample.flows = some_of(client, "/satrelay/flows", kMostFlows);
  sample.flows_in_all = sample.status.value("flows", std::size_t{0});
  sample.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  return sample;
}

// The other screen of the terminal, without cursor, whose keys come at once; as before at the end.
class Screen {
 public:
  Screen() {
    is_terminal_ = ::tcgetattr(STDIN_FILENO, &before_) == 0;
    if (is_terminal_) {
      termios raw = before_;
      raw.c_lflag &= static_cast<tcflag_t>(~(ICANON | ECHO));
      ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    }
    std::cout << "\x1b[?1049h\x1b[?25l" << std::flush;
  }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;
  ~Screen() {
    std::cout << "\x1b[?25h\x1b[?1049l" << std::flush;
    if (is_terminal_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }

  static ScreenSize size() {
    winsize window{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_row < 2) return {};
    return {window.ws_row - 1U, window.ws_col};  // the last line would scroll
  }
  static void show(const std::string& text) {
    std::string out = "\x1b[H";
    for (const char c : text) {
      if (c == '\n') out += "\x1b[K";
      out += c;
    }
    std::cout << out << "\x1b[J" << std::flush;
  }
  // Waits; true if somebody wants it to end.
  bool quits_within(double seconds) const {
    pollfd key{STDIN_FILENO, POLLIN, 0};
    const int timeout = static_cast<int>(seconds * 1000);
    if (::poll(&key, is_terminal_ ? 1 : 0, timeout) <= 0) return interrupted != 0;
    char pressed = 0;
    return ::read(STDIN_FILENO, &pressed, 1) != 1 || pressed == 'q' || pressed == 'Q';
  }

 private:
  bool is_terminal_ = false;
  termios before_{};
};

}  // namespace

int top(const std::filesystem::path& stats_socket, const TopOptions& options) {
  StatsClient client(stats_socket, kTimeout);
  TopSample before = take_sample(client);
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, interrupt);
  if (options.once || ::isatty(STDOUT_FILENO) == 0) {
    ::poll(nullptr, 0, static_cast<int>(options.interval * 1000));
    std::cout << render_top(before, take_sample(client), ScreenSize{}) << std::flush;
    return std::cout ? 0 : 1;
  }
  const Screen screen;
  Screen::show("The first figures come in a moment; q ends.\n");
  while (!screen.quits_within(options.interval)) {
    TopSample now = take_sample(client);
    Screen::show(render_top(before, now, Screen::size()));
    before = std::move(now);
  }
  return 0;
}

}  // namespace satrelay::ctl
