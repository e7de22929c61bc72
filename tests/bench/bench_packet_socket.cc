// Compares three ways to take frames from a packet socket with PACKET_VNET_HDR: recvmmsg(2), a
// TPACKET_V2 ring, a TPACKET_V3 ring. One thread sends at a rate over a veth pair in a network
// namespace of its own. The other thread receives as a port does, with naps of 50 us, and puts each
// frame where the engine finds it. Needs root.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "pep/base/bytes.h"
#include "relay/dpdk/socket/offload_header.h"

namespace satrelay {
namespace {

using dpdk::OffloadHeader;
constexpr std::size_t kBatch = 32;
constexpr std::size_t kLargeBatch = 8;
constexpr std::size_t kSmall = 1514;
constexpr std::size_t kLarge = 14 + 40 + 44 * 1460;
constexpr std::size_t kStampAt = 60;

double seconds_of(clockid_t clock) {
  timespec t{};
  ::clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

void check(bool good, const char* what) {
  if (!good) throw std::runtime_error(fmt::format("{}: {}", what, std::strerror(errno)));
}

int open_socket(const char* interface, int protocol) {
  const int descriptor = ::socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK, 0);
  check(descriptor >= 0, "socket");
  const int on = 1;
  check(::setsockopt(descriptor, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof on) == 0, "vnet header");
  ::setsockopt(descriptor, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on);
  ::setsockopt(descriptor, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof on);
  const int bytes = 32 << 20;
  ::setsockopt(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes);
  ::setsockopt(descriptor, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes);
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(static_cast<std::uint16_t>(protocol));
  address.sll_ifindex = static_cast<int>(::if_nametoindex(interface));
  check(::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0,
        "bind");
  return descriptor;
}

// --- the sender ----------------------------------------------------------------------------------

std::vector<std::byte> frame_of(bool large) {
  std::vector<std::byte> frame(large ? kLarge : kSmall);
  const auto ip_size = static_cast<std::uint16_t>(frame.size() - 14);
  frame[5] = std::byte{1};
  store_u16(frame.data() + 12, 0x0800);
  store_u16(frame.data() + 14, 0x4500);
  store_u16(frame.data() + 16, ip_size);
  frame[22] = std::byte{64};
  frame[23] = std::byte{6};
  frame[46] = std::byte{0x50};
  return frame;
}

struct Load {
  bool large = false;
  double gigabits = 1;
  double seconds = 2;
};

// Returns how many frames were sent, in units of frames of the MTU.
std::uint64_t send(const Load& load) {
  const int descriptor = open_socket("p0", 0);
  auto frame = frame_of(load.large);
  const OffloadHeader head = load.large ? OffloadHeader{.flags = OffloadHeader::kNeedsChecksum,
                                                        .kind = OffloadHeader::kTcpV4,
                                                        .header_size = 54,
                                                        .segment_size = 1460,
                                                        .checksum_start = 34,
                                                        .checksum_offset = 16}
                                        : OffloadHeader{};
  iovec parts[2] = {{const_cast<OffloadHeader*>(&head), sizeof head}, {frame.data(), frame.size()}};
  const std::size_t batch = load.large ? 1 : 16;
  std::vector<mmsghdr> messages(batch);
  for (mmsghdr& message : messages) {
    message.msg_hdr.msg_iov = parts;
    message.msg_hdr.msg_iovlen = 2;
  }
  std::uint64_t sent = 0;
  const double began = seconds_of(CLOCK_MONOTONIC);
  for (double now = began; now < began + load.seconds; now = seconds_of(CLOCK_MONOTONIC)) {
    const double due = (now - began) * load.gigabits * 1e9 / 8;
    if (static_cast<double>(sent * frame.size()) > due) {
      const timespec nap{.tv_sec = 0, .tv_nsec = 20'000};
      ::clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, nullptr);
      continue;
    }
    std::memcpy(frame.data() + kStampAt, &now, sizeof now);
    const int done = ::sendmmsg(descriptor, messages.data(), static_cast<unsigned>(batch), 0);
    if (done > 0) sent += static_cast<std::uint64_t>(done);
  }
  ::close(descriptor);
  return sent;
}

// --- the receivers -------------------------------------------------------------------------------

struct Tally {
  std::uint64_t frames = 0;
  std::uint64_t bytes = 0;
  std::vector<double> delays;
  void take(const std::byte* frame, std::size_t size) {
    ++frames;
    bytes += size;
    double stamp = 0;
    std::memcpy(&stamp, frame + kStampAt, sizeof stamp);
    delays.push_back(seconds_of(CLOCK_MONOTONIC) - stamp);
  }
};

// Looks once; returns whether there were frames.
using Look = std::function<bool(Tally&)>;

Look by_recvmmsg(int descriptor) {
  struct State {
    std::array<OffloadHeader, kBatch> heads;
    std::vector<std::byte> packets = std::vector<std::byte>(kBatch * 2048);
    std::vector<std::byte> rest = std::vector<std::byte>(kBatch << 16);
    std::array<std::array<iovec, 3>, kBatch> parts;
    std::array<mmsghdr, kBatch> messages{};
    bool large = false;
  };
  auto state = std::make_shared<State>();
  for (std::size_t i = 0; i < kBatch; ++i) {
    state->parts[i] = {{{&state->heads[i], sizeof(OffloadHeader)},
                        {state->packets.data() + i * 2048, 2048},
                        {state->rest.data() + (i << 16), 1U << 16}}};
    state->messages[i].msg_hdr.msg_iov = state->parts[i].data();
    state->messages[i].msg_hdr.msg_iovlen = 3;
  }
  return [descriptor, state](Tally& tally) {
    const auto batch = static_cast<unsigned>(state->large ? kLargeBatch : kBatch);
    const int got = ::recvmmsg(descriptor, state->messages.data(), batch, MSG_DONTWAIT, nullptr);
    for (int i = 0; i < got; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const std::size_t size = state->messages[at].msg_len - sizeof(OffloadHeader);
      state->large = size > 2048;
      tally.take(state->packets.data() + at * 2048, size);
    }
    return got > 0;
  };
}

std::byte* map_ring(int descriptor, int version, const void* request, socklen_t size,
                    std::size_t bytes) {
  check(::setsockopt(descriptor, SOL_PACKET, PACKET_VERSION, &version, sizeof version) == 0,
        "PACKET_VERSION");
  check(::setsockopt(descriptor, SOL_PACKET, PACKET_RX_RING, request, size) == 0, "PACKET_RX_RING");
  void* ring =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, descriptor, 0);
  check(ring != MAP_FAILED, "mmap");
  return static_cast<std::byte*>(ring);
}

// Slots of one size, 64 MiB in all.
Look by_v2(int descriptor, bool large) {
  const std::size_t slot = large ? std::size_t{128} << 10 : 2048;
  const std::size_t count = (std::size_t{64} << 20) / slot;
  tpacket_req request{};
  request.tp_frame_size = static_cast<unsigned>(slot);
  request.tp_frame_nr = static_cast<unsigned>(count);
  request.tp_block_size = 128U << 10;
  request.tp_block_nr = static_cast<unsigned>(count * slot / request.tp_block_size);
  std::byte* ring = map_ring(descriptor, TPACKET_V2, &request, sizeof request, count * slot);
  auto next = std::make_shared<std::size_t>(0);
  auto out = std::make_shared<std::vector<std::byte>>(std::size_t{128} << 10);
  return [=](Tally& tally) {
    bool any = false;
    for (std::size_t i = 0; i < kBatch; ++i) {
      auto* header = reinterpret_cast<tpacket2_hdr*>(ring + *next * slot);
      if ((__atomic_load_n(&header->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER) == 0) break;
      std::memcpy(out->data(), reinterpret_cast<std::byte*>(header) + header->tp_mac,
                  header->tp_snaplen);
      tally.take(out->data(), header->tp_len);
      __atomic_store_n(&header->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
      if (++*next == count) *next = 0;
      any = true;
    }
    return any;
  };
}

// Frames share blocks. A block is shown when it is full, or after a millisecond.
Look by_v3(int descriptor) {
  constexpr std::size_t kBlock = std::size_t{512} << 10;
  constexpr std::size_t kCount = 128;
  tpacket_req3 request{};
  request.tp_block_size = kBlock;
  request.tp_block_nr = kCount;
  request.tp_frame_size = 2048;
  request.tp_frame_nr = kBlock / 2048 * kCount;
  request.tp_retire_blk_tov = 1;
  std::byte* ring = map_ring(descriptor, TPACKET_V3, &request, sizeof request, kBlock * kCount);
  auto next = std::make_shared<std::size_t>(0);
  auto out = std::make_shared<std::vector<std::byte>>(std::size_t{128} << 10);
  return [=](Tally& tally) {
    auto* block = reinterpret_cast<tpacket_block_desc*>(ring + *next * kBlock);
    auto& header = block->hdr.bh1;
    if ((__atomic_load_n(&header.block_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER) == 0) {
      return false;
    }
    std::byte* at = reinterpret_cast<std::byte*>(block) + header.offset_to_first_pkt;
    for (std::uint32_t i = 0; i < header.num_pkts; ++i) {
      const auto* frame = reinterpret_cast<const tpacket3_hdr*>(at);
      std::memcpy(out->data(), at + frame->tp_mac, frame->tp_snaplen);
      tally.take(out->data(), frame->tp_len);
      at += frame->tp_next_offset;
    }
    __atomic_store_n(&header.block_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
    *next = (*next + 1) % kCount;
    return true;
  };
}

void measure(const std::string& how, const Load& load) {
  const int descriptor = open_socket("p1", ETH_P_ALL);
  const Look look = how == "recvmmsg" ? by_recvmmsg(descriptor)
                    : how == "v2"     ? by_v2(descriptor, load.large)
                                      : by_v3(descriptor);
  std::atomic<bool> over = false;
  std::uint64_t sent = 0;
  double sender_cpu = 0;
  std::thread sender([&] {
    sent = send(load);
    sender_cpu = seconds_of(CLOCK_THREAD_CPUTIME_ID);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    over = true;
  });
  Tally tally;
  tally.delays.reserve(std::size_t{4} << 20);
  const double before = seconds_of(CLOCK_THREAD_CPUTIME_ID);
  while (!over) {
    if (look(tally)) continue;
    const timespec nap{.tv_sec = 0, .tv_nsec = 50'000};
    ::clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, nullptr);
  }
  const double cpu = seconds_of(CLOCK_THREAD_CPUTIME_ID) - before;
  sender.join();
  tpacket_stats_v3 stats{};
  socklen_t length = sizeof stats;
  ::getsockopt(descriptor, SOL_PACKET, PACKET_STATISTICS, &stats, &length);
  ::close(descriptor);
  std::sort(tally.delays.begin(), tally.delays.end());
  const auto delay = [&](double share) {
    if (tally.delays.empty()) return 0.0;
    const auto last = static_cast<double>(tally.delays.size() - 1);
    return 1e6 * tally.delays[static_cast<std::size_t>(share * last)];
  };
  const double megabytes = static_cast<double>(tally.bytes) / 1e6;
  fmt::print("{:8} | {:5} | {:6.2f} | {:6} | {:8.0f} | {:8.0f} | {:7.0f} | {:7.0f}\n", how,
             load.large ? "large" : "small", static_cast<double>(tally.bytes) * 8e-9 / load.seconds,
             stats.tp_drops, 1e6 * cpu / megabytes, 1e6 * sender_cpu / megabytes, delay(0.5),
             delay(0.99));
}

}  // namespace
}  // namespace satrelay

int main(int argc, char** argv) {
  using namespace satrelay;
  CLI::App app{"Ways to take frames from a packet socket"};
  Load load;
  int runs = 3;
  app.add_option("--gbit", load.gigabits, "offered, Gbit/s");
  app.add_option("--seconds", load.seconds, "of each run");
  app.add_option("--runs", runs, "of each, in turn");
  CLI11_PARSE(app, argc, argv);
  try {
    check(::unshare(CLONE_NEWNET) == 0, "a network namespace of its own needs root");
    const char* const setup =
        "ip link add p0 type veth peer name p1 && ip link set p0 up && ip link set p1 up";
    check(std::system(setup) == 0, "ip");
    fmt::print("         |       | Gbit/s | missed | ns/KB in | ns/KB out| p50 us  | p99 us\n");
    for (int run = 0; run < runs; ++run) {
      for (const bool large : {false, true}) {
        load.large = large;
        for (const char* how : {"recvmmsg", "v2", "v3"}) measure(how, load);
      }
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 77;
  }
  return 0;
}
