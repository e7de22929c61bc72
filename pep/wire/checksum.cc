#include "pep/wire/checksum.h"

#include "pep/wire/ip.h"

namespace satrelay::wire {

namespace {

// One's-complement addition commutes with swapping the bytes of every word (RFC 1071 section 2), so
// the words are added in the byte order of the machine, and only the folded result is swapped.
template <typename Word>
std::uint64_t load_native(const std::byte* p) {
  Word word;
  std::memcpy(&word, p, sizeof word);
  return word;
}

std::uint16_t fold(std::uint64_t sum) {
  sum = (sum & 0xffff'ffffU) + (sum >> 32);
  sum = (sum & 0xffffU) + (sum >> 16);
  sum = (sum & 0xffffU) + (sum >> 16);
  sum = (sum & 0xffffU) + (sum >> 16);
  return static_cast<std::uint16_t>(sum);
}

// Returns the unfolded sum in the byte order of the machine. The sum is exact for less than 16 GiB.
// The loop computes the sum of the whole words, and the sum of their upper halves. The sum of the
// lower halves is then computed from these two sums, even if the first has wrapped. So each word
// takes three operations and no carry, and the compiler can vectorize the loop. The compiler makes
// two versions of this function. If the processor has vectors of 64 bytes, the program selects the
// first version when it starts. Builds with a sanitizer have only one version, because the
// selection runs before the sanitizer is ready.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
[[gnu::target_clones("arch=x86-64-v4", "default")]]
#endif
std::uint64_t
sum_of_words(const std::byte* p, std::size_t words) {
  std::uint64_t whole = 0;
  std::uint64_t upper = 0;
#pragma GCC unroll 4
  for (std::size_t i = 0; i < words; ++i) {
    const std::uint64_t word = load_native<std::uint64_t>(p + 8 * i);
    whole += word;
    upper += word >> 32;
  }
  const std::uint64_t lower = whole - (upper << 32);
  return lower + upper;
}

// Like sum_of_words(), for any number of bytes.
std::uint64_t native_sum(const std::byte* p, std::size_t size) {
  const std::size_t words = size / 8;
  std::uint64_t sum = sum_of_words(p, words);
  p += 8 * words;
  if ((size & 4U) != 0) {
    sum += load_native<std::uint32_t>(p);
    p += 4;
  }
  if ((size & 2U) != 0) {
    sum += load_native<std::uint16_t>(p);
    p += 2;
  }
  if ((size & 1U) != 0) sum += load_u8(p);  // the machine is little-endian
  return sum;
}

// Offset of the checksum field; 0 for a protocol without one.
std::size_t field_offset(std::uint8_t protocol) {
  switch (protocol) {
    case kProtocolTcp:
      return 16;
    case kProtocolUdp:
      return 6;
    case kProtocolIcmpV6:
      return 2;
    default:
      return 0;
  }
}

// Returns the unfolded sum of the pseudo-header in the byte order of the machine.
std::uint64_t native_pseudo_header_sum(const IpAddress& source, const IpAddress& destination,
                                       std::uint8_t protocol, std::uint32_t length) {
  const auto* a = reinterpret_cast<const std::byte*>(source.octets().data());
  const auto* b = reinterpret_cast<const std::byte*>(destination.octets().data());
  const std::uint64_t tail =
      std::uint64_t{__builtin_bswap32(length)} + (std::uint64_t{protocol} << 8);
  if (source.is_v4()) {
    return tail + load_native<std::uint32_t>(a) + load_native<std::uint32_t>(b);
  }
  return tail + native_sum(a, 16) + native_sum(b, 16);
}

}  // namespace

std::uint16_t checksum_sum(ConstBytes bytes, std::uint16_t initial) {
  // Most calls are for IPv4 headers without options, so they avoid the general loop.
  if (bytes.size() == 20) {
    std::uint64_t sum = __builtin_bswap16(initial);
    for (std::size_t at = 0; at < 20; at += 4) sum += load_native<std::uint32_t>(&bytes[at]);
    return __builtin_bswap16(fold(sum));
  }
  return __builtin_bswap16(
      fold(native_sum(bytes.data(), bytes.size()) + __builtin_bswap16(initial)));
}

std::uint16_t add_checksums(std::uint16_t a, std::uint16_t b) {
  const std::uint32_t sum = std::uint32_t{a} + b;
  return static_cast<std::uint16_t>((sum & 0xffffU) + (sum >> 16));
}

std::uint16_t pseudo_header_sum(const IpAddress& source, const IpAddress& destination,
                                std::uint8_t protocol, std::uint32_t length) {
  return __builtin_bswap16(fold(native_pseudo_header_sum(source, destination, protocol, length)));
}

std::uint16_t transport_checksum(const IpAddress& source, const IpAddress& destination,
                                 std::uint8_t protocol, ConstBytes segment) {
  const auto length = static_cast<std::uint32_t>(segment.size());
  const std::uint64_t sum = native_pseudo_header_sum(source, destination, protocol, length) +
                            native_sum(segment.data(), segment.size());
  return static_cast<std::uint16_t>(~__builtin_bswap16(fold(sum)));
}

bool transport_checksum_ok(const IpAddress& source, const IpAddress& destination,
                           std::uint8_t protocol, ConstBytes segment) {
  // A correct segment has the sum 0xffff, and the complement zero. If all octets are zero, the sum
  // is zero, so the complement is 0xffff, and the segment is rejected.
  return transport_checksum(source, destination, protocol, segment) == 0;
}

bool transport_checksum_unfinished(const IpAddress& source, const IpAddress& destination,
                                   std::uint8_t protocol, ConstBytes segment) {
  const std::size_t offset = field_offset(protocol);
  if (offset == 0 || segment.size() < offset + 2) return false;
  const auto length = static_cast<std::uint32_t>(segment.size());
  return load_u16(segment.data() + offset) ==
         pseudo_header_sum(source, destination, protocol, length);
}

}  // namespace satrelay::wire
