#include "relay/gateway/frames/keyed_hash.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "pep/base/int128.h"
#include "pep/wire/ip.h"

namespace satrelay::gateway {
namespace {

struct SipState {
  std::uint64_t v0, v1, v2, v3;

  void round() {
    v0 += v1;
    v1 = std::rotl(v1, 13) ^ v0;
    v0 = std::rotl(v0, 32);
    v2 += v3;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = std::rotl(v1, 17) ^ v2;
    v2 = std::rotl(v2, 32);
  }
};

std::uint64_t load_little_endian(const std::byte* p) {
  std::uint64_t v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

// The 64x64 -> 128 bit product, folded, so that every input bit affects every output bit.
std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
  const auto product = static_cast<Uint128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// The flow key as words: addresses, then ports and VLANs. An address has two words; with IPv4 the
// second word is zero.
std::array<std::uint64_t, 6> words_of(const FlowKey& flow) {
  std::array<std::uint64_t, 6> words{};
  std::memcpy(&words[0], flow.local.octets().data(), 16);
  std::memcpy(&words[2], flow.remote.octets().data(), 16);
  words[4] = std::uint64_t{flow.local_port} << 48 | std::uint64_t{flow.remote_port} << 32 |
             std::uint64_t{flow.vlans[0]} << 16 | flow.vlans[1];
  words[5] = flow.local.is_v4() ? 4 : 6;
  return words;
}

}  // namespace

std::uint64_t sip_hash(const HashKey& key, ConstBytes bytes) {
  SipState s{key.k0 ^ 0x736f6d6570736575U, key.k1 ^ 0x646f72616e646f6dU,
             key.k0 ^ 0x6c7967656e657261U, key.k1 ^ 0x7465646279746573U};
  const std::size_t size = bytes.size();
  while (bytes.size() >= 8) {
    const std::uint64_t word = load_little_endian(bytes.data());
    s.v3 ^= word;
    s.round();
    s.round();
    s.v0 ^= word;
    bytes = bytes.subspan(8);
  }
  std::array<std::byte, 8> tail{};
  if (!bytes.empty()) std::memcpy(tail.data(), bytes.data(), bytes.size());
  tail[7] = static_cast<std::byte>(size & 0xffU);
  const std::uint64_t last = load_little_endian(tail.data());
  s.v3 ^= last;
  s.round();
  s.round();
  s.v0 ^= last;
  s.v2 ^= 0xff;
  for (int i = 0; i < 4; ++i) s.round();
  return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

std::uint64_t hash_host(const HashKey& key, const IpAddress& host) {
  return sip_hash(key, std::as_bytes(std::span(host.octets())));
}

std::uint64_t sip_hash(const HashKey& key, const FlowKey& flow, std::uint64_t more) {
  const auto words = words_of(flow);
  std::array<std::uint64_t, words.size() + 1> all{};
  std::ranges::copy(words, all.begin());
  all.back() = more;
  return sip_hash(key, std::as_bytes(std::span(all)));
}

std::uint64_t hash_flow(const HashKey& key, const FlowKey& flow) {
  const auto w = words_of(flow);
  std::uint64_t h = fold(w[0] ^ key.k0, w[2] ^ key.k1 ^ 0x9E3779B97F4A7C15U);
  h ^= fold(w[1] ^ key.k1, w[3] ^ key.k0 ^ 0xD6E8FEB86659FD93U);
  return fold(h ^ w[4] ^ key.k0, (w[5] + 0xA0761D6478BD642FU) ^ key.k1 ^ std::rotl(w[4], 29));
}

std::uint64_t hash_words(const HashKey& key, std::uint64_t first, std::uint64_t second) {
  const std::uint64_t h = fold(first ^ key.k0, second ^ key.k1 ^ 0x9E3779B97F4A7C15U);
  return fold(h ^ key.k1, key.k0 ^ 0xA0761D6478BD642FU);
}

std::uint64_t hash_service(const HashKey& key, const IpAddress& host, std::uint16_t port,
                           const std::array<std::uint16_t, wire::kMaxVlanTags>& vlans) {
  std::array<std::uint64_t, 2> address;
  std::memcpy(address.data(), host.octets().data(), 16);
  const std::uint64_t rest = std::uint64_t{port} << 48 | std::uint64_t{host.is_v4()} << 32 |
                             std::uint64_t{vlans[0]} << 16 | vlans[1];
  return hash_words(key, hash_words(key, address[0], address[1]), rest);
}

std::uint32_t flow_label(const FlowKey& flow) {
  constexpr HashKey kPublic{0x666c'6f77'206c'6162ULL, 0x656c'2036'3433'3720ULL};
  constexpr std::uint64_t kLabels = 0xf'ffff;  // 0 is not a label
  FlowKey tuple = flow;
  tuple.vlans = {};
  return static_cast<std::uint32_t>(sip_hash(kPublic, tuple, wire::kProtocolTcp) % kLabels + 1);
}

std::uint32_t initial_sequence(const HashKey& key, const FlowKey& flow, std::int64_t nanoseconds) {
  const auto words = words_of(flow);
  const auto hash = sip_hash(key, std::as_bytes(std::span(words)));
  return static_cast<std::uint32_t>(hash + static_cast<std::uint64_t>(nanoseconds) / 4000U);
}

}  // namespace satrelay::gateway
