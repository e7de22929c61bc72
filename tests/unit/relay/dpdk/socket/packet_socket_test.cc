// Real sockets in a network namespace of their own. Without the right to one, the tests are
// skipped.
#include "relay/dpdk/socket/packet_socket.h"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>

#include <cstdlib>
#include <functional>
#include <thread>

#include "relay/dpdk/socket/socket_receiver.h"
#include "relay/dpdk/socket/socket_sender.h"
#include "relay/kernel/kernel_interface.h"
#include "tests/unit/pep/wire/large_frame.h"
#include "tests/unit/relay/dpdk/device/packet_fixture.h"

namespace satrelay::dpdk::packet_socket_test {
namespace {

class PacketSocketTest : public PacketTest {
 protected:
  void SetUp() override { pool(); }
  // Runs in a thread. Its namespace ends with the thread.
  static void in_namespace(const std::function<void()>& run) {
    bool allowed = false;
    std::thread([&] {
      allowed = ::unshare(CLONE_NEWNET) == 0;
      if (allowed) run();
    }).join();
    if (!allowed) GTEST_SKIP() << "no right to a network namespace";
  }
};

// Sends frames as a guest does, through a tap of its own.
class Tap {
 public:
  Tap() : tap_(::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC)) {
    ifreq request{};
    std::memcpy(request.ifr_name, "tap0", 5);
    request.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR;
    if (tap_ < 0 || ::ioctl(tap_, TUNSETIFF, &request) != 0) return;
    is_open_ = std::system("ip link set tap0 up") == 0;
  }
  ~Tap() {
    if (tap_ >= 0) ::close(tap_);
  }
  Tap(const Tap&) = delete;
  Tap& operator=(const Tap&) = delete;
  bool is_open() const { return is_open_; }
  bool write(const OffloadHeader& head, ConstBytes frame) const {
    std::vector<std::byte> all(sizeof head + frame.size());
    std::memcpy(all.data(), &head, sizeof head);
    std::copy(frame.begin(), frame.end(), all.begin() + sizeof head);
    return ::write(tap_, all.data(), all.size()) == static_cast<ssize_t>(all.size());
  }

 private:
  int tap_;
  bool is_open_ = false;
};

// UFO, as a guest's virtio card sends it. A packet socket has no name for this kind.
const OffloadHeader kUfo{.flags = OffloadHeader::kNeedsChecksum,
                         .kind = 3,
                         .header_size = 42,
                         .segment_size = 1480,
                         .checksum_start = 34,
                         .checksum_offset = 6};

TEST_F(PacketSocketTest, AnErrorOfTheReceiverCostsNoFrameToSend) {
  in_namespace([&] {
    const Tap tap;
    if (!tap.is_open()) GTEST_SKIP() << "no /dev/net/tun";
    PacketSocket socket(::if_nametoindex("tap0"));
    socket.begin_to_receive();
    SocketReceiver receiver(socket.descriptor(), pool(), 1500);
    SocketSender sender(socket.descriptor(), SocketSender::LargeFrames::kWhereTaken);
    Burst burst;
    // Drops frames of the kernel itself, which there may be.
    while (receiver.receive(burst) > 0) burst.clear();
    ASSERT_TRUE(tap.write({}, wire::LargeFrame{.is_tcp = false, .payload = 100}.write()));
    ASSERT_TRUE(tap.write(kUfo, wire::LargeFrame{.is_tcp = false, .payload = 3000}.write()));
    EXPECT_EQ(receiver.receive(burst), 1U);
    burst.clear();
    burst.push(packet_of(60, 1));
    EXPECT_EQ(sender.send(burst, 0), 1U);
    EXPECT_EQ(sender.counters().frames, 1U);
    EXPECT_EQ(sender.counters().errors, 0U);
    EXPECT_EQ(receiver.counters().uncut + sender.counters().errors_of_receiver, 1U)
        << "the frame that was lost is counted";
  });
}

// Merging would make frames within passing tunnels that no port can cut.
TEST_F(PacketSocketTest, AnInterfaceIsToldNotToMerge) {
  in_namespace([&] {
    ASSERT_EQ(std::system("ip link add va mtu 1508 type veth peer name vb mtu 1508"), 0);
    const std::vector<std::string> on{"gro"};
    ASSERT_EQ(std::system("ethtool -K va gro on"), 0);
    kernel::KernelInterface interface("va");
    ASSERT_EQ(interface.active_merge_offloads(), on);
    interface.prepare(1500);
    EXPECT_TRUE(interface.active_merge_offloads().empty());
  });
}

TEST_F(PacketSocketTest, OneCallTakesSoMuchWhereAllIsDropped) {
  in_namespace([&] {
    // Without IPv6, as the kernel sends frames of its own when a link comes up.
    ASSERT_EQ(std::system("sysctl -qw net.ipv6.conf.default.disable_ipv6=1 && "
                          "ip link add va mtu 1508 type veth peer name vb mtu 1508 && "
                          "ip link set va up && ip link set vb up"),
              0);
    PacketSocket socket(::if_nametoindex("va"));
    socket.begin_to_receive();
    PacketSocket host(::if_nametoindex("vb"));
    SocketReceiver receiver(socket.descriptor(), pool(), 1500);
    constexpr std::size_t kHead = sizeof(OffloadHeader);
    std::vector<std::byte> frame(kHead + 14 + 1508 + 4);  // one tag, and longer than the MTU
    store_u16(frame.data() + kHead + 12, 0x8100);
    store_u16(frame.data() + kHead + 14, 5);
    store_u16(frame.data() + kHead + 16, 0x88b5);
    for (int i = 0; i < 1000; ++i) {
      ASSERT_GT(::send(host.descriptor(), frame.data(), frame.size(), 0), 0) << i;
    }
    Burst burst;
    EXPECT_EQ(receiver.receive(burst), 0U);
    EXPECT_GT(receiver.counters().uncut, 0U);
    EXPECT_LE(receiver.counters().uncut, 4 * SocketReceiver::kBatch);
  });
}

}  // namespace
}  // namespace satrelay::dpdk::packet_socket_test
