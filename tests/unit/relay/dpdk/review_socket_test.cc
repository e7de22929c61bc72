// Real sockets in a network namespace of its own (needs root).
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "relay/dpdk/packet_socket.h"
#include "relay/dpdk/socket_receiver.h"
#include "relay/dpdk/socket_sender.h"
#include "tests/unit/pep/wire/large_frame.h"
#include "tests/unit/relay/dpdk/packet_fixture.h"

namespace satrelay::dpdk {
namespace {

class ReviewSocketTest : public PacketTest {};

TEST_F(ReviewSocketTest, AnErrorOfTheReceiverCostsAFrameToSend) {
  pool();
  std::thread([&] {
    ASSERT_EQ(::unshare(CLONE_NEWNET), 0);
    const int tap = ::open("/dev/net/tun", O_RDWR | O_NONBLOCK);
    ifreq request{};
    std::strcpy(request.ifr_name, "tp0");
    request.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR;
    ASSERT_EQ(::ioctl(tap, TUNSETIFF, &request), 0);
    std::ofstream("/proc/thread-self/net/../../../sys/net/ipv6/conf/tp0/disable_ipv6") << 1;
    const int control = ::socket(AF_INET, SOCK_DGRAM, 0);
    request.ifr_flags = IFF_UP;
    ASSERT_EQ(::ioctl(control, SIOCSIFFLAGS, &request), 0);
    PacketSocket socket(::if_nametoindex("tp0"));
    SocketReceiver receiver(socket.descriptor(), pool(), 1500);
    SocketSender sender(socket.descriptor(), SocketSender::LargeFrames::kWhereTaken);
    const auto arrive = [&](const OffloadHeader& head, ConstBytes frame) {
      std::vector<std::byte> all(sizeof head + frame.size());
      std::memcpy(all.data(), &head, sizeof head);
      std::copy(frame.begin(), frame.end(), all.begin() + sizeof head);
      ASSERT_EQ(::write(tap, all.data(), all.size()), static_cast<ssize_t>(all.size()));
    };
    const auto good = wire::LargeFrame{.is_tcp = false, .payload = 100}.write();
    arrive({}, good);
    // UFO, as a guest's virtio card sends it; a packet socket cannot describe it.
    arrive({.flags = 1, .kind = 3, .header_size = 42, .segment_size = 1480, .checksum_start = 34,
            .checksum_offset = 6},
           wire::LargeFrame{.is_tcp = false, .payload = 3000}.write());
    Burst burst;
    std::size_t got = 0;
    for (int i = 0; i < 3; ++i) got += receiver.receive(burst);
    burst.clear();
    std::printf("received %zu, uncut %lu (three calls)\n", got, receiver.counters().uncut);
    arrive({}, good);
    arrive({.flags = 1, .kind = 3, .header_size = 42, .segment_size = 1480, .checksum_start = 34,
            .checksum_offset = 6},
           wire::LargeFrame{.is_tcp = false, .payload = 3000}.write());
    receiver.receive(burst);
    burst.clear();
    burst.push(packet_of(60, 1));
    sender.send(burst, 0);
    receiver.receive(burst);
    EXPECT_EQ(sender.counters().errors, 0U) << "the frame to send has paid";
    EXPECT_EQ(receiver.counters().uncut, 2U) << "the frame that was lost is not counted";
    ::close(control);
    ::close(tap);
  }).join();
}

TEST_F(ReviewSocketTest, OneCallTakesAllThatIsDropped) {
  pool();
  std::thread([&] {
    ASSERT_EQ(::unshare(CLONE_NEWNET), 0);
    ASSERT_EQ(std::system("ip link add va mtu 1508 type veth peer name vb mtu 1508; "
                          "ip link set va up; ip link set vb up"), 0);
    PacketSocket socket(::if_nametoindex("va"));
    PacketSocket host(::if_nametoindex("vb"));
    SocketReceiver receiver(socket.descriptor(), pool(), 1500);
    std::vector<std::byte> frame(10 + 14 + 1508 + 4);
    store_u16(frame.data() + 10 + 12, 0x8100);
    store_u16(frame.data() + 10 + 14, 5);
    store_u16(frame.data() + 10 + 16, 0x88b5);
    int sent = 0;
    while (sent < 20000 && ::send(host.descriptor(), frame.data(), frame.size(), 0) > 0) ++sent;
    Burst burst;
    const auto begin = std::chrono::steady_clock::now();
    const std::size_t got = receiver.receive(burst);
    const auto took = std::chrono::steady_clock::now() - begin;
    std::printf("sent %d; one call: got %zu, uncut %lu, %.1f ms\n", sent, got,
                receiver.counters().uncut,
                std::chrono::duration<double, std::milli>(took).count());
    EXPECT_LE(receiver.counters().uncut, 128U);
  }).join();
}

}  // namespace
}  // namespace satrelay::dpdk
