#include "relay/dpdk/packet_socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>

#include "relay/dpdk/own_sockets.h"

namespace satrelay::dpdk {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error("af_packet socket: " + what + ": " + std::strerror(errno));
}

// The interface that the socket is bound to; 0 or less: none.
int interface_of(int descriptor) {
  sockaddr_ll address{};
  socklen_t length = sizeof address;
  return ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &length) == 0
             ? address.sll_ifindex
             : -1;
}

// The process's AF_PACKET socket bound to interface `index`; -1 if there is none.
int find_socket(unsigned index) {
  for (const int descriptor : own_sockets(AF_PACKET)) {
    if (interface_of(descriptor) == static_cast<int>(index)) return descriptor;
  }
  return -1;
}

void bind_socket(int descriptor, unsigned index) {
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex = static_cast<int>(index);
  if (::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    fail("bind");
  }
}

// Where `descriptor` is mapped, if in one piece of `length` bytes.
std::byte* find_mapping(int descriptor, std::size_t length) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return nullptr;
  const std::string mark = "socket:[" + std::to_string(status.st_ino) + "]";
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (!line.ends_with(mark)) continue;
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    const auto dash = line.find('-');
    std::from_chars(line.data(), line.data() + dash, begin, 16);
    std::from_chars(line.data() + dash + 1, line.data() + line.size(), end, 16);
    return end - begin == length ? reinterpret_cast<std::byte*>(begin) : nullptr;
  }
  return nullptr;
}

template <typename Value>
void set_option(int descriptor, int level, int option, const Value& value, const char* name) {
  if (::setsockopt(descriptor, level, option, &value, sizeof value) != 0) fail(name);
}

// Open, with rings, but deaf until it is bound.
int open_socket(const FrameRingSize& size) {
  const int descriptor = ::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
  if (descriptor < 0) fail("open");
  try {
    const int on = 1;
    set_option(descriptor, SOL_PACKET, PACKET_VERSION, int{TPACKET_V2}, "PACKET_VERSION");
    set_option(descriptor, SOL_PACKET, PACKET_LOSS, on, "PACKET_LOSS");
    set_option(descriptor, SOL_PACKET, PACKET_QDISC_BYPASS, on, "PACKET_QDISC_BYPASS");
    set_option(descriptor, SOL_PACKET, PACKET_IGNORE_OUTGOING, on, "PACKET_IGNORE_OUTGOING");
    tpacket_req request{};
    request.tp_block_size = static_cast<unsigned>(size.block_size);
    request.tp_frame_size = static_cast<unsigned>(size.frame_size);
    request.tp_frame_nr = static_cast<unsigned>(size.frame_count);
    request.tp_block_nr =
        static_cast<unsigned>(size.frame_count / (size.block_size / size.frame_size));
    set_option(descriptor, SOL_PACKET, PACKET_RX_RING, request, "PACKET_RX_RING");
    set_option(descriptor, SOL_PACKET, PACKET_TX_RING, request, "PACKET_TX_RING");
    // The send buffer must hold a full ring: frames that it stops would wait in the ring for the
    // next send, however late that is. The plain option is for those without CAP_NET_ADMIN.
    const int buffer = static_cast<int>(size.frame_count * size.frame_size * 2);
    if (::setsockopt(descriptor, SOL_SOCKET, SO_SNDBUFFORCE, &buffer, sizeof buffer) != 0) {
      set_option(descriptor, SOL_SOCKET, SO_SNDBUF, buffer, "SO_SNDBUF");
    }
  } catch (...) {
    ::close(descriptor);
    throw;
  }
  return descriptor;
}

}  // namespace

PacketSocket::PacketSocket(unsigned index, std::uint16_t mtu)
    : size_(FrameRingSize::for_mtu(mtu)), longest_(mtu + 14U + 8U) {
  const std::size_t length = 2 * size_.frame_count * size_.frame_size;
  descriptor_ = find_socket(index);
  rings_ = descriptor_ < 0 ? nullptr : find_mapping(descriptor_, length);
  if (rings_ == nullptr) {
    throw std::runtime_error("af_packet socket: not found where DPDK 22.11's driver has it");
  }
  const int fresh = open_socket(size_);
  // From here on a failure leaves the driver without its rings: the port cannot be opened.
  if (::mmap(rings_, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_LOCKED | MAP_FIXED, fresh,
             0) == MAP_FAILED) {
    ::close(fresh);
    fail("mmap");
  }
  const int moved = ::dup3(fresh, descriptor_, O_CLOEXEC);
  ::close(fresh);
  if (moved < 0) fail("dup3");
  bind_socket(descriptor_, index);
}

bool PacketSocket::is_bound() const { return interface_of(descriptor_) > 0; }

void PacketSocket::bind_to(unsigned index) {
  bind_socket(descriptor_, index);
  // The driver's own way needs rights, and is of the interface instead of the socket.
  packet_mreq request{};
  request.mr_ifindex = static_cast<int>(index);
  request.mr_type = PACKET_MR_PROMISC;
  set_option(descriptor_, SOL_PACKET, PACKET_ADD_MEMBERSHIP, request, "PACKET_MR_PROMISC");
}

PacketSocket::Waiting PacketSocket::inspect(std::size_t limit) {
  Waiting waiting;
  std::size_t slot = next_slot_;
  while (waiting.count < limit) {
    const auto* header = reinterpret_cast<const tpacket2_hdr*>(rings_ + slot * size_.frame_size);
    const std::uint32_t status = __atomic_load_n(&header->tp_status, __ATOMIC_ACQUIRE);
    if ((status & TP_STATUS_USER) == 0) break;
    FrameMark mark;
    // The driver writes back a tag that the kernel took off, but always as 802.1Q.
    if ((status & TP_STATUS_VLAN_VALID) != 0 && (status & TP_STATUS_VLAN_TPID_VALID) != 0 &&
        header->tp_vlan_tpid != ETH_P_8021Q) {
      mark.tag_protocol = header->tp_vlan_tpid;
    }
    mark.is_merged = header->tp_len > longest_ || header->tp_len > header->tp_snaplen;
    mark.checksum_unfinished = (status & TP_STATUS_CSUMNOTREADY) != 0;
    waiting.marked |= mark.tag_protocol != 0 || mark.is_merged || mark.checksum_unfinished;
    marks_[waiting.count++] = mark;
    if (++slot == size_.frame_count) slot = 0;
  }
  return waiting;
}

void PacketSocket::advance(std::size_t count) {
  next_slot_ += count;
  if (next_slot_ >= size_.frame_count) next_slot_ -= size_.frame_count;
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
