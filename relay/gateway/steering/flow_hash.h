// The hash that decides to which lane, and so to which worker, a flow belongs. It is the Toeplitz
// hash of Microsoft's Receive Side Scaling over (source, destination, source port, destination
// port), with the key 0x6d5a repeated. The key's period is 16 bits (Woo, Park 2012: "Scalable TCP
// Session Monitoring with Symmetric Receive-side Scaling"), so the hash is the same for both
// directions. Both gateways compute the same hash from either side, and so do network cards that
// are given the key.
//
// Bits of the input at a distance of 16 bits are combined with the same bits of the key. So the
// hash is a linear map of the sum (XOR) of the input's 16-bit words. Since 0x6d5a has an odd number
// of bits set, different sums have different hashes.
#pragma once

#include <array>
#include <cstdint>

#include "pep/base/address.h"

namespace satrelay::gateway {

inline constexpr std::uint16_t kFlowHashKey = 0x6d5a;

namespace detail {

// Computes the hash of each value of one octet of the sum.
consteval std::array<std::uint16_t, 256> hash_of_octet(unsigned first_bit) {
  std::array<std::uint16_t, 256> table{};
  for (unsigned value = 0; value < 256; ++value) {
    std::uint16_t hash = 0;
    for (unsigned bit = 0; bit < 8; ++bit) {
      if ((value & (0x80U >> bit)) == 0) continue;
      const unsigned by = first_bit + bit;
      hash ^= static_cast<std::uint16_t>((kFlowHashKey << by) | (kFlowHashKey >> (16 - by)));
    }
    table[value] = hash;
  }
  return table;
}
inline constexpr std::array<std::uint16_t, 256> kHashOfHighOctet = hash_of_octet(0);
inline constexpr std::array<std::uint16_t, 256> kHashOfLowOctet = hash_of_octet(8);

constexpr std::uint16_t sum_of(const IpAddress& address) {
  const auto& o = address.octets();  // the octets behind an IPv4 address are zero
  unsigned sum = 0;
  for (std::size_t i = 0; i < o.size(); i += 2) {
    sum ^= static_cast<unsigned>(o[i]) << 8U | o[i + 1];
  }
  return static_cast<std::uint16_t>(sum);
}

}  // namespace detail

// Pass zero for the ports if there are none, or if they must not be included. The hash is in
// network order, as network cards compute it. Both halves of the hash are the same, since the key's
// period is 16 bits.
constexpr std::uint32_t flow_hash(const IpAddress& source, const IpAddress& destination,
                                  std::uint16_t source_port, std::uint16_t destination_port) {
  const unsigned sum =
      detail::sum_of(source) ^ detail::sum_of(destination) ^ source_port ^ destination_port;
  const std::uint32_t half =
      detail::kHashOfHighOctet[sum >> 8U & 0xffU] ^ detail::kHashOfLowOctet[sum & 0xffU];
  return half << 16U | half;
}

}  // namespace satrelay::gateway
