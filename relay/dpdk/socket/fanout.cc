#include "relay/dpdk/socket/fanout.h"

#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

namespace satrelay::dpdk {
namespace {

// PACKET_FANOUT_FLAG_IGNORE_OUTGOING. A group ignores the option PACKET_IGNORE_OUTGOING of its
// sockets. Linux before 6.2 does not know the flag, and accepts it silently.
constexpr int kIgnoreOutgoing = 0x4000;
// Indices of words in the program's scratch memory: the sum so far, and the queue so far.
constexpr std::uint32_t kSum = 0, kQueue = 1;

enum class Label : std::uint8_t { kV4, kV6, kTagged, kTaggedV4, kTaggedV6, kMap };

class Program {
 public:
  void put(unsigned code, std::uint32_t value = 0) {
    code_.push_back({.code = static_cast<std::uint16_t>(code), .jt = 0, .jf = 0, .k = value});
  }
  void go_to(Label label) {
    jumps_.emplace_back(code_.size(), label);
    put(BPF_JMP | BPF_JA);
  }
  // `test`: BPF_JEQ or BPF_JSET.
  void go_to_if(unsigned test, std::uint32_t value, Label label) {
    code_.push_back(
        {.code = static_cast<std::uint16_t>(BPF_JMP | test | BPF_K), .jt = 0, .jf = 1, .k = value});
    go_to(label);
  }
  void skip_unless(unsigned test, std::uint32_t value, std::uint8_t instructions) {
    code_.push_back({.code = static_cast<std::uint16_t>(BPF_JMP | test | BPF_K),
                     .jt = 0,
                     .jf = instructions,
                     .k = value});
  }
  void here(Label label) { places_[label] = code_.size(); }
  // Adds the packet word in the accumulator to the sum, which is an XOR.
  void add_to_sum() {
    put(BPF_LDX | BPF_MEM, kSum);
    put(BPF_ALU | BPF_XOR | BPF_X);
    put(BPF_ST, kSum);
  }
  std::vector<sock_filter> finish() && {
    for (const auto& [at, label] : jumps_) {
      code_[at].k = static_cast<std::uint32_t>(places_.at(label) - at - 1);
    }
    return std::move(code_);
  }

 private:
  std::vector<sock_filter> code_;
  std::vector<std::pair<std::size_t, Label>> jumps_;
  std::map<Label, std::size_t> places_;
};

// Adds the ports to the sum, which already has the addresses. `protocol`: offset of the protocol
// number in the packet. `transport`: offset of the TCP or UDP header, counted from the start of the
// packet (`mode` BPF_ABS) or from register X (BPF_IND).
void put_transport(Program& program, std::uint32_t protocol, unsigned mode,
                   std::uint32_t transport) {
  program.put(BPF_LD | BPF_B | BPF_ABS, protocol);
  program.skip_unless(BPF_JEQ, IPPROTO_UDP, 1);
  program.put(BPF_JMP | BPF_JA, 3);
  program.skip_unless(BPF_JEQ, IPPROTO_TCP, 1);
  program.put(BPF_JMP | BPF_JA, 1);
  program.go_to(Label::kMap);
  program.put(BPF_LD | BPF_W | mode, transport);
  program.add_to_sum();
  program.go_to(Label::kMap);
}

// Adds the addresses and ports of an IPv4 packet to the sum. `ip`: offset of the IP header in the
// packet.
void put_v4(Program& program, std::uint32_t ip) {
  for (const std::uint32_t at : {12U, 16U}) {
    program.put(BPF_LD | BPF_W | BPF_ABS, ip + at);
    program.add_to_sum();
  }
  program.put(BPF_LD | BPF_H | BPF_ABS, ip + 6);
  program.go_to_if(BPF_JSET, 0x3fff, Label::kMap);  // the packet is a fragment
  program.put(BPF_LDX | BPF_B | BPF_MSH, ip);       // loads the length of the IP header into X
  put_transport(program, ip + 9, BPF_IND, ip);
}

void put_v6(Program& program, std::uint32_t ip) {
  for (std::uint32_t at = 8; at < 40; at += 4) {
    program.put(BPF_LD | BPF_W | BPF_ABS, ip + at);
    program.add_to_sum();
  }
  put_transport(program, ip + 6, BPF_ABS, ip + 40);
}

// Bit `bit` of the hash is the parity of some bits of the sum. Returns the mask of these bits. In
// the hash, input bit i, counted from the highest, adds the key rotated left by i bits.
std::uint32_t mask_of(unsigned bit) {
  std::uint32_t mask = 0;
  for (unsigned i = 0; i < 16; ++i) {
    const auto turned = std::rotl(kSpreadKey, static_cast<int>(i));
    if ((turned >> bit & 1U) != 0) mask |= 0x8000U >> i;
  }
  return mask;
}

void put_map(Program& program, unsigned queues) {
  program.put(BPF_LD | BPF_MEM, kSum);
  program.put(BPF_MISC | BPF_TAX);
  program.put(BPF_ALU | BPF_RSH | BPF_K, 16);
  program.put(BPF_ALU | BPF_XOR | BPF_X);
  program.put(BPF_ST, kSum);
  program.put(BPF_LD | BPF_IMM, 0);
  program.put(BPF_ST, kQueue);
  for (unsigned bit = 0; 1U << bit < queues; ++bit) {
    program.put(BPF_LD | BPF_MEM, kSum);
    program.put(BPF_ALU | BPF_AND | BPF_K, mask_of(bit));
    for (const std::uint32_t by : {8U, 4U, 2U, 1U}) {
      program.put(BPF_MISC | BPF_TAX);
      program.put(BPF_ALU | BPF_RSH | BPF_K, by);
      program.put(BPF_ALU | BPF_XOR | BPF_X);
    }
    program.put(BPF_ALU | BPF_AND | BPF_K, 1);
    program.put(BPF_ALU | BPF_LSH | BPF_K, bit);
    program.put(BPF_LDX | BPF_MEM, kQueue);
    program.put(BPF_ALU | BPF_OR | BPF_X);
    program.put(BPF_ST, kQueue);
  }
  program.put(BPF_RET | BPF_A);
}

[[noreturn]] void fail_to_share(const std::string& what) {
  throw std::runtime_error("packet sockets of several workers: " + what + ": " +
                           std::strerror(errno));
}

}  // namespace

std::vector<sock_filter> fanout_program(const Spread& spread) {
  Program program;
  program.put(BPF_LD | BPF_IMM, 0);
  program.put(BPF_ST, kSum);
  program.put(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(SKF_AD_OFF + SKF_AD_PROTOCOL));
  program.go_to_if(BPF_JEQ, ETH_P_IP, Label::kV4);
  program.go_to_if(BPF_JEQ, ETH_P_IPV6, Label::kV6);
  // The kernel removes only the outer VLAN tag. If there is a tag in the packet, it is the inner
  // one of two tags.
  program.go_to_if(BPF_JEQ, ETH_P_8021Q, Label::kTagged);
  program.go_to_if(BPF_JEQ, ETH_P_8021AD, Label::kTagged);
  program.put(BPF_RET | BPF_K, 0);
  program.here(Label::kTagged);
  program.put(BPF_LD | BPF_H | BPF_ABS, 2);
  program.go_to_if(BPF_JEQ, ETH_P_IP, Label::kTaggedV4);
  program.go_to_if(BPF_JEQ, ETH_P_IPV6, Label::kTaggedV6);
  program.put(BPF_RET | BPF_K, 0);
  program.here(Label::kV4);
  put_v4(program, 0);
  program.here(Label::kTaggedV4);
  put_v4(program, 4);
  program.here(Label::kV6);
  put_v6(program, 0);
  program.here(Label::kTaggedV6);
  put_v6(program, 4);
  program.here(Label::kMap);
  put_map(program, spread.queues);
  return std::move(program).finish();
}

Fanout::Fanout(int descriptor, const Spread& spread) {
  constexpr int kType = PACKET_FANOUT_CBPF | kIgnoreOutgoing;
  const int fresh = (kType | PACKET_FANOUT_FLAG_UNIQUEID) << 16;
  if (::setsockopt(descriptor, SOL_PACKET, PACKET_FANOUT, &fresh, sizeof fresh) != 0) {
    fail_to_share("PACKET_FANOUT");
  }
  socklen_t length = sizeof group_;
  if (::getsockopt(descriptor, SOL_PACKET, PACKET_FANOUT, &group_, &length) != 0) {
    fail_to_share("PACKET_FANOUT");
  }
  group_ = (group_ & 0xffff) | kType << 16;
  std::vector<sock_filter> code = fanout_program(spread);
  const sock_fprog program{.len = static_cast<unsigned short>(code.size()), .filter = code.data()};
  if (::setsockopt(descriptor, SOL_PACKET, PACKET_FANOUT_DATA, &program, sizeof program) != 0) {
    fail_to_share("PACKET_FANOUT_DATA");
  }
}

void Fanout::add(int descriptor) {
  if (::setsockopt(descriptor, SOL_PACKET, PACKET_FANOUT, &group_, sizeof group_) != 0) {
    fail_to_share("PACKET_FANOUT");
  }
}

}  // namespace satrelay::dpdk
