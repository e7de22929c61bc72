// Sends SYNs from forged addresses at a given rate until it is stopped. It is paced by the clock,
// so that it leaves processor time to its target on the same machine.
#include <net/if.h>
#include <netpacket/packet.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>
#include <thread>

#include "pep/base/address.h"
#include "pep/base/random.h"
#include "tests/sim/peers/forged_syn.h"

namespace satrelay {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kBatch = 64;
constexpr auto kTick = std::chrono::milliseconds(1);
constexpr std::uint64_t kTicks = 1'000;  // In a second.
constexpr std::uint64_t kMostRate = 10'000'000;

volatile std::sig_atomic_t stopped = 0;

std::optional<std::uint64_t> parse_number(std::string_view text, std::uint64_t least,
                                          std::uint64_t most) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && value >= least && value <= most ? std::optional(value) : std::nullopt;
}

// Sends up to kBatch SYNs; returns how many were sent, or a negative errno.
int send_batch(int socket_fd, const sim::FloodTarget& target, Random& random, std::size_t count) {
  std::array<std::array<std::byte, 128>, kBatch> frames;
  std::array<iovec, kBatch> parts;
  std::array<mmsghdr, kBatch> messages{};
  for (std::size_t i = 0; i < count; ++i) {
    parts[i] = {frames[i].data(), sim::write_forged_syn(target, random, frames[i])};
    messages[i].msg_hdr.msg_iov = &parts[i];
    messages[i].msg_hdr.msg_iovlen = 1;
  }
  const int sent = sendmmsg(socket_fd, messages.data(), static_cast<unsigned>(count), 0);
  return sent < 0 ? -errno : sent;
}

int open_socket(const char* interface) {
  const unsigned index = if_nametoindex(interface);
  const int fd = index == 0 ? -1 : socket(AF_PACKET, SOCK_RAW, 0);
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_ifindex = static_cast<int>(index);
  if (fd < 0 || bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    std::fprintf(stderr, "syn_flood: %s: %s\n", interface, std::strerror(errno));
    return -1;
  }
  return fd;
}

int flood(int count, char** arguments) {
  if (count != 8) {
    std::fputs(
        "usage: syn_flood INTERFACE SOURCE-MAC TARGET-MAC IPV4-ADDRESS PORT SOURCES "
        "SYNS-PER-SECOND\n"
        "SOURCES: an IPv4 prefix, of whose addresses the SYNs come. At least 1000 a second, in "
        "steps of 1000.\n",
        stderr);
    return 2;
  }
  const auto source = MacAddress::parse(arguments[2]);
  const auto mac = MacAddress::parse(arguments[3]);
  const auto address = IpAddress::parse(arguments[4]);
  const auto port = parse_number(arguments[5], 1, 65'535);
  const auto sources = IpPrefix::parse(arguments[6]);
  const auto rate = parse_number(arguments[7], kTicks, kMostRate);
  if (!source || !mac || !address || !address->is_v4() || !port || !sources ||
      !sources->address.is_v4() || !rate) {
    std::fputs("syn_flood: an argument is no address or out of range\n", stderr);
    return 2;
  }
  const int socket_fd = open_socket(arguments[1]);
  if (socket_fd < 0) return 1;
  std::signal(SIGTERM, [](int) { stopped = 1; });
  std::signal(SIGINT, [](int) { stopped = 1; });

  const sim::FloodTarget target{*source, *mac, *address, *sources,
                                static_cast<std::uint16_t>(*port)};
  Random random(1);
  // SYNs that could not be sent in time are left out: the rate is a limit.
  for (Clock::time_point next = Clock::now(); stopped == 0; next += kTick) {
    std::this_thread::sleep_until(next);
    next = std::max(next, Clock::now() - kTick);
    for (std::uint64_t left = *rate / kTicks; left > 0 && stopped == 0;) {
      const int n = send_batch(socket_fd, target, random, std::min<std::uint64_t>(left, kBatch));
      if (n == -ENOBUFS || n == -EAGAIN || n == -EINTR) break;
      if (n < 0) {
        std::fprintf(stderr, "syn_flood: %s\n", std::strerror(-n));
        return 1;
      }
      left -= static_cast<std::uint64_t>(n);
    }
  }
  return 0;
}

}  // namespace
}  // namespace satrelay

int main(int count, char** arguments) { return satrelay::flood(count, arguments); }
