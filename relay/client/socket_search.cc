#include "relay/client/socket_search.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "relay/client/stats_client.h"

namespace satrelay::ctl {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSocketName = "dpdk_telemetry.v2";

}  // namespace

bool has_listener(const fs::path& socket) {
  const std::string path = socket.string();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int descriptor = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return false;
  const int status =
      ::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const int error = status == 0 ? 0 : errno;
  ::close(descriptor);
  return error != ECONNREFUSED && error != ENOENT && error != EPROTOTYPE;
}

std::vector<fs::path> runtime_folders() {
  std::vector<fs::path> folders;
  const auto add = [&](const char* parent) {
    if (parent == nullptr || *parent == '\0') return;
    const fs::path folder = fs::path(parent) / "dpdk";
    if (std::find(folders.begin(), folders.end(), folder) == folders.end()) {
      folders.push_back(folder);
    }
  };
  add(std::getenv("RUNTIME_DIRECTORY"));
  add("/var/run");
  // Root does not search these folders. Gateways of root never use them, and another user could
  // place a false socket there.
  if (::geteuid() != 0) {
    add(std::getenv("XDG_RUNTIME_DIR"));
    add("/tmp");
  }
  return folders;
}

std::vector<fs::path> find_stats_sockets(const std::vector<fs::path>& folders) {
  std::vector<fs::path> sockets;
  for (const fs::path& folder : folders) {
    std::error_code error;  // a folder that is missing or not readable has no sockets
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
      if (!entry->path().filename().string().starts_with("satrelay")) continue;
      const fs::path socket = entry->path() / kSocketName;
      if (has_listener(socket)) sockets.push_back(socket);
    }
  }
  std::sort(sockets.begin(), sockets.end());
  return sockets;
}

fs::path choose_stats_socket(const std::string& wanted, const std::vector<fs::path>& folders) {
  if (wanted.find('/') != std::string::npos) return wanted;
  if (!wanted.empty()) {
    for (const fs::path& folder : folders) {
      fs::path socket = folder / wanted / kSocketName;
      std::error_code error;
      if (fs::exists(socket, error) || error == std::errc::permission_denied) return socket;
    }
    throw StatsError("no gateway runs with the prefix " + wanted +
                     "; see stats_socket_prefix in its configuration");
  }
  const std::vector<fs::path> sockets = find_stats_sockets(folders);
  if (sockets.size() == 1) return sockets.front();
  if (sockets.empty()) {
    throw StatsError(
        "no gateway runs here, or not for this user; start satrelayd, use sudo, or name its "
        "stats socket with --socket");
  }
  std::string message = "several gateways run here; name one with --socket:";
  for (const fs::path& socket : sockets) message += "\n  --socket " + socket.string();
  throw StatsError(message);
}

}  // namespace satrelay::ctl
