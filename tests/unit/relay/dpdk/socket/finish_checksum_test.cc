#include "relay/dpdk/socket/finish_checksum.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "pep/base/random.h"

namespace satrelay::dpdk::finish_checksum_test {
namespace {

// RFC 1071 over `bytes`, added to `sum`.
std::uint32_t add(std::uint32_t sum, ConstBytes bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    sum += static_cast<std::uint32_t>(bytes[i]) << (i % 2 == 0 ? 8 : 0);
  }
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return sum;
}

struct Frame {
  std::vector<std::byte> bytes;
  std::size_t ip = 0;
  std::size_t transport = 0;
  std::size_t checksum = 0;
  std::uint8_t protocol = 0;
  bool is_v6 = false;
};

Frame make_frame(bool is_v6, std::uint8_t protocol, std::size_t tags, std::size_t payload,
                 std::size_t ip_options = 0) {
  Frame f;
  f.is_v6 = is_v6;
  f.protocol = protocol;
  f.ip = 14 + 4 * tags;
  const std::size_t header = is_v6 ? 40 : 20 + ip_options;
  const std::size_t transport_header = protocol == 6 ? 20 : 8;
  f.transport = f.ip + header;
  f.checksum = f.transport + (protocol == 6 ? 16 : 6);
  constexpr std::size_t kPadding = 4;  // Ethernet padding, which does not count
  f.bytes.assign(f.transport + transport_header + payload + kPadding, std::byte{0});
  for (std::size_t i = 0; i < tags; ++i) {
    store_u32(f.bytes.data() + 12 + 4 * i, i == 0 ? 0x88a8'0005 : 0x8100'0006);
  }
  store_u16(f.bytes.data() + f.ip - 2, is_v6 ? 0x86dd : 0x0800);
  Random random(payload + tags);
  for (std::size_t i = f.ip; i < f.bytes.size(); ++i) {
    f.bytes[i] = static_cast<std::byte>(random.next());
  }
  std::byte* ip = f.bytes.data() + f.ip;
  const auto length = static_cast<std::uint16_t>(transport_header + payload);
  if (is_v6) {
    store_u8(ip, 0x60);
    store_u16(ip + 4, length);
    store_u8(ip + 6, protocol);
  } else {
    store_u8(ip, static_cast<std::uint8_t>(0x40 + header / 4));
    store_u16(ip + 2, static_cast<std::uint16_t>(header + length));
    store_u16(ip + 6, 0x4000);
    store_u8(ip + 9, protocol);
  }
  return f;
}

bool is_correct(const Frame& f) {
  const ConstBytes all(f.bytes);
  const ConstBytes transport = all.subspan(f.transport, all.size() - 4 - f.transport);
  std::uint32_t sum = add(0, f.is_v6 ? all.subspan(f.ip + 8, 32) : all.subspan(f.ip + 12, 8));
  sum += f.protocol + static_cast<std::uint32_t>(transport.size());
  return add(sum, transport) == 0xffff;
}

TEST(FinishChecksum, CompletesTcpAndUdpOverBothVersions) {
  for (const bool is_v6 : {false, true}) {
    for (const std::uint8_t protocol : {std::uint8_t{6}, std::uint8_t{17}}) {
      for (const std::size_t tags : {0U, 1U, 2U}) {
        for (const std::size_t payload : {0U, 1U, 2U, 777U, 1400U}) {
          Frame f = make_frame(is_v6, protocol, tags, payload);
          ASSERT_TRUE(finish_checksum(f.bytes));
          EXPECT_TRUE(is_correct(f)) << is_v6 << int{protocol} << tags << payload;
        }
      }
    }
  }
  Frame with_options = make_frame(false, 6, 0, 100, 24);
  ASSERT_TRUE(finish_checksum(with_options.bytes));
  EXPECT_TRUE(is_correct(with_options));
}

// The sender leaves the checksum to be finished, behind headers that are not parsed.
TEST(FinishChecksum, CompletesWhereItIsTold) {
  for (const std::uint8_t protocol : {std::uint8_t{6}, std::uint8_t{17}}) {
    for (const std::size_t payload : {0U, 1U, 777U}) {
      Frame f = make_frame(false, protocol, 0, payload);
      const ConstBytes all(f.bytes);
      const auto length = static_cast<std::uint32_t>(all.size() - 4 - f.transport);
      const std::uint32_t pseudo = add(protocol + length, all.subspan(f.ip + 12, 8));
      store_u16(f.bytes.data() + f.checksum, static_cast<std::uint16_t>(pseudo));
      const MutableBytes frame = MutableBytes(f.bytes).first(f.bytes.size() - 4);
      ASSERT_TRUE(finish_checksum_at(frame, f.transport, f.checksum - f.transport));
      EXPECT_TRUE(is_correct(f)) << int{protocol} << payload;
    }
  }
  Frame f = make_frame(false, 17, 0, 10);
  EXPECT_FALSE(finish_checksum_at(f.bytes, f.transport, 2)) << "no protocol's";
  EXPECT_FALSE(finish_checksum_at(f.bytes, f.bytes.size() - 11, 8)) << "SCTP";
  EXPECT_FALSE(finish_checksum_at(f.bytes, f.bytes.size() - 7, 6));
  EXPECT_FALSE(finish_checksum_at(f.bytes, 60'000, 16));
}

// RFC 2784 section 2.3: the checksum covers header and payload, with 0 in its own place.
TEST(FinishChecksum, WritesThatOfGre) {
  std::vector<std::byte> frame(34 + 8 + 21);
  for (std::size_t i = 34; i < frame.size(); ++i) frame[i] = static_cast<std::byte>(i);
  store_u32(frame.data() + 34, 0x8000'0800);
  store_u32(frame.data() + 38, 0);
  ASSERT_TRUE(finish_checksum_at(frame, 34, 4));
  EXPECT_NE(load_u16(frame.data() + 38), 0);
  EXPECT_EQ(add(0, ConstBytes(frame).subspan(34)), 0xffffU);
  EXPECT_FALSE(finish_checksum_at(frame, frame.size() - 5, 4)) << "behind the end";
}

// RFC 9260 appendix A, checked with the CRC32C of "123456789".
TEST(FinishChecksum, WritesTheCrcOfSctp) {
  std::vector<std::byte> frame(34 + 12 + 21);
  for (std::size_t i = 34; i < frame.size(); ++i) frame[i] = static_cast<std::byte>(i);
  const auto crc_of = [](ConstBytes bytes) {
    std::uint32_t crc = 0xffff'ffff;
    for (const std::byte byte : bytes) {
      crc ^= static_cast<std::uint8_t>(byte);
      for (int i = 0; i < 8; ++i) crc = (crc >> 1) ^ ((crc & 1U) != 0 ? 0x82f6'3b78U : 0U);
    }
    return ~crc;
  };
  ASSERT_EQ(crc_of(std::as_bytes(std::span("123456789", 9))), 0xe306'9283U);
  std::vector<std::byte> zeroed = frame;
  store_u32(zeroed.data() + 42, 0);
  const std::uint32_t expected = crc_of(ConstBytes(zeroed).subspan(34));
  ASSERT_TRUE(finish_checksum_at(frame, 34, 8));
  EXPECT_EQ(__builtin_bswap32(load_u32(frame.data() + 42)), expected);
}

// Destination options before TCP. The pseudo-header has the number of TCP and the length of its
// segment.
TEST(FinishChecksum, LooksBehindExtensionHeaders) {
  Frame f = make_frame(true, 6, 1, 100);
  const std::array<std::byte, 8> options{std::byte{6}, std::byte{0}, std::byte{1}, std::byte{4}};
  f.bytes.insert(f.bytes.begin() + static_cast<std::ptrdiff_t>(f.transport), options.begin(),
                 options.end());
  store_u8(f.bytes.data() + f.ip + 6, 60);
  store_u16(f.bytes.data() + f.ip + 4, 128);
  f.transport += options.size();
  ASSERT_TRUE(finish_checksum(f.bytes));
  EXPECT_TRUE(is_correct(f));
  ASSERT_TRUE(finish_checksum(f.bytes, f.transport));
  EXPECT_FALSE(finish_checksum(f.bytes, f.transport - options.size()));
}

TEST(FinishChecksum, LeavesAllElseAlone) {
  const auto expect_left_alone = [](Frame f) {
    const auto before = f.bytes;
    EXPECT_FALSE(finish_checksum(f.bytes));
    EXPECT_EQ(f.bytes, before);
  };
  expect_left_alone(make_frame(false, 1, 0, 100));  // ICMP
  expect_left_alone(make_frame(true, 44, 0, 100));  // fragment header
  expect_left_alone(make_frame(false, 6, 3, 100));  // three tags
  Frame routed = make_frame(false, 6, 0, 100, 8);
  store_u32(routed.bytes.data() + routed.ip + 20, 0x0183'0704U);  // RFC 791: loose source route
  expect_left_alone(routed);
  Frame passing = make_frame(true, 43, 0, 100);
  store_u32(passing.bytes.data() + passing.transport, 0x0600'0001U);  // one more host to visit
  expect_left_alone(passing);
  Frame fragment = make_frame(false, 17, 0, 100);
  store_u16(fragment.bytes.data() + fragment.ip + 6, 0x2000);
  expect_left_alone(fragment);
  Frame too_long = make_frame(false, 17, 0, 100);
  store_u16(too_long.bytes.data() + too_long.ip + 2, 400);
  expect_left_alone(too_long);
  Frame short_header = make_frame(false, 17, 0, 100);
  store_u8(short_header.bytes.data() + short_header.ip, 0x41);
  expect_left_alone(short_header);
}

TEST(FinishChecksum, IsSafeOnAnyPrefixOfAFrame) {
  for (const bool is_v6 : {false, true}) {
    const Frame whole = make_frame(is_v6, 6, 1, 30);
    for (std::size_t size = 0; size < whole.bytes.size(); ++size) {
      std::vector<std::byte> part(whole.bytes.begin(),
                                  whole.bytes.begin() + static_cast<std::ptrdiff_t>(size));
      finish_checksum(part);  // must not read beyond (AddressSanitizer)
    }
  }
}

}  // namespace
}  // namespace satrelay::dpdk::finish_checksum_test
