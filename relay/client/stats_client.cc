#include "relay/client/stats_client.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "relay/client/reply.h"

namespace satrelay::ctl {
namespace {

constexpr std::size_t kLongestGreeting = 4096;
constexpr std::size_t kLongestReply = 1 << 20;  // DPDK's own limit is 16 KiB
constexpr std::size_t kMostEntries = 1'000'000;

void set_timeout(int descriptor, std::chrono::milliseconds timeout) {
  const auto count = timeout.count();
  timeval value{};
  value.tv_sec = static_cast<time_t>(count / 1000);
  value.tv_usec = static_cast<suseconds_t>(count % 1000 * 1000);
  ::setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &value, sizeof value);
  ::setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &value, sizeof value);
}

std::string why_not_connected(const std::string& socket, int error) {
  switch (error) {
    case ENOENT:
    case ECONNREFUSED:
      return "no gateway runs at " + socket + "; is satrelayd started?";
    case EACCES:
    case EPERM:
      return "no permission for " + socket + "; run satrelayctl as the user of satrelayd";
    case EAGAIN:
      return socket + " does not accept connections; the gateway is overloaded or stuck";
    case EPROTOTYPE:
      return socket + " is not a stats socket";
    default:
      return socket + ": " + std::strerror(error);
  }
}

nlohmann::ordered_json parse(const std::string& text, const std::string& socket) {
  nlohmann::ordered_json value = nlohmann::ordered_json::parse(text, nullptr, false);
  if (!value.is_object()) throw StatsError(socket + " does not speak DPDK telemetry");
  return value;
}

// Older gateways write identifiers as numbers.
void write_identifiers_as_text(nlohmann::ordered_json& object) {
  if (!object.is_object()) return;
  for (const auto& [key, value] : object.items()) {
    if (value.is_number_unsigned() && is_identifier(key)) {
      value = std::to_string(value.get<std::uint64_t>());
    }
  }
}

}  // namespace

StatsClient::StatsClient(const std::filesystem::path& socket, std::chrono::milliseconds timeout,
                         std::function<bool()> is_stopped)
    : socket_(socket.string()),
      timeout_(timeout),
      is_stopped_(std::move(is_stopped)),
      descriptor_(-1),
      longest_reply_(kLongestGreeting) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_.empty() || socket_.size() >= sizeof address.sun_path) {
    throw StatsError("\"" + socket_ + "\" is too long, or empty, for the path of a socket");
  }
  std::memcpy(address.sun_path, socket_.c_str(), socket_.size() + 1);

  descriptor_ = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (descriptor_ < 0) throw StatsError(std::string("no socket: ") + std::strerror(errno));
  try {
    set_timeout(descriptor_, is_stopped_ ? std::min(timeout, kLook) : timeout);
    if (::connect(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      throw StatsError(why_not_connected(socket_, errno));
    }
    const nlohmann::ordered_json greeting = parse(receive(), socket_);
    const auto longest = greeting.find("max_output_len");
    if (longest == greeting.end() || !longest->is_number_unsigned()) {
      throw StatsError(socket_ + " does not speak DPDK telemetry, version 2");
    }
    longest_reply_ = std::min<std::size_t>(longest->get<std::size_t>(), kLongestReply);
    const auto version = greeting.find("version");
    if (version != greeting.end() && version->is_string()) built_with_ = *version;
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

StatsClient::~StatsClient() { ::close(descriptor_); }

std::optional<pid_t> StatsClient::server() const {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(descriptor_, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
  // The kernel reports the pid 0 for a process in another PID namespace.
  return peer.pid > 0 ? std::optional(peer.pid) : std::nullopt;
}

// Whether a call that has waited for kLook waits again.
bool StatsClient::goes_on(std::chrono::steady_clock::time_point give_up) const {
  if (!is_stopped_) return false;
  if (is_stopped_()) throw StatsError("no answer was awaited from " + socket_);
  return std::chrono::steady_clock::now() < give_up;
}

std::string StatsClient::receive() {
  const auto give_up = std::chrono::steady_clock::now() + timeout_;
  // One byte more than the longest reply that is allowed, so that a longer reply is noticed.
  std::string buffer(longest_reply_ + 1, '\0');
  ssize_t size = 0;
  do {
    size = ::recv(descriptor_, buffer.data(), buffer.size(), 0);
  } while (size < 0 &&
           (errno == EINTR || ((errno == EAGAIN || errno == EWOULDBLOCK) && goes_on(give_up))));
  if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
    throw StatsError("no answer from " + socket_ + "; the gateway is overloaded or stuck");
  }
  if (size < 0) throw StatsError(socket_ + ": " + std::strerror(errno));
  if (size == 0) throw StatsError(socket_ + " closed the connection; too many clients?");
  if (static_cast<std::size_t>(size) == buffer.size()) {
    throw StatsError(socket_ + " sent a longer answer than it announced");
  }
  buffer.resize(static_cast<std::size_t>(size));
  return buffer;
}

nlohmann::ordered_json StatsClient::query(const std::string& command) {
  ssize_t sent = 0;
  do {
    sent = ::send(descriptor_, command.data(), command.size(), MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0) throw StatsError(socket_ + ": " + std::strerror(errno));

  nlohmann::ordered_json reply = parse(receive(), socket_);
  const auto value = reply.find(command.substr(0, command.find(',')));
  if (value == reply.end() || value->is_null()) {
    throw StatsError(socket_ + " gives no answer to " + command +
                     "; the gateway is stuck, still starting, or not a satrelayd");
  }
  write_identifiers_as_text(*value);
  if (value->is_object()) std::ranges::for_each(*value, write_identifiers_as_text);
  return std::move(*value);
}

nlohmann::ordered_json StatsClient::query_all(const std::string& command) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  while (all.size() < kMostEntries) {
    nlohmann::ordered_json page = query(command + "," + std::to_string(all.size()) + ",1000");
    if (!page.is_object()) throw StatsError(socket_ + " answers " + command + " with no listing");
    if (page.empty()) break;
    for (nlohmann::ordered_json& entry : page) all.push_back(std::move(entry));
  }
  return all;
}

}  // namespace satrelay::ctl
