#include "relay/dpdk/socket/packet_socket.h"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>

namespace satrelay::dpdk {
namespace {

[[noreturn]] void fail_socket(const std::string& what) {
  throw std::runtime_error("packet socket: " + what + ": " + std::strerror(errno));
}

void bind_socket(int descriptor, unsigned index) {
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex = static_cast<int>(index);
  if (::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    fail_socket("bind");
  }
  packet_mreq request{};
  request.mr_ifindex = static_cast<int>(index);
  request.mr_type = PACKET_MR_PROMISC;
  if (::setsockopt(descriptor, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &request, sizeof request) != 0) {
    fail_socket("PACKET_MR_PROMISC");
  }
}

void switch_on(int descriptor, int option, const char* name) {
  const int on = 1;
  if (::setsockopt(descriptor, SOL_PACKET, option, &on, sizeof on) != 0) fail_socket(name);
}

// The kernel grants twice the requested size. The plain option works without CAP_NET_ADMIN, but has
// a limit (net.core.rmem_max, wmem_max).
void size_buffer(int descriptor, int forced, int plain, std::size_t bytes) {
  const int half = static_cast<int>(bytes / 2);
  if (::setsockopt(descriptor, SOL_SOCKET, forced, &half, sizeof half) == 0) return;
  if (::setsockopt(descriptor, SOL_SOCKET, plain, &half, sizeof half) != 0)
    fail_socket("socket buffer");
}

void attach_filter(int descriptor, std::span<sock_filter> code) {
  const sock_fprog program{.len = static_cast<unsigned short>(code.size()), .filter = code.data()};
  if (::setsockopt(descriptor, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) != 0) {
    fail_socket("SO_ATTACH_FILTER");
  }
}

constexpr sock_filter kIgnore{.code = BPF_RET | BPF_K, .jt = 0, .jf = 0, .k = 0};
constexpr sock_filter kTake{.code = BPF_RET | BPF_K, .jt = 0, .jf = 0, .k = 0xffff'ffffU};

void ignore_all(int descriptor) {
  std::array<sock_filter, 1> code{kIgnore};
  attach_filter(descriptor, code);
}

// Makes the socket ignore frames that this machine sends. Needed for kernels that do not know
// PACKET_IGNORE_OUTGOING of a group (fanout.cc).
void ignore_outgoing(int descriptor) {
  std::array<sock_filter, 4> code{{
      {.code = BPF_LD | BPF_W | BPF_ABS,
       .jt = 0,
       .jf = 0,
       .k = static_cast<std::uint32_t>(SKF_AD_OFF + SKF_AD_PKTTYPE)},
      {.code = BPF_JMP | BPF_JEQ | BPF_K, .jt = 0, .jf = 1, .k = PACKET_OUTGOING},
      kIgnore,
      kTake,
  }};
  attach_filter(descriptor, code);
}

}  // namespace

PacketSocket::PacketSocket(unsigned index, unsigned queues)
    // Protocol 0: the socket receives nothing until it is bound.
    : descriptor_(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)),
      is_in_group_(queues > 1) {
  if (descriptor_ < 0) fail_socket("open");
  try {
    switch_on(descriptor_, PACKET_VNET_HDR, "PACKET_VNET_HDR");
    switch_on(descriptor_, PACKET_AUXDATA, "PACKET_AUXDATA");
    switch_on(descriptor_, PACKET_IGNORE_OUTGOING, "PACKET_IGNORE_OUTGOING");
    switch_on(descriptor_, PACKET_QDISC_BYPASS, "PACKET_QDISC_BYPASS");
    size_buffer(descriptor_, SO_RCVBUFFORCE, SO_RCVBUF, receive_buffer_of(queues));
    size_buffer(descriptor_, SO_SNDBUFFORCE, SO_SNDBUF, kSendBuffer);
    ignore_all(descriptor_);
    bind_socket(descriptor_, index);
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

PacketSocket::~PacketSocket() { ::close(descriptor_); }

void PacketSocket::begin_to_receive() {
  if (is_in_group_) return ignore_outgoing(descriptor_);
  const int ignored = 0;
  if (::setsockopt(descriptor_, SOL_SOCKET, SO_DETACH_FILTER, &ignored, sizeof ignored) != 0) {
    fail_socket("SO_DETACH_FILTER");
  }
}

bool PacketSocket::is_bound() const {
  sockaddr_ll address{};
  socklen_t length = sizeof address;
  return ::getsockname(descriptor_, reinterpret_cast<sockaddr*>(&address), &length) == 0 &&
         address.sll_ifindex > 0;
}

void PacketSocket::bind_to(unsigned index) {
  bind_socket(descriptor_, index);
  note_change();
}

std::size_t PacketSocket::receive_buffer() const {
  int bytes = 0;
  socklen_t length = sizeof bytes;
  ::getsockopt(descriptor_, SOL_SOCKET, SO_RCVBUF, &bytes, &length);
  return static_cast<std::size_t>(bytes);
}

std::uint64_t PacketSocket::dropped() const {
  tpacket_stats stats{};
  socklen_t length = sizeof stats;
  if (::getsockopt(descriptor_, SOL_PACKET, PACKET_STATISTICS, &stats, &length) == 0) {
    dropped_ += stats.tp_drops;
  }
  return dropped_;
}

}  // namespace satrelay::dpdk
