// Real interfaces in a network namespace of their own. Without the right to one, the tests are
// skipped.
#include "relay/kernel/wire_bridge.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <thread>

namespace satrelay::kernel::wire_bridge_test {
namespace {

// near -- lan | wan -- far. Runs in a thread, whose namespace ends with it.
void with_two_cables(const std::function<void()>& run) {
  bool allowed = false;
  std::thread([&] {
    allowed = ::unshare(CLONE_NEWNET) == 0;
    if (!allowed) return;
    // Without IPv6, as the kernel sends frames of its own when a link comes up.
    ASSERT_EQ(std::system("sysctl -qw net.ipv6.conf.default.disable_ipv6=1 && "
                          "ip link add near type veth peer name lan && "
                          "ip link add far type veth peer name wan && "
                          "ip link set near up && ip link set far up"),
              0);
    run();
  }).join();
  if (!allowed) GTEST_SKIP() << "no right to a network namespace";
}

class Station {
 public:
  explicit Station(const char* interface)
      : socket_(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL))) {
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(ETH_P_ALL);
    address.sll_ifindex = static_cast<int>(::if_nametoindex(interface));
    packet_mreq all{};
    all.mr_ifindex = address.sll_ifindex;
    all.mr_type = PACKET_MR_PROMISC;
    EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::setsockopt(socket_, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &all, sizeof all), 0);
  }
  ~Station() { ::close(socket_); }
  Station(const Station&) = delete;
  Station& operator=(const Station&) = delete;

  void send(unsigned char last_octet) const {
    const std::array<unsigned char, 60> frame{0x01, 0x80, 0xc2, 0, 0, last_octet, 2,
                                              0,    0,    0,    0, 1, 0x88,       0xb5};
    EXPECT_EQ(::send(socket_, frame.data(), frame.size(), 0), 60);
  }
  // True if a frame for this address arrives soon.
  bool hears(unsigned char last_octet) const {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
    pollfd wanted{.fd = socket_, .events = POLLIN, .revents = 0};
    while (std::chrono::steady_clock::now() < give_up) {
      if (::poll(&wanted, 1, 20) <= 0) continue;
      std::array<unsigned char, 128> frame{};
      const ssize_t size = ::recv(socket_, frame.data(), frame.size(), 0);
      if (size >= 14 && frame[0] == 0x01 && frame[5] == last_octet) return true;
    }
    return false;
  }

 private:
  int socket_;
};

constexpr unsigned char kBpdu = 0x00;
constexpr unsigned char kPause = 0x01;
constexpr unsigned char kLacp = 0x02;
constexpr unsigned char kEapol = 0x03;
constexpr unsigned char kLldp = 0x0e;

TEST(WireBridge, PassesAllButPauseFrames) {
  with_two_cables([] {
    WireBridge wire("lan", "wan");
    EXPECT_FALSE(wire.is_joined());
    wire.join();
    EXPECT_TRUE(wire.is_joined());
    const Station near("near");
    const Station far("far");
    for (const unsigned char each : {kBpdu, kLacp, kEapol, kLldp}) {
      near.send(each);
      EXPECT_TRUE(far.hears(each)) << unsigned{each};
      far.send(each);
      EXPECT_TRUE(near.hears(each)) << unsigned{each};
    }
    near.send(kPause);
    EXPECT_FALSE(far.hears(kPause)) << "a pause frame concerns one cable only";
    EXPECT_TRUE(wire.part());
    EXPECT_FALSE(wire.is_joined());
    near.send(kLldp);
    EXPECT_FALSE(far.hears(kLldp));
    EXPECT_FALSE(wire.part()) << "there is no bridge any longer";
  });
}

TEST(WireBridge, JoinsAgainAfterAnInterfaceWasReplaced) {
  with_two_cables([] {
    WireBridge wire("lan", "wan");
    wire.join();
    wire.join();
    ASSERT_EQ(std::system("ip link del far && ip link add far type veth peer name wan && "
                          "ip link set far up"),
              0);
    EXPECT_FALSE(wire.is_joined());
    wire.join();
    EXPECT_TRUE(wire.is_joined());
    const Station near("near");
    const Station far("far");
    near.send(kLldp);
    EXPECT_TRUE(far.hears(kLldp));
  });
}

TEST(WireBridge, JoinsAgainIfOneOfThemIsDown) {
  with_two_cables([] {
    WireBridge wire("lan", "wan");
    wire.join();
    Rtnetlink kernel;
    for (const bool is_bridge : {false, true}) {
      const auto lan = kernel.find("lan");
      kernel.set_up(is_bridge ? lan->master : lan->index, false);
      EXPECT_FALSE(wire.is_joined());
      wire.join();
      EXPECT_TRUE(wire.is_joined());
    }
  });
}

TEST(WireBridge, LeavesForeignBridgesAlone) {
  with_two_cables([] {
    ASSERT_EQ(std::system("ip link add sr-hall type bridge && ip link set lan master sr-hall"), 0);
    Rtnetlink kernel;
    const auto lan = kernel.find("lan");
    ASSERT_TRUE(lan);
    EXPECT_EQ(lan->kind, "veth");
    EXPECT_EQ(foreign_master(kernel, *lan)->name, "sr-hall");
    EXPECT_FALSE(is_in_wire_bridge(kernel, *lan));
    WireBridge wire("lan", "wan");
    EXPECT_THROW(wire.join(), std::runtime_error);
    EXPECT_FALSE(wire.part());
    EXPECT_EQ(kernel.find("lan")->master, kernel.find("sr-hall")->index);
    EXPECT_EQ(kernel.find("wan")->master, 0U);
  });
}

TEST(WireBridge, LeavesNothingBehindIfAnInterfaceIsMissing) {
  with_two_cables([] {
    WireBridge wire("lan", "no0");
    EXPECT_THROW(wire.join(), std::runtime_error);
    Rtnetlink kernel;
    EXPECT_EQ(kernel.find("lan")->master, 0U);
    EXPECT_FALSE(kernel.find("a-name-that-is-too-long"));
    EXPECT_FALSE(kernel.find(4711U));
  });
}

}  // namespace
}  // namespace satrelay::kernel::wire_bridge_test
