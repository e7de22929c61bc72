#include "pep/wire/tcp.h"

#include <gtest/gtest.h>

#include "tests/unit/pep/wire/octets.h"

namespace satrelay::wire::tcp_test {
namespace {

// A plain header with these option octets, padded with end-of-list to a multiple of four.
std::vector<std::byte> segment_with(std::string_view options_text) {
  auto options = octets(options_text);
  while (options.size() % 4 != 0) options.push_back(std::byte{0});
  auto segment = octets("c000 0050 01020304 05060708 50 12 fff0 0000 0009");
  segment[12] = static_cast<std::byte>((20 + options.size()) / 4 * 16);
  segment.insert(segment.end(), options.begin(), options.end());
  return segment;
}

std::optional<TcpOptions> options_of(std::string_view text) {
  const auto parsed = parse_tcp(segment_with(text));
  if (!parsed) return std::nullopt;
  return parsed->header.options;
}

TEST(Tcp, ParsesTheFixedHeader) {
  const auto parsed = parse_tcp(segment_with(""));
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->header_size, 20U);
  EXPECT_EQ(parsed->header.source_port, 0xc000);
  EXPECT_EQ(parsed->header.destination_port, 80);
  EXPECT_EQ(parsed->header.sequence, 0x01020304U);
  EXPECT_EQ(parsed->header.acknowledgment, 0x05060708U);
  EXPECT_TRUE(parsed->header.has(TcpFlags::kSyn));
  EXPECT_TRUE(parsed->header.has(TcpFlags::kAck));
  EXPECT_FALSE(parsed->header.has(TcpFlags::kRst));
  EXPECT_EQ(parsed->header.window, 0xfff0);
  EXPECT_EQ(parsed->header.urgent, 9);
  EXPECT_EQ(parsed->header.options, TcpOptions());
}

TEST(Tcp, ParsesTheOptionsOfCommonStacks) {
  // Linux: MSS, SACK-permitted, timestamps, NOP, window scale.
  auto options = options_of("020405b4 0402 080a 00000001 00000002 01 030307");
  ASSERT_TRUE(options);
  EXPECT_EQ(options->mss, 1460);
  EXPECT_TRUE(options->sack_permitted);
  EXPECT_EQ(options->timestamps, (TcpTimestamps{.value = 1, .echo_reply = 2}));
  EXPECT_EQ(options->window_scale, 7);
  EXPECT_FALSE(options->has_unknown);
  // Windows: MSS, NOP, window scale, NOP, NOP, SACK-permitted.
  options = options_of("020405b4 01 030308 0101 0402");
  ASSERT_TRUE(options);
  EXPECT_EQ(options->window_scale, 8);
  EXPECT_TRUE(options->sack_permitted);
  EXPECT_FALSE(options->timestamps);
  // An established connection with loss: timestamps and three SACK blocks.
  options = options_of(
      "0101 080a 11223344 55667788 0101 051a 00000001 00000002 00000003 00000004 fffffff0 "
      "00000010");
  ASSERT_TRUE(options);
  EXPECT_EQ(options->timestamps, (TcpTimestamps{.value = 0x11223344, .echo_reply = 0x55667788}));
  ASSERT_EQ(options->sack_count, 3);
  EXPECT_EQ(options->sack[0], (TcpSackBlock{.begin = 1, .end = 2}));
  EXPECT_EQ(options->sack[2], (TcpSackBlock{.begin = 0xfffffff0, .end = 0x10}));
  // The same options in another order, past the fast path.
  options = options_of("050a 00000001 00000002 01 080a 11223344 55667788 01");
  ASSERT_TRUE(options);
  EXPECT_EQ(options->timestamps->value, 0x11223344U);
  EXPECT_EQ(options->sack_count, 1);
}

TEST(Tcp, NamesOptionsThatForbidSplitting) {
  const auto md5 = options_of("1312 000102030405060708090a0b0c0d0e0f");
  ASSERT_TRUE(md5);
  EXPECT_TRUE(md5->has_md5);
  EXPECT_FALSE(md5->has_unknown);
  EXPECT_TRUE(options_of("1d10 0102 000102030405060708090a0b")->has_ao);
  EXPECT_TRUE(options_of("1e04 0081")->has_mptcp);
  EXPECT_TRUE(options_of("2202")->has_fast_open);
  EXPECT_TRUE(options_of("220a 0102030405060708")->has_fast_open);
  EXPECT_TRUE(options_of("fd04 f989")->has_unknown);
  EXPECT_TRUE(options_of("0902")->has_unknown);
}

TEST(Tcp, NothingIsReadBehindTheEndOfTheList) {
  const auto options = options_of("00 020405b4 fd 00 00");
  ASSERT_TRUE(options);
  EXPECT_EQ(*options, TcpOptions());
}

TEST(Tcp, MalformedOptionsFailTheParse) {
  for (const char* text : {
           "0200 0000",                  // length zero
           "fd01 0000",                  // length one
           "02030500",                   // MSS too short
           "0206 05b4 0000",             // MSS too long
           "03020000",                   // window scale without a value
           "03040700",                   // window scale too long
           "04030000",                   // SACK-permitted with a body
           "0809 00000001 000000",       // timestamps too short
           "080b 00000001 00000002 00",  // and too long
           "0502 0101",                  // SACK without blocks
           "0509 00000001 000000",       // SACK with a part of a block
           "050b 00000001 00000002 00",  //
           "fd05 0000",                  // extends beyond the header
           "01010102",                   // ends after the kind
           "0101 080a 00000001 00000002 ff",
           "0101 080a 00000001 00000002 0101 0512 00000001 00000002",  // SACK beyond the header
       }) {
    EXPECT_FALSE(options_of(text)) << text;
  }
}

TEST(Tcp, TimestampsPrefixCutByTheDataOffsetIsMalformed) {
  auto segment = segment_with("0101 080a 00000001 00000002");
  for (unsigned words = 6; words < 8; ++words) {
    segment[12] = static_cast<std::byte>(words * 16);
    EXPECT_FALSE(parse_tcp(segment)) << words;
  }
}

TEST(Tcp, EveryTruncationIsRefused) {
  const auto segment = segment_with("020405b4 0402 080a 00000001 00000002 01 030307");
  for (std::size_t size = 0; size < segment.size(); ++size) {
    EXPECT_FALSE(parse_tcp(exact_copy(ConstBytes(segment).first(size)))) << size;
  }
  EXPECT_TRUE(parse_tcp(segment));
  auto bad = segment;
  for (unsigned words = 0; words < 5; ++words) {
    bad[12] = static_cast<std::byte>(words * 16);
    EXPECT_FALSE(parse_tcp(bad)) << words;
  }
}

TEST(Tcp, LeavesOutSackBlocksThatDoNotFit) {
  TcpHeader header;
  header.options.sack_count = 4;
  EXPECT_EQ(tcp_header_size(header), 20U + 4 + 4 * 8);
  header.options.timestamps = TcpTimestamps{};
  EXPECT_EQ(tcp_header_size(header), 20U + 12 + 4 + 3 * 8);
  header.options.mss = 1460;
  header.options.window_scale = 7;
  header.options.sack_permitted = true;
  EXPECT_EQ(tcp_header_size(header), 20U + 20 + 4 + 2 * 8);
}

TEST(Tcp, WritesTheLayoutThatStacksExpect) {
  TcpHeader header;
  header.options.timestamps = TcpTimestamps{.value = 1, .echo_reply = 2};
  std::vector<std::byte> out(32);
  EXPECT_EQ(write_tcp(header, out), 32U);
  EXPECT_EQ(exact_copy(ConstBytes(out).subspan(20)), octets("0101 080a 00000001 00000002"));
  header.options.mss = 1460;
  header.options.sack_permitted = true;
  header.options.window_scale = 9;
  out.resize(40);
  EXPECT_EQ(write_tcp(header, out), 40U);
  EXPECT_EQ(exact_copy(ConstBytes(out).subspan(20)),
            octets("020405b4 0402 080a 00000001 00000002 01 030309"));
}

TEST(Tcp, WhatIsWrittenIsParsedBack) {
  Random random(1);
  for (int i = 0; i < 20'000; ++i) {
    TcpHeader header;
    header.source_port = static_cast<std::uint16_t>(random.next());
    header.destination_port = static_cast<std::uint16_t>(random.next());
    header.sequence = static_cast<std::uint32_t>(random.next());
    header.acknowledgment = static_cast<std::uint32_t>(random.next());
    header.flags = static_cast<std::uint8_t>(random.next());
    header.window = static_cast<std::uint16_t>(random.next());
    header.urgent = static_cast<std::uint16_t>(random.next());
    TcpOptions& options = header.options;
    if (random.chance(0.3)) options.mss = static_cast<std::uint16_t>(random.next());
    if (random.chance(0.3)) options.window_scale = static_cast<std::uint8_t>(random.next());
    options.sack_permitted = random.chance(0.3);
    if (random.chance(0.6)) {
      options.timestamps = TcpTimestamps{.value = static_cast<std::uint32_t>(random.next()),
                                         .echo_reply = static_cast<std::uint32_t>(random.next())};
    }
    if (random.chance(0.5)) {
      options.sack_count = static_cast<std::uint8_t>(random.below(kMaxSackBlocks + 1));
    }
    for (std::size_t k = 0; k < options.sack_count; ++k) {
      options.sack[k] = {.begin = static_cast<std::uint32_t>(random.next()),
                         .end = static_cast<std::uint32_t>(random.next())};
    }
    std::vector<std::byte> out(tcp_header_size(header));
    ASSERT_LE(out.size(), kMaxTcpHeaderSize);
    ASSERT_EQ(out.size() % 4, 0U);
    ASSERT_EQ(write_tcp(header, out), out.size());
    EXPECT_EQ(load_u16(&out[kTcpChecksumOffset]), 0);
    const auto parsed = parse_tcp(out);
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->header_size, out.size());
    EXPECT_EQ(parsed->header.source_port, header.source_port);
    EXPECT_EQ(parsed->header.destination_port, header.destination_port);
    EXPECT_EQ(parsed->header.sequence, header.sequence);
    EXPECT_EQ(parsed->header.acknowledgment, header.acknowledgment);
    EXPECT_EQ(parsed->header.flags, header.flags);
    EXPECT_EQ(parsed->header.window, header.window);
    EXPECT_EQ(parsed->header.urgent, header.urgent);
    const std::uint8_t fitting = parsed->header.options.sack_count;
    ASSERT_LE(fitting, options.sack_count);
    if (fitting < options.sack_count) {
      EXPECT_GT(out.size() + 8, kMaxTcpHeaderSize);  // only for lack of room
    }
    options.sack_count = fitting;
    for (std::size_t k = fitting; k < kMaxSackBlocks; ++k) options.sack[k] = {};
    EXPECT_EQ(parsed->header.options, options);
  }
}

TEST(Tcp, RandomOctetsAreHarmless) {
  Random random(2);
  int parsed_count = 0;
  for (int i = 0; i < 300'000; ++i) {
    auto segment = random_octets(random, 20 + random.below(60));
    // Small numbers behind the header, so that many kinds and lengths are possible ones.
    for (std::size_t at = 20; at < segment.size(); ++at) {
      if (random.chance(0.8)) segment[at] = static_cast<std::byte>(random.below(12));
    }
    if (random.chance(0.2)) store_u32(&segment[12], 0x8010'0000U);
    if (random.chance(0.2) && segment.size() >= 24) store_u32(&segment[20], 0x0101'080aU);
    if (const auto parsed = parse_tcp(segment)) {
      ++parsed_count;
      ASSERT_LE(parsed->header_size, segment.size());
      ASSERT_LE(parsed->header.options.sack_count, kMaxSackBlocks);
    }
  }
  EXPECT_GT(parsed_count, 10'000);
}

}  // namespace
}  // namespace satrelay::wire::tcp_test
