// The program that the kernel spreads frames by chooses the worker that the gateway computes.
#include "relay/dpdk/fanout.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "relay/gateway/steering/flow_hash.h"

namespace satrelay::dpdk {
namespace {

using Octets = std::vector<std::uint8_t>;

// A packet as a program sees it: from its network header on, and what the kernel knows of it.
struct Seen {
  std::uint16_t protocol = 0;
  Octets octets;
};

// bpf(4), and the kernel's way with a load beyond the end: the program returns 0.
class Interpreter {
 public:
  explicit Interpreter(std::vector<sock_filter> program) : program_(std::move(program)) {}

  std::uint32_t run(const Seen& packet) const {
    std::uint32_t a = 0, x = 0;
    std::array<std::uint32_t, BPF_MEMWORDS> memory{};
    for (std::size_t at = 0; at < program_.size(); ++at) {
      const sock_filter& step = program_[at];
      const std::uint32_t operand = BPF_SRC(step.code) == BPF_X ? x : step.k;
      switch (BPF_CLASS(step.code)) {
        case BPF_LD:
        case BPF_LDX: {
          const auto value = load(step, packet, x, memory);
          if (!value) return 0;
          (BPF_CLASS(step.code) == BPF_LD ? a : x) = *value;
          break;
        }
        case BPF_ST:
          memory.at(step.k) = a;
          break;
        case BPF_ALU:
          a = compute(BPF_OP(step.code), a, operand);
          break;
        case BPF_JMP:
          at += BPF_OP(step.code) == BPF_JA            ? step.k
                : holds(BPF_OP(step.code), a, operand) ? step.jt
                                                       : step.jf;
          break;
        case BPF_MISC:
          (BPF_MISCOP(step.code) == BPF_TAX ? x : a) = BPF_MISCOP(step.code) == BPF_TAX ? a : x;
          break;
        case BPF_RET:
          return BPF_RVAL(step.code) == BPF_A ? a : step.k;
        default:
          ADD_FAILURE() << "instruction " << at << " is of no class that the interpreter knows";
          return 0;
      }
    }
    ADD_FAILURE() << "the program runs over its end";
    return 0;
  }

 private:
  static std::optional<std::uint32_t> load(const sock_filter& step, const Seen& packet,
                                           std::uint32_t x,
                                           const std::array<std::uint32_t, BPF_MEMWORDS>& memory) {
    switch (BPF_MODE(step.code)) {
      case BPF_IMM:
        return step.k;
      case BPF_MEM:
        return memory.at(step.k);
      case BPF_ABS:
        if (step.k == static_cast<std::uint32_t>(SKF_AD_OFF + SKF_AD_PROTOCOL)) {
          return packet.protocol;
        }
        return read(packet, step.k, BPF_SIZE(step.code));
      case BPF_IND:
        return read(packet, std::uint64_t{x} + step.k, BPF_SIZE(step.code));
      case BPF_MSH:
        if (const auto octet = read(packet, step.k, BPF_B)) return (*octet & 0xf) * 4;
        return std::nullopt;
      default:
        ADD_FAILURE() << "a load that the interpreter does not know";
        return std::nullopt;
    }
  }
  static std::optional<std::uint32_t> read(const Seen& packet, std::uint64_t at, unsigned size) {
    const std::size_t length = size == BPF_W ? 4 : size == BPF_H ? 2 : 1;
    if (at + length > packet.octets.size()) return std::nullopt;
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < length; ++i) value = value << 8 | packet.octets[at + i];
    return value;
  }
  static std::uint32_t compute(unsigned operation, std::uint32_t a, std::uint32_t b) {
    switch (operation) {
      case BPF_SUB:
        return a - b;
      case BPF_AND:
        return a & b;
      case BPF_OR:
        return a | b;
      case BPF_XOR:
        return a ^ b;
      case BPF_LSH:
        return a << b;
      case BPF_RSH:
        return a >> b;
      default:
        ADD_FAILURE() << "an operation that the interpreter does not know";
        return 0;
    }
  }
  static bool holds(unsigned test, std::uint32_t a, std::uint32_t b) {
    switch (test) {
      case BPF_JEQ:
        return a == b;
      case BPF_JGE:
        return a >= b;
      case BPF_JSET:
        return (a & b) != 0;
      default:
        ADD_FAILURE() << "a test that the interpreter does not know";
        return false;
    }
  }

  std::vector<sock_filter> program_;
};

struct Tuple {
  IpAddress source, destination;
  std::uint16_t from = 0, to = 0;

  unsigned worker(unsigned workers) const {
    return gateway::flow_hash(source, destination, from, to) & (workers - 1);
  }
  unsigned worker_by_addresses(unsigned workers) const {
    return gateway::flow_hash(source, destination, 0, 0) & (workers - 1);
  }
};

void put16(Octets& out, std::uint16_t value) {
  out.push_back(static_cast<std::uint8_t>(value >> 8));
  out.push_back(static_cast<std::uint8_t>(value));
}

void put_address(Octets& out, const IpAddress& address) {
  for (std::size_t i = 0; i < address.size(); ++i) out.push_back(address.octets()[i]);
}

constexpr std::uint16_t kNoFragment = 0x4000;  // DF, as usual

Seen v4(const Tuple& tuple, std::uint8_t protocol, std::size_t options = 0,
        std::uint16_t fragment = kNoFragment) {
  Seen seen{.protocol = ETH_P_IP, .octets = {}};
  Octets& out = seen.octets;
  out.push_back(static_cast<std::uint8_t>(0x40 | (5 + options / 4)));
  out.push_back(0);
  put16(out, static_cast<std::uint16_t>(40 + options));
  put16(out, 0x1234);
  put16(out, fragment);
  out.push_back(64);
  out.push_back(protocol);
  put16(out, 0xbeef);
  put_address(out, tuple.source);
  put_address(out, tuple.destination);
  out.resize(out.size() + options, 1);
  put16(out, tuple.from);
  put16(out, tuple.to);
  out.resize(out.size() + 16, 0xa5);
  return seen;
}

Seen v6(const Tuple& tuple, std::uint8_t next_header) {
  Seen seen{.protocol = ETH_P_IPV6, .octets = {0x60, 0, 0, 0}};
  Octets& out = seen.octets;
  put16(out, 20);
  out.push_back(next_header);
  out.push_back(64);
  put_address(out, tuple.source);
  put_address(out, tuple.destination);
  put16(out, tuple.from);
  put16(out, tuple.to);
  out.resize(out.size() + 16, 0xa5);
  return seen;
}

// Behind the outer tag, which the kernel keeps beside the packet.
Seen tagged(const Seen& inner, int protocol) {
  Seen seen{.protocol = static_cast<std::uint16_t>(protocol), .octets = {}};
  put16(seen.octets, 7);
  put16(seen.octets, inner.protocol);
  seen.octets.insert(seen.octets.end(), inner.octets.begin(), inner.octets.end());
  return seen;
}

class FanoutProgram : public testing::TestWithParam<unsigned> {
 protected:
  Tuple any(bool is_v6) {
    const auto address = [&] {
      std::array<std::uint8_t, 16> o{};
      for (auto& octet : o) octet = static_cast<std::uint8_t>(random_());
      return is_v6 ? IpAddress::v6(o) : IpAddress::v4({o[0], o[1], o[2], o[3]});
    };
    return {.source = address(),
            .destination = address(),
            .from = static_cast<std::uint16_t>(random_()),
            .to = static_cast<std::uint16_t>(random_())};
  }
  static unsigned workers() { return GetParam(); }

  static constexpr int kTimes = 500;
  std::mt19937 random_{11};
};

TEST_P(FanoutProgram, ChoosesTheWorkerOfAFlow) {
  const Interpreter program(fanout_program({.queues = workers()}));
  for (int i = 0; i < kTimes; ++i) {
    for (const std::uint8_t protocol : {IPPROTO_TCP, IPPROTO_UDP}) {
      const Tuple four = any(false), six = any(true);
      ASSERT_EQ(program.run(v4(four, protocol)), four.worker(workers()));
      ASSERT_EQ(program.run(v4(four, protocol, 12)), four.worker(workers())) << "with options";
      ASSERT_EQ(program.run(v6(six, protocol)), six.worker(workers()));
    }
  }
}

TEST_P(FanoutProgram, LooksBehindATagInTheData) {
  const Interpreter program(fanout_program({.queues = workers()}));
  for (int i = 0; i < kTimes; ++i) {
    for (const int tag : {ETH_P_8021Q, ETH_P_8021AD}) {
      const Tuple four = any(false), six = any(true);
      ASSERT_EQ(program.run(tagged(v4(four, IPPROTO_TCP, 8), tag)), four.worker(workers()));
      ASSERT_EQ(program.run(tagged(v6(six, IPPROTO_UDP), tag)), six.worker(workers()));
    }
  }
}

TEST_P(FanoutProgram, GoesByAddressesWithoutPorts) {
  const Interpreter program(fanout_program({.queues = workers(), .first_port = 7878, .ports = 16}));
  constexpr std::uint16_t kFirst = 0x2000, kLater = 0x00b9;
  for (int i = 0; i < kTimes; ++i) {
    Tuple four = any(false);
    const Tuple six = any(true);
    ASSERT_EQ(program.run(v4(four, IPPROTO_ICMP)), four.worker_by_addresses(workers()));
    ASSERT_EQ(program.run(v6(six, IPPROTO_ICMPV6)), six.worker_by_addresses(workers()));
    ASSERT_EQ(program.run(v6(six, IPPROTO_FRAGMENT)), six.worker_by_addresses(workers()));
    four.to = 7879;  // a fragment of STP goes with the rest of its datagram
    for (const std::uint16_t fragment : {kFirst, kLater}) {
      ASSERT_EQ(program.run(v4(four, IPPROTO_UDP, 0, fragment)),
                four.worker_by_addresses(workers()));
    }
  }
}

TEST_P(FanoutProgram, CountsLanesThroughTheWorkers) {
  constexpr std::uint16_t kFirst = 7878;
  constexpr unsigned kPorts = 16;
  const Interpreter program(
      fanout_program({.queues = workers(), .first_port = kFirst, .ports = kPorts}));
  for (int i = 0; i < kTimes; ++i) {
    Tuple four = any(false), six = any(true);
    for (unsigned lane = 0; lane < kPorts; ++lane) {
      four.to = six.to = static_cast<std::uint16_t>(kFirst + lane);
      ASSERT_EQ(program.run(v4(four, IPPROTO_UDP, 4)), lane % workers());
      ASSERT_EQ(program.run(v6(six, IPPROTO_UDP)), lane % workers());
      ASSERT_EQ(program.run(v4(four, IPPROTO_TCP)), four.worker(workers())) << "TCP has no lanes";
    }
    for (const unsigned to : {kFirst - 1U, kFirst + kPorts}) {
      four.to = six.to = static_cast<std::uint16_t>(to);
      ASSERT_EQ(program.run(v4(four, IPPROTO_UDP)), four.worker(workers()));
      ASSERT_EQ(program.run(v6(six, IPPROTO_UDP)), six.worker(workers()));
    }
  }
}

TEST_P(FanoutProgram, GivesAllElseToTheFirst) {
  const Interpreter program(fanout_program({.queues = workers(), .first_port = 7878, .ports = 16}));
  EXPECT_EQ(program.run({.protocol = ETH_P_ARP, .octets = Octets(28, 0xff)}), 0U);
  EXPECT_EQ(program.run(tagged({.protocol = ETH_P_ARP, .octets = Octets(28, 0xff)}, ETH_P_8021Q)),
            0U);
  for (const Seen& whole : {v4(any(false), IPPROTO_UDP), v6(any(true), IPPROTO_TCP)}) {
    for (std::size_t size = 0; size < whole.octets.size(); ++size) {
      Seen cut = whole;
      cut.octets.resize(size);
      EXPECT_LT(program.run(cut), workers());
    }
  }
}

TEST_P(FanoutProgram, IsOneThatTheKernelTakes) {
  std::vector<sock_filter> code =
      fanout_program({.queues = workers(), .first_port = 7878, .ports = 16});
  const sock_fprog program{.len = static_cast<unsigned short>(code.size()), .filter = code.data()};
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ASSERT_GE(socket, 0);
  EXPECT_EQ(::setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program), 0);
  ::close(socket);
}

INSTANTIATE_TEST_SUITE_P(Workers, FanoutProgram, testing::Values(2U, 4U, 8U, 16U));

}  // namespace
}  // namespace satrelay::dpdk
