// Frames: round trips, truncation at every byte, garbage, and the limits of each.
#include "pep/stp/wire/frames.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "pep/base/random.h"
#include "pep/stp/wire/packet.h"
#include "tests/unit/pep/stp/wire/transcript.h"

namespace satrelay::stp::test::frames_test {
namespace {

TEST(FramesTest, EveryFrameRoundTrips) {
  Buffer b;
  write_ping(b.out, {5});
  write_settled(b.out, {70'000});
  write_lane_credit(b.out, {1ULL << 40});
  write_stream_credit(b.out, {6, 99});
  write_open(b.out, {8, bytes_of("5-tuple")});
  write_reset(b.out, {9, ResetReason::kRefused, 12'345});
  write_close(b.out, {ResetReason::kShutdown});
  write_rate(b.out, {70, BitRate::bits_per_second(5'000'000)});
  write_confirm(b.out, {8, 3, {true, true, 1'000'000, 65'535, 300}});
  write_confirm(b.out, {8, 4, {.keep_alives = 2, .word = {.question = 9, .silent = true}}});
  write_start_credit(b.out, {71, 4096});
  write_reception(b.out, {0, 50'000});
  EXPECT_EQ(read(b.bytes()),
            "PING 5;SETTLED 70000;LANE 1099511627776;STREAM 6 99;OPEN 8 7;RESET 9 refused 12345;"
            "CLOSE shutdown;RATE 70 5000000;CONFIRM 8 3 AE 1000000 65535 300;"
            "CONFIRM 8 4  0 0 2 silent 9;START 71 4096;RECEPTION 0 50000;");
}

TEST(FramesTest, OnlyDataIsWhatFillsAPacketAlone) {
  const auto only = [](std::initializer_list<int> packet) {
    std::vector<std::byte> bytes;
    for (const int byte : packet) bytes.push_back(static_cast<std::byte>(byte));
    const auto frame = parse_only_data(bytes);
    // A reader that takes it for any packet sees the same frame.
    Transcript seen;
    if (frame) {
      seen(*frame);
      EXPECT_EQ(read(bytes), seen.text);
    }
    return seen.text;
  };
  EXPECT_EQ(only({0x10, 4, 9, 1, 2, 3}), "DATA 4 9+3;");
  EXPECT_EQ(only({0x11, 4, 9, 1}), "DATA 4 9+1 FIN;");
  EXPECT_EQ(only({0x11, 4, 9}), "DATA 4 9+0 FIN;");
  EXPECT_EQ(only({0x10, 4, 9}), "") << "no bytes and no end";
  EXPECT_EQ(only({0x10, 4}), "");
  EXPECT_EQ(only({}), "");
  EXPECT_EQ(only({0x12, 4, 9, 0, 1, 7}), "") << "something may follow";
  EXPECT_EQ(only({0, 0x10, 4, 9, 1}), "") << "something stands before it";
}

TEST(FramesTest, ConfirmSkipsWhatALaterVersionAppendsAndRefusesShortOnes) {
  const auto confirm = [](std::initializer_list<int> body) {
    Buffer b;
    b.out.u8(0x44);
    b.out.u16(static_cast<std::uint16_t>(body.size()));
    for (const int byte : body) b.out.u8(static_cast<std::uint8_t>(byte));
    write_ping(b.out, {1});
    return read(b.bytes());
  };
  EXPECT_EQ(confirm({4, 1, 0x01, 7, 9}), "CONFIRM 4 1 A 7 9;PING 1;");
  EXPECT_EQ(confirm({4, 1, 0x01, 7, 9, 2}), "CONFIRM 4 1 A 7 9 2;PING 1;");
  EXPECT_EQ(confirm({4, 1, 0x01, 7, 9, 0, 3, 8}), "CONFIRM 4 1 A 7 9 urgent 3 8;PING 1;");
  EXPECT_EQ(confirm({4, 1, 0x01, 7, 9, 0, 0, 0, 5}), "CONFIRM 4 1 A 7 9 alive 5;PING 1;");
  EXPECT_EQ(confirm({4, 1, 0x05, 7, 9, 0, 0, 0, 5}), "CONFIRM 4 1 A 7 9 silent 5;PING 1;");
  EXPECT_EQ(confirm({4, 1, 0xfa, 7, 9, 2, 3, 8, 1, 0xff}),
            "CONFIRM 4 1 E 7 9 2 urgent 3 8 alive 1;PING 1;");
  EXPECT_EQ(confirm({4, 1, 0x01, 7, 9, 2, 3}), std::nullopt);
  EXPECT_EQ(confirm({4, 1, 0x01, 7}), std::nullopt);
  EXPECT_EQ(confirm({}), std::nullopt);
  EXPECT_EQ(confirm({4, 0, 0x01, 7, 9}), std::nullopt) << "no number";
}

TEST(FramesTest, ReceptionSkipsWhatALaterVersionAppendsAndRefusesShortOnes) {
  const auto reception = [](std::initializer_list<int> body) {
    Buffer b;
    b.out.u8(0x45);
    b.out.u16(static_cast<std::uint16_t>(body.size()));
    for (const int byte : body) b.out.u8(static_cast<std::uint8_t>(byte));
    write_ping(b.out, {1});
    return read(b.bytes());
  };
  EXPECT_EQ(reception({7, 9}), "RECEPTION 7 9;PING 1;");
  EXPECT_EQ(reception({7, 9, 0xff}), "RECEPTION 7 9;PING 1;");
  EXPECT_EQ(reception({7}), std::nullopt);
  EXPECT_EQ(reception({}), std::nullopt);
}

TEST(FramesTest, RateSkipsWhatALaterVersionAppendsAndRefusesShortOnes) {
  const auto rate = [](std::initializer_list<int> body) {
    Buffer b;
    b.out.u8(0x43);
    b.out.u16(static_cast<std::uint16_t>(body.size()));
    for (const int byte : body) b.out.u8(static_cast<std::uint8_t>(byte));
    write_ping(b.out, {1});
    return read(b.bytes());
  };
  EXPECT_EQ(rate({1, 9, 0xff}), "RATE 1 9;PING 1;");
  EXPECT_EQ(rate({}), std::nullopt);
  EXPECT_EQ(rate({1}), std::nullopt);
  EXPECT_EQ(rate({1, 0x40}), std::nullopt) << "a number that the length cuts";
  EXPECT_EQ(rate({0, 9}), std::nullopt) << "sequence numbers begin at 1";
}

TEST(FramesTest, DataWithAndWithoutLength) {
  Buffer b;
  b.out.u8(0x13);  // FIN and length
  write_varint(b.out, 4);
  write_varint(b.out, 1000);
  b.out.u16(3);
  b.out.bytes(bytes_of("abc"));
  b.out.u8(0x10);  // to the end of the packet
  write_varint(b.out, 4);
  write_varint(b.out, 0);
  b.out.bytes(bytes_of("rest"));
  EXPECT_EQ(read(b.bytes()), "DATA 4 1000+3 FIN;DATA 4 0+4;");
}

TEST(FramesTest, DataRefusesNothingAndTooMuch) {
  Buffer empty;  // neither bytes nor FIN
  empty.out.u8(0x12);
  write_varint(empty.out, 4);
  write_varint(empty.out, 0);
  empty.out.u16(0);
  EXPECT_EQ(read(empty.bytes()), std::nullopt);
  Buffer beyond;  // ends above 2^62 - 1
  beyond.out.u8(0x10);
  write_varint(beyond.out, 4);
  write_varint(beyond.out, kMaxVarint);
  beyond.out.bytes(bytes_of("x"));
  EXPECT_EQ(read(beyond.bytes()), std::nullopt);
}

TEST(FramesTest, OpenRefusesLongMetadata) {
  Buffer b;
  const std::vector<std::byte> metadata(kMaxMetadata + 1);
  write_open(b.out, {8, metadata});
  EXPECT_EQ(read(b.bytes()), std::nullopt);
}

TEST(FramesTest, UnknownFramesAreSkippedByLengthAndReserveTypesRefused) {
  Buffer b;
  b.out.u8(0x41);
  b.out.u16(5);
  b.out.bytes(bytes_of("later"));
  write_ping(b.out, {1});
  EXPECT_EQ(read(b.bytes()), "UNKNOWN 65;PING 1;");
  for (unsigned type = 0x09; type < 0x40; ++type) {
    if (type >= 0x10 && type <= 0x13) continue;
    const std::array<std::byte, 8> frame{static_cast<std::byte>(type)};
    EXPECT_EQ(read(frame), std::nullopt) << type;
  }
}

TEST(FramesTest, HelloRoundTripsAndSkipsWhatALaterVersionAppends) {
  HelloFrame hello;
  hello.minimum_version = 1;
  hello.maximum_version = 7;
  hello.opens_even_streams = true;
  hello.answer_wanted = true;
  hello.lane_count = 4;
  hello.capabilities = 0xa5;
  hello.epoch = 0x1122'3344'5566'7788U;
  hello.peer_epoch = 42;
  hello.echo = 3;
  hello.datagram_size = 1472;
  hello.lane_credit = 1 << 20;
  hello.stream_credit = 1 << 18;
  Buffer b;
  write_hello(b.out, hello);
  ASSERT_EQ(b.out.written(), kHelloFrameSize);
  ByteReader in(b.bytes().subspan(1));
  HelloKeys keys;
  EXPECT_EQ(parse_hello(in, keys), hello);
  EXPECT_TRUE(keys.offer.empty());
  EXPECT_TRUE(in.ok());
  for (std::size_t cut = 1; cut < kHelloFrameSize; ++cut) {
    ByteReader truncated(b.bytes().first(cut).subspan(1));
    parse_hello(truncated, keys);
    EXPECT_FALSE(truncated.ok()) << cut;
  }
  store_u16(b.room.data() + 1, kHelloFrameSize - 3 + 4);
  ByteReader longer(ConstBytes(b.room).subspan(1, kHelloFrameSize - 1 + 4));
  EXPECT_EQ(parse_hello(longer, keys), hello);
  EXPECT_TRUE(longer.ok());
}

TEST(FramesTest, AHelloThatEncryptsCarriesMessages) {
  HelloFrame hello;
  hello.minimum_version = hello.maximum_version = kVersion;
  hello.epoch = 7;
  hello.encrypts = true;
  const std::vector<std::byte> offer = bytes_of("the offer");
  const std::vector<std::byte> acceptance = bytes_of("and the acceptance");
  const HelloKeys written{offer, acceptance};
  Buffer b;
  write_hello(b.out, hello, written);
  const ConstBytes whole = b.bytes();
  ASSERT_EQ(whole.size(), kHelloFrameSize + 4 + written.offer.size() + written.accept.size());
  ByteReader in(whole.subspan(1));
  HelloKeys keys;
  EXPECT_EQ(parse_hello(in, keys), hello);
  EXPECT_TRUE(in.ok());
  EXPECT_TRUE(std::ranges::equal(keys.offer, written.offer));
  EXPECT_TRUE(std::ranges::equal(keys.accept, written.accept));
  // The messages do not fit into the frame.
  for (std::size_t less = 1; less <= 4 + written.offer.size() + written.accept.size(); ++less) {
    store_u16(b.room.data() + 1, static_cast<std::uint16_t>(whole.size() - 3 - less));
    ByteReader shorter(whole.subspan(1));
    parse_hello(shorter, keys);
    EXPECT_FALSE(shorter.ok()) << less;
  }
}

TEST(FramesTest, ResetCarriesTheIcmpErrorAndItsSender) {
  for (const char* sender : {"198.51.100.254", "2001:db8::fe", ""}) {
    ResetFrame reset{9, ResetReason::kIcmp, 12'345, {3, 13}};
    reset.icmp.sender = IpAddress::parse(sender);
    Buffer b;
    write_reset(b.out, reset);
    EXPECT_LE(b.out.written(), kMaxResetFrameSize);
    ByteReader in(b.bytes().subspan(1));
    const ResetFrame read = parse_reset(in);
    EXPECT_TRUE(in.ok());
    EXPECT_EQ(in.remaining(), 0U);
    EXPECT_EQ(read.final_size, 12'345U);
    EXPECT_EQ(read.icmp, reset.icmp) << sender;
  }
  Buffer other;
  write_reset(other.out, {9, ResetReason::kRefused, 1, {3, 13}});
  EXPECT_EQ(other.out.written(), 4U) << "nothing behind another reason";
}

TEST(FramesTest, AnAddressOfAnotherSizeIsMalformed) {
  for (int size = 0; size < 256; ++size) {
    Buffer b;
    write_reset(b.out, {9, ResetReason::kIcmp, 1, {3, 1, IpAddress::v6({})}});
    store_u8(b.room.data() + 6, static_cast<std::uint8_t>(size));
    ByteReader in(b.bytes().subspan(1));
    parse_reset(in);
    EXPECT_EQ(in.ok(), size == 0 || size == 4 || size == 16) << size;
  }
}

TEST(FramesTest, TruncationNeverPasses) {
  Buffer b;
  write_reset(b.out, {7000, ResetReason::kIcmp, 1, {3, 13, IpAddress::v4({10, 0, 0, 1})}});
  write_reset(b.out, {9000, ResetReason::kRefused, 12'345});
  write_open(b.out, {8000, bytes_of("metadata")});
  write_stream_credit(b.out, {6000, 1ULL << 33});
  write_rate(b.out, {70, BitRate::bits_per_second(5'000'000)});
  write_start_credit(b.out, {71, 70'000});
  write_reception(b.out, {70'000, 50'000});
  const std::string whole = *read(b.bytes());
  for (std::size_t cut = 1; cut < b.out.written(); ++cut) {
    const auto prefix = read(b.bytes().first(cut));
    // A cut between two frames is a shorter valid packet; anything else is malformed.
    if (prefix) {
      EXPECT_LT(prefix->size(), whole.size());
    }
  }
}

TEST(FramesTest, GarbageNeverEscapesTheBuffer) {
  Random random(7);
  for (int i = 0; i < 200'000; ++i) {
    std::vector<std::byte> garbage(random.below(64));  // exact size: a sanitizer sees any overrun
    for (std::byte& b : garbage) b = static_cast<std::byte>(random.next());
    if (!garbage.empty()) garbage[0] = static_cast<std::byte>(random.below(0x14));
    read(garbage);
    ByteReader in(garbage);
    HelloKeys keys;
    parse_hello(in, keys);
  }
}

}  // namespace
}  // namespace satrelay::stp::test::frames_test
