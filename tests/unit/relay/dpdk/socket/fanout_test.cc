// The kernel's program chooses the queue that the gateway's steering would choose.
#include "relay/dpdk/socket/fanout.h"

#include <gtest/gtest.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "pep/base/bytes.h"
#include "relay/dpdk/socket/packet_socket.h"
#include "relay/gateway/steering/flow_hash.h"
#include "relay/gateway/steering/lane_ports.h"

namespace satrelay::dpdk::fanout_test {
namespace {

constexpr std::uint8_t kTcp = 6, kUdp = 17, kIcmp = 1;

// Runs such a program as the kernel does. A program that loads a word beyond the end of the packet
// returns 0.
class Machine {
 public:
  Machine(ConstBytes packet, std::uint16_t protocol) : packet_(packet), protocol_(protocol) {}

  std::uint32_t run(const std::vector<sock_filter>& program) {
    for (std::size_t at = 0; at < program.size(); ++at) {
      const sock_filter& i = program[at];
      const std::uint32_t operand = BPF_SRC(i.code) == BPF_X ? x_ : i.k;
      switch (BPF_CLASS(i.code)) {
        case BPF_LD:
          if (!load(i)) return 0;
          break;
        case BPF_LDX:
          if (!load_x(i)) return 0;
          break;
        case BPF_ST:
          memory_.at(i.k) = a_;
          break;
        case BPF_ALU:
          calculate(BPF_OP(i.code), operand);
          break;
        case BPF_JMP:
          at += BPF_OP(i.code) == BPF_JA ? i.k : is(BPF_OP(i.code), operand) ? i.jt : i.jf;
          break;
        case BPF_MISC:
          EXPECT_EQ(BPF_MISCOP(i.code), BPF_TAX);
          x_ = a_;
          break;
        case BPF_RET:
          return BPF_RVAL(i.code) == BPF_A ? a_ : i.k;
        default:
          ADD_FAILURE() << "class " << BPF_CLASS(i.code);
      }
    }
    ADD_FAILURE() << "the program has no end";
    return 0;
  }

 private:
  std::optional<std::uint32_t> read(std::size_t at, unsigned size) const {
    const std::size_t octets = size == BPF_W ? 4 : size == BPF_H ? 2 : 1;
    if (at + octets > packet_.size()) return std::nullopt;
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < octets; ++i) {
      value = value << 8 | static_cast<std::uint32_t>(packet_[at + i]);
    }
    return value;
  }
  bool load(const sock_filter& i) {
    std::optional<std::uint32_t> value;
    switch (BPF_MODE(i.code)) {
      case BPF_IMM:
        value = i.k;
        break;
      case BPF_MEM:
        value = memory_.at(i.k);
        break;
      case BPF_ABS:
        value = i.k == static_cast<std::uint32_t>(SKF_AD_OFF + SKF_AD_PROTOCOL)
                    ? std::optional<std::uint32_t>(protocol_)
                    : read(i.k, BPF_SIZE(i.code));
        break;
      case BPF_IND:
        value = read(std::size_t{x_} + i.k, BPF_SIZE(i.code));
        break;
      default:
        ADD_FAILURE() << "mode " << BPF_MODE(i.code);
    }
    if (value) a_ = *value;
    return value.has_value();
  }
  bool load_x(const sock_filter& i) {
    if (BPF_MODE(i.code) == BPF_MEM) {
      x_ = memory_.at(i.k);
      return true;
    }
    EXPECT_EQ(BPF_MODE(i.code), BPF_MSH);
    const auto octet = read(i.k, BPF_B);
    if (octet) x_ = (*octet & 0xfU) * 4;
    return octet.has_value();
  }
  void calculate(unsigned operation, std::uint32_t operand) {
    switch (operation) {
      case BPF_SUB:
        a_ -= operand;
        break;
      case BPF_AND:
        a_ &= operand;
        break;
      case BPF_OR:
        a_ |= operand;
        break;
      case BPF_XOR:
        a_ ^= operand;
        break;
      case BPF_LSH:
        a_ <<= operand;
        break;
      case BPF_RSH:
        a_ >>= operand;
        break;
      default:
        ADD_FAILURE() << "operation " << operation;
    }
  }
  bool is(unsigned test, std::uint32_t operand) const {
    if (test == BPF_JEQ) return a_ == operand;
    if (test == BPF_JGE) return a_ >= operand;
    EXPECT_EQ(test, BPF_JSET);
    return (a_ & operand) != 0;
  }

  ConstBytes packet_;
  std::uint16_t protocol_;
  std::uint32_t a_ = 0, x_ = 0;
  std::array<std::uint32_t, BPF_MEMWORDS> memory_{};
};

struct Flow {
  IpAddress from, to;
  std::uint16_t port = 0, far_port = 0;
};

using Packet = std::vector<std::byte>;

void put_u16(Packet& packet, std::size_t at, unsigned value) {
  packet.at(at) = static_cast<std::byte>(value >> 8U);
  packet.at(at + 1) = static_cast<std::byte>(value);
}

void put_address(Packet& packet, std::size_t at, const IpAddress& address) {
  for (std::size_t i = 0; i < address.size(); ++i) {
    packet.at(at + i) = static_cast<std::byte>(address.octets()[i]);
  }
}

// The packet from the network header on. `options` counts 32-bit words.
Packet v4(const Flow& flow, std::uint8_t protocol, unsigned options = 0, unsigned fragment = 0) {
  const std::size_t header = 20 + 4 * options;
  Packet packet(header + 8, std::byte{0x5a});
  packet[0] = static_cast<std::byte>(0x45 + options);
  put_u16(packet, 6, fragment);
  packet[9] = static_cast<std::byte>(protocol);
  put_address(packet, 12, flow.from);
  put_address(packet, 16, flow.to);
  put_u16(packet, header, flow.port);
  put_u16(packet, header + 2, flow.far_port);
  return packet;
}

Packet v6(const Flow& flow, std::uint8_t next) {
  Packet packet(48, std::byte{0x5a});
  packet[0] = std::byte{0x60};
  packet[6] = static_cast<std::byte>(next);
  put_address(packet, 8, flow.from);
  put_address(packet, 24, flow.to);
  put_u16(packet, 40, flow.port);
  put_u16(packet, 42, flow.far_port);
  return packet;
}

Packet tagged(unsigned inner, const Packet& packet) {
  Packet result{std::byte{0x45}, std::byte{0x11}, std::byte{0}, std::byte{0}};
  put_u16(result, 2, inner);
  result.insert(result.end(), packet.begin(), packet.end());
  return result;
}

std::uint32_t by_flow(const Flow& f) {
  return gateway::flow_hash(f.from, f.to, f.port, f.far_port);
}
std::uint32_t by_addresses(const Flow& f) { return gateway::flow_hash(f.from, f.to, 0, 0); }

// For any number of queues: the queue that the program chooses, and the right one.
class FanoutTest : public testing::TestWithParam<unsigned> {
 protected:
  std::uint32_t queue(const Packet& packet, std::uint16_t protocol) const {
    return Machine(packet, protocol).run(fanout_program({.queues = GetParam()}));
  }
  std::uint32_t of(std::uint32_t hash) const { return hash & (GetParam() - 1); }

  Flow flow_v4() {
    return {IpAddress::v4(octets<4>()), IpAddress::v4(octets<4>()), word(), word()};
  }
  Flow flow_v6() { return {address_v6(), address_v6(), word(), word()}; }
  static constexpr int kTimes = 300;

 private:
  template <std::size_t kSize>
  std::array<std::uint8_t, kSize> octets() {
    std::array<std::uint8_t, kSize> result{};
    for (auto& octet : result) octet = static_cast<std::uint8_t>(random_());
    return result;
  }
  IpAddress address_v6() { return IpAddress::v6(octets<16>()); }
  std::uint16_t word() { return static_cast<std::uint16_t>(random_()); }
  std::mt19937 random_{7};
};

INSTANTIATE_TEST_SUITE_P(Queues, FanoutTest, testing::Values(1U, 2U, 4U, 8U, 16U),
                         [](const auto& queues) { return std::to_string(queues.param); });

TEST_P(FanoutTest, ConnectionsGoWhereTheirHashSays) {
  for (int i = 0; i < kTimes; ++i) {
    const Flow four = flow_v4();
    const Flow six = flow_v6();
    for (const std::uint8_t protocol : {kTcp, kUdp}) {
      EXPECT_EQ(queue(v4(four, protocol), ETH_P_IP), of(by_flow(four)));
      EXPECT_EQ(queue(v4(four, protocol, 5), ETH_P_IP), of(by_flow(four))) << "with options";
      EXPECT_EQ(queue(v6(six, protocol), ETH_P_IPV6), of(by_flow(six)));
    }
  }
}

TEST_P(FanoutTest, BothDirectionsOfAConnectionHaveOneQueue) {
  const Flow flow = flow_v4();
  const Flow back{flow.to, flow.from, flow.far_port, flow.port};
  EXPECT_EQ(queue(v4(flow, kTcp), ETH_P_IP), queue(v4(back, kTcp), ETH_P_IP));
}

TEST_P(FanoutTest, TheInnerOfTwoTagsIsLookedBehind) {
  const Flow four = flow_v4();
  const Flow six = flow_v6();
  for (const std::uint16_t tag : {std::uint16_t{ETH_P_8021Q}, std::uint16_t{ETH_P_8021AD}}) {
    EXPECT_EQ(queue(tagged(ETH_P_IP, v4(four, kTcp, 2)), tag), of(by_flow(four)));
    EXPECT_EQ(queue(tagged(ETH_P_IPV6, v6(six, kTcp)), tag), of(by_flow(six)));
    EXPECT_EQ(queue(tagged(ETH_P_ARP, v4(four, kTcp)), tag), 0U);
  }
}

TEST_P(FanoutTest, FragmentsAndWhatHasNoPortsGoByTheirAddresses) {
  constexpr std::uint8_t kHopByHop = 0, kFragment = 44;
  for (int i = 0; i < kTimes; ++i) {
    const Flow four = flow_v4();
    const Flow six = flow_v6();
    EXPECT_EQ(queue(v4(four, kTcp, 0, 0x2000), ETH_P_IP), of(by_addresses(four))) << "the first";
    EXPECT_EQ(queue(v4(four, kTcp, 0, 0x2005), ETH_P_IP), of(by_addresses(four)));
    EXPECT_EQ(queue(v4(four, kUdp, 0, 0x0005), ETH_P_IP), of(by_addresses(four))) << "the last";
    EXPECT_EQ(queue(v4(four, kTcp, 0, 0x4000), ETH_P_IP), of(by_flow(four))) << "DF is no fragment";
    EXPECT_EQ(queue(v4(four, kIcmp), ETH_P_IP), of(by_addresses(four)));
    EXPECT_EQ(queue(v6(six, kFragment), ETH_P_IPV6), of(by_addresses(six)));
    EXPECT_EQ(queue(v6(six, kHopByHop), ETH_P_IPV6), of(by_addresses(six)));
  }
}

// The peer has as many workers as there are queues, or more. Each lane comes to the queue of its
// worker.
TEST_P(FanoutTest, LanesComeToTheQueueOfTheirWorker) {
  for (unsigned lanes = GetParam(); lanes <= 16; lanes *= 2) {
    for (unsigned lane = 0; lane < lanes; ++lane) {
      Flow four = flow_v4();
      Flow six = flow_v6();
      for (Flow* flow : {&four, &six}) {
        const auto ports = gateway::lane_ports(7878, lane, lanes, flow->from, flow->to);
        flow->port = ports.source;
        flow->far_port = ports.destination;
      }
      EXPECT_EQ(queue(v4(four, kUdp), ETH_P_IP), of(lane));
      EXPECT_EQ(queue(v6(six, kUdp), ETH_P_IPV6), of(lane));
    }
  }
}

TEST_P(FanoutTest, WhatIsNoIpOrTooShortIsForTheFirst) {
  const Flow flow = flow_v4();
  EXPECT_EQ(queue(v4(flow, kTcp), ETH_P_ARP), 0U);
  const Packet whole = v4(flow, kTcp);
  for (std::size_t size = 0; size < 24; ++size) {
    EXPECT_EQ(
        queue(Packet(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)), ETH_P_IP),
        0U);
  }
}

// --- real sockets in a network namespace of their own, skipped without the right to one ----------

Packet framed(const Packet& packet) {
  Packet frame(14, std::byte{2});
  put_u16(frame, 12, ETH_P_IP);
  frame.insert(frame.end(), packet.begin(), packet.end());
  frame.resize(60);
  return frame;
}

// A socket of another program on an interface. The kernel shows its frames to all listeners.
class Host {
 public:
  explicit Host(const char* interface) : socket_(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0)) {
    to_.sll_family = AF_PACKET;
    to_.sll_ifindex = static_cast<int>(::if_nametoindex(interface));
    to_.sll_halen = 6;
  }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  ~Host() { ::close(socket_); }
  bool send(const Packet& frame) const {
    return ::sendto(socket_, frame.data(), frame.size(), 0, reinterpret_cast<const sockaddr*>(&to_),
                    sizeof to_) == static_cast<ssize_t>(frame.size());
  }

 private:
  int socket_;
  sockaddr_ll to_{};
};

// How many frames with `mark` at their end wait in the socket.
unsigned received(const PacketSocket& socket, std::byte mark) {
  unsigned count = 0;
  std::array<std::byte, 256> frame{};
  for (;;) {
    const ssize_t size = ::recv(socket.descriptor(), frame.data(), frame.size(), MSG_DONTWAIT);
    if (size <= 0) return count;
    if (frame.at(static_cast<std::size_t>(size) - 1) == mark) ++count;
  }
}

TEST(FanoutSockets, EachFrameComesToOneSocketAndNoneThatLeaves) {
  bool allowed = false;
  std::thread([&] {
    allowed = ::unshare(CLONE_NEWNET) == 0;
    if (!allowed) return;
    ASSERT_EQ(std::system("ip link add va type veth peer name vb && ip link set va up && "
                          "ip link set vb up"),
              0);
    const unsigned index = ::if_nametoindex("va");
    const Spread spread{.queues = 4};
    std::vector<std::unique_ptr<PacketSocket>> sockets;
    std::optional<Fanout> group;
    for (unsigned i = 0; i < spread.queues; ++i) {
      sockets.push_back(std::make_unique<PacketSocket>(index, spread.queues));
      if (group) {
        group->add(sockets.back()->descriptor());
      } else {
        group.emplace(sockets.back()->descriptor(), spread);
      }
    }
    for (const auto& socket : sockets) socket->begin_to_receive();
    constexpr std::byte kMark{0x77};
    const Host near("va");
    const Host far("vb");
    std::vector<unsigned> expected(spread.queues);
    for (std::uint16_t port = 0; port < 64; ++port) {
      const Flow flow{*IpAddress::parse("203.0.113.5"), *IpAddress::parse("198.51.100.5"), port,
                      80};
      Packet frame = framed(v4(flow, kTcp));
      frame.back() = kMark;
      ASSERT_TRUE(far.send(frame));
      ASSERT_TRUE(near.send(frame));
      ++expected[by_flow(flow) & (spread.queues - 1)];
    }
    for (unsigned i = 0; i < spread.queues; ++i) {
      EXPECT_GT(expected[i], 0U);
      EXPECT_EQ(received(*sockets[i], kMark), expected[i]) << "queue " << i;
    }
  }).join();
  if (!allowed) GTEST_SKIP() << "no right to a network namespace";
}

TEST(FanoutSockets, NoFrameComesBeforeTheGroupBeginsToReceive) {
  bool allowed = false;
  std::thread([&] {
    allowed = ::unshare(CLONE_NEWNET) == 0;
    if (!allowed) return;
    ASSERT_EQ(std::system("ip link add va type veth peer name vb && ip link set va up && "
                          "ip link set vb up"),
              0);
    const unsigned index = ::if_nametoindex("va");
    PacketSocket first(index, 2);
    PacketSocket second(index, 2);
    constexpr std::byte kMark{0x78};
    constexpr unsigned kFrames = 5;
    const Host far("vb");
    const Flow flow{*IpAddress::parse("203.0.113.5"), *IpAddress::parse("198.51.100.5"), 1, 80};
    Packet frame = framed(v4(flow, kTcp));
    frame.back() = kMark;
    const auto send = [&] {
      for (unsigned i = 0; i < kFrames; ++i) ASSERT_TRUE(far.send(frame));
    };
    send();
    Fanout group(first.descriptor(), {.queues = 2});
    group.add(second.descriptor());
    send();
    EXPECT_EQ(received(first, kMark) + received(second, kMark), 0U);
    first.begin_to_receive();
    second.begin_to_receive();
    send();
    EXPECT_EQ(received(first, kMark) + received(second, kMark), kFrames);
    EXPECT_EQ(first.dropped() + second.dropped(), 0U) << "frames that are ignored are not lost";
  }).join();
  if (!allowed) GTEST_SKIP() << "no right to a network namespace";
}

}  // namespace
}  // namespace satrelay::dpdk::fanout_test
