#include "relay/satrelayctl/init/ports/traffic_look.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "config/text/descriptor.h"
#include "relay/satrelayctl/commands/interruption.h"

namespace satrelay::ctl::init {
namespace {

// The longest frame that the kernel hands over: a large frame of an interface with offloads.
constexpr std::size_t kMostFrame = std::size_t{1} << 17;
constexpr std::size_t kMostFramesAtOnce = 256;

struct Watched {
  Interface* interface;
  config::Descriptor socket;
  TrafficTally tally = {};
};

// Returns false, with errno, if the interface cannot be watched. The kernel ends promiscuous mode
// when the socket is closed.
bool watch_interface(const config::Descriptor& socket, const std::string& name) {
  const int index = static_cast<int>(::if_nametoindex(name.c_str()));
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex = index;
  packet_mreq promiscuous{};
  promiscuous.mr_ifindex = index;
  promiscuous.mr_type = PACKET_MR_PROMISC;
  const int yes = 1;
  return index != 0 &&
         ::setsockopt(socket.number(), SOL_PACKET, PACKET_IGNORE_OUTGOING, &yes, sizeof yes) == 0 &&
         ::setsockopt(socket.number(), SOL_PACKET, PACKET_ADD_MEMBERSHIP, &promiscuous,
                      sizeof promiscuous) == 0 &&
         ::bind(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

void read_frames(Watched& watched, std::vector<std::byte>& buffer) {
  for (std::size_t i = 0; i < kMostFramesAtOnce; ++i) {
    const ::ssize_t size = ::recv(watched.socket.number(), buffer.data(), buffer.size(), 0);
    if (size <= 0) return;
    watched.tally.add(ConstBytes(buffer).first(static_cast<std::size_t>(size)));
  }
}

}  // namespace

std::string look_at_traffic(Machine& machine, std::chrono::milliseconds time) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kPiece(50);
  std::vector<Watched> watched;
  std::string why = "there is no interface";
  for (Interface& interface : machine.interfaces) {
    config::Descriptor socket(::socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (socket.number() >= 0 && watch_interface(socket, interface.name)) {
      watched.push_back({&interface, std::move(socket)});
      continue;
    }
    why = errno == EPERM ? "only root may look at frames"
                         : interface.name + ": " + std::strerror(errno);
  }
  if (watched.empty()) return why;
  std::vector<std::byte> buffer(kMostFrame);
  std::vector<pollfd> polled;
  polled.reserve(watched.size());
  for (const Watched& each : watched) polled.push_back({each.socket.number(), POLLIN, 0});
  const auto end = Clock::now() + time;
  while (!is_interrupted()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0) break;
    ::poll(polled.data(), polled.size(), static_cast<int>(std::min(left, kPiece).count()));
    for (Watched& each : watched) read_frames(each, buffer);
  }
  for (const Watched& each : watched) each.interface->traffic = each.tally.traffic();
  return "";
}

}  // namespace satrelay::ctl::init
