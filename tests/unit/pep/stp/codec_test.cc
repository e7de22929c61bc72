// The wire format: round trips, truncation at every byte, garbage, and the limits of each frame.
#include <gtest/gtest.h>

#include <array>
#include <string_view>
#include <vector>

#include "pep/base/random.h"
#include "pep/stp/wire/crc32c.h"
#include "pep/stp/wire/frames.h"
#include "pep/stp/wire/packet.h"

namespace satrelay::stp {
namespace {

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto* data = reinterpret_cast<const std::byte*>(text.data());
  return {data, data + text.size()};
}

// Keeps the frames of a packet as text, so that a test compares what a reader would see.
struct Transcript {
  std::string text;
  void operator()(const PingFrame& f) { text += "PING " + std::to_string(f.settled) + ";"; }
  void operator()(const SettledFrame& f) { text += "SETTLED " + std::to_string(f.settled) + ";"; }
  void operator()(const LaneCreditFrame& f) { text += "LANE " + std::to_string(f.limit) + ";"; }
  void operator()(const StreamCreditFrame& f) {
    text += "STREAM " + std::to_string(f.stream) + " " + std::to_string(f.limit) + ";";
  }
  void operator()(const OpenFrame& f) {
    text += "OPEN " + std::to_string(f.stream) + " " + std::to_string(f.metadata.size()) + ";";
  }
  void operator()(const ResetFrame& f) {
    text += "RESET " + std::to_string(f.stream) + " " + to_string(f.reason) + " " +
            std::to_string(f.final_size) + ";";
  }
  void operator()(const ConfirmFrame& f) {
    const Confirmation& c = f.confirmation;
    text += "CONFIRM " + std::to_string(f.stream) + " " + std::to_string(f.sequence) + " " +
            (c.answered ? "A" : "") + (c.ended ? "E" : "") + " " + std::to_string(c.delivered) +
            " " + std::to_string(c.window) +
            (c.keep_alives > 0 ? " " + std::to_string(c.keep_alives) : "") + ";";
  }
  void operator()(const RateFrame& f) {
    text += "RATE " + std::to_string(f.sequence) + " " +
            std::to_string(f.capacity.to_bits_per_second()) + ";";
  }
  void operator()(const StartCreditFrame& f) {
    text += "START " + std::to_string(f.sequence) + " " + std::to_string(f.limit) + ";";
  }
  void operator()(const CloseFrame& f) {
    text += std::string("CLOSE ") + to_string(f.reason) + ";";
  }
  void operator()(const DataFrame& f) {
    text += "DATA " + std::to_string(f.stream) + " " + std::to_string(f.offset) + "+" +
            std::to_string(f.bytes.size()) + (f.fin ? " FIN;" : ";");
  }
  void operator()(const FeedbackFrame& f) {
    text += "FEEDBACK " + std::to_string(f.floor) + " " + std::to_string(f.begin) + "-" +
            std::to_string(f.end) + "/" + std::to_string(f.highest) + ":";
    f.for_each_run(
        [this](std::uint64_t b, std::uint64_t e) {
          text += " +" + std::to_string(b) + "-" + std::to_string(e);
        },
        [this](std::uint64_t b, std::uint64_t e) {
          text += " -" + std::to_string(b) + "-" + std::to_string(e);
        });
    text += ";";
  }
  void operator()(const RepairFrame& f) {
    text += "REPAIR -" + std::to_string(f.distance) + " row " + std::to_string(int{f.row}) + " of";
    f.members.for_each(
        [this](std::size_t at, std::size_t) { (text += " ") += std::to_string(at); });
    text += " " + std::to_string(f.symbol.size()) + ";";
  }
  void unknown(std::uint8_t type) { text += "UNKNOWN " + std::to_string(type) + ";"; }
};

// nullopt if a frame is malformed.
std::optional<std::string> read(ConstBytes frames) {
  Transcript transcript;
  if (!walk_frames(frames, transcript)) return std::nullopt;
  return transcript.text;
}

struct Buffer {
  std::array<std::byte, 2048> room{};
  ByteWriter out{room};
  ConstBytes bytes() const { return ConstBytes(room).first(out.written()); }
};

TEST(Crc32cTest, MatchesTheStandardVectors) {
  // RFC 3720 appendix B.4.
  EXPECT_EQ(crc32c_finish(crc32c_update(kCrc32cStart, bytes_of("123456789"))), 0xE3069283U);
  const std::vector<std::byte> zeros(32);
  EXPECT_EQ(crc32c_finish(crc32c_update(kCrc32cStart, zeros)), 0x8A9136AAU);
}

TEST(Crc32cTest, PiecesGiveTheSameStateAsTheWhole) {
  const std::vector<std::byte> text = bytes_of("the whole, or in pieces");
  const ConstBytes all(text);
  EXPECT_EQ(crc32c_update(crc32c_update(kCrc32cStart, all.first(7)), all.subspan(7)),
            crc32c_update(kCrc32cStart, all));
}

TEST(VarintTest, RoundTripsAtEveryEdge) {
  for (const std::uint64_t value :
       {std::uint64_t{0}, std::uint64_t{63}, std::uint64_t{64}, std::uint64_t{16383},
        std::uint64_t{16384}, (std::uint64_t{1} << 30) - 1, std::uint64_t{1} << 30, kMaxVarint}) {
    Buffer buffer;
    write_varint(buffer.out, value);
    EXPECT_EQ(buffer.out.written(), varint_size(value));
    ByteReader in(buffer.bytes());
    EXPECT_EQ(read_varint(in), value);
    EXPECT_TRUE(in.ok());
    EXPECT_EQ(in.remaining(), 0U);
    for (std::size_t cut = 0; cut < buffer.out.written(); ++cut) {
      ByteReader truncated(buffer.bytes().first(cut));
      read_varint(truncated);
      EXPECT_FALSE(truncated.ok());
    }
  }
}

TEST(PacketTest, HeaderRoundTripsAndTakesEightBytes) {
  std::array<std::byte, 13> packet{};
  const PacketHeader header{kVersion, PacketType::kFrames, true, true, 3, 0xbeef, 0x12345678};
  write_header(header, packet.data());
  EXPECT_EQ(parse_header(packet), header);
  EXPECT_EQ(packet[0], std::byte{0x16});
  EXPECT_EQ(packet[4], std::byte{0x12});
}

TEST(PacketTest, RefusesShortPacketsAndReservedBits) {
  std::array<std::byte, 13> packet{};
  write_header({}, packet.data());
  for (std::size_t size = 0; size < packet.size(); ++size) {
    EXPECT_FALSE(parse_header(ConstBytes(packet).first(size)));
  }
  packet[0] |= std::byte{0x01};
  EXPECT_FALSE(parse_header(packet));
  packet[0] = std::byte{0x1a};  // a HELLO is never protected
  EXPECT_FALSE(parse_header(packet));
  packet[0] = std::byte{0x21};  // of version 2, whose bits we do not know
  EXPECT_TRUE(parse_header(packet));
}

TEST(PacketTest, SealFailsOnAnyFlippedBitAndInAnyOtherSession) {
  std::array<std::byte, 40> packet{};
  write_header({}, packet.data());
  const SessionSeal seal(1000, 2000);
  seal.close(packet);
  EXPECT_TRUE(seal.verify(packet));
  for (std::size_t bit = 0; bit < packet.size() * 8; ++bit) {
    auto damaged = packet;
    damaged[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    EXPECT_FALSE(seal.verify(damaged)) << bit;
  }
  EXPECT_FALSE(SessionSeal(1000, 2001).verify(packet));
  EXPECT_FALSE(SessionSeal(2000, 1000).verify(packet));
  EXPECT_FALSE(SessionSeal().verify(packet));
}

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
  write_start_credit(b.out, {71, 4096});
  EXPECT_EQ(read(b.bytes()),
            "PING 5;SETTLED 70000;LANE 1099511627776;STREAM 6 99;OPEN 8 7;RESET 9 refused 12345;"
            "CLOSE shutdown;RATE 70 5000000;CONFIRM 8 3 AE 1000000 65535 300;START 71 4096;");
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
  EXPECT_EQ(confirm({4, 1, 0xfe, 7, 9, 2, 0xff}), "CONFIRM 4 1 E 7 9 2;PING 1;");
  EXPECT_EQ(confirm({4, 1, 0x01, 7}), std::nullopt);
  EXPECT_EQ(confirm({}), std::nullopt);
  EXPECT_EQ(confirm({4, 0, 0x01, 7, 9}), std::nullopt) << "no number";
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
  b.out.u8(0x45);
  b.out.u16(5);
  b.out.bytes(bytes_of("later"));
  write_ping(b.out, {1});
  EXPECT_EQ(read(b.bytes()), "UNKNOWN 69;PING 1;");
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
  // Messages that do not fit their frame.
  for (std::size_t less = 1; less <= 4 + written.offer.size() + written.accept.size(); ++less) {
    store_u16(b.room.data() + 1, static_cast<std::uint16_t>(whole.size() - 3 - less));
    ByteReader shorter(whole.subspan(1));
    parse_hello(shorter, keys);
    EXPECT_FALSE(shorter.ok()) << less;
  }
}

TEST(FramesTest, TruncationNeverPasses) {
  Buffer b;
  write_reset(b.out, {9000, ResetReason::kRefused, 12'345});
  write_open(b.out, {8000, bytes_of("metadata")});
  write_stream_credit(b.out, {6000, 1ULL << 33});
  write_rate(b.out, {70, BitRate::bits_per_second(5'000'000)});
  write_start_credit(b.out, {71, 70'000});
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

TEST(FeedbackFrameTest, RefusesRangesThatDoNotFitTheirReport) {
  const auto report = [](std::uint64_t highest, std::uint64_t below_floor,
                         std::uint64_t below_begin, std::vector<std::uint64_t> runs,
                         std::uint64_t told = 0) {
    Buffer b;
    b.out.u8(0x03);
    write_varint(b.out, highest);
    write_varint(b.out, 0);
    b.out.u32(0x12345678);
    for (const std::uint64_t v :
         {std::uint64_t{25}, below_floor, below_begin, std::uint64_t{0}, std::uint64_t{0},
          std::uint64_t{0}, std::uint64_t{0}, std::uint64_t{0}, told}) {
      write_varint(b.out, v);
    }
    b.out.u16(static_cast<std::uint16_t>(runs.size() / 2));
    for (const std::uint64_t v : runs) write_varint(b.out, v);
    return read(b.bytes());
  };
  EXPECT_EQ(report(9, 10, 10, {3, 2, 5}), "FEEDBACK 0 0-10/9: +0-3 -3-5 +5-10;");
  EXPECT_EQ(report(9, 10, 10, {0, 2, 8}), "FEEDBACK 0 0-10/9: -0-2 +2-10;");
  EXPECT_EQ(report(9, 10, 10, {3, 2, 6}), std::nullopt);        // beyond the highest
  EXPECT_EQ(report(9, 10, 10, {3, 0, 5}), std::nullopt);        // an empty gap
  EXPECT_EQ(report(9, 10, 10, {3, 2, 0, 1, 1}), std::nullopt);  // gaps that touch
  EXPECT_EQ(report(9, 11, 10, {3, 2, 5}), std::nullopt);        // floor below zero
  EXPECT_EQ(report(9, 5, 10, {3, 2, 5}), std::nullopt);         // begins below its floor
  EXPECT_EQ(report(9, 10, 10, {3, kMaxVarint, 5}), std::nullopt);
  EXPECT_NE(report(9, 10, 7, {3, 1, 3}, 3), std::nullopt);
  EXPECT_EQ(report(9, 10, 7, {3, 1, 3}, 4), std::nullopt);  // its report begins below zero
}

TEST(FeedbackFrameTest, ReadsABitmap) {
  const auto report = [](std::uint64_t highest, std::uint64_t below_begin, std::uint64_t bits,
                         std::vector<std::uint8_t> map, std::uint64_t tail) {
    Buffer b;
    b.out.u8(0x03);
    write_varint(b.out, highest);
    write_varint(b.out, 0);
    b.out.u32(0x12345678);
    for (const std::uint64_t v :
         {std::uint64_t{25}, below_begin, below_begin, std::uint64_t{0}, std::uint64_t{0},
          std::uint64_t{0}, std::uint64_t{0}, std::uint64_t{0}, std::uint64_t{0}}) {
      write_varint(b.out, v);
    }
    b.out.u16(FeedbackFrame::kBitmap);
    write_varint(b.out, bits);
    for (const std::uint8_t octet : map) b.out.u8(octet);
    write_varint(b.out, tail);
    return read(b.bytes());
  };
  EXPECT_EQ(report(19, 20, 12, {0b1110'0111, 0b1111'1110}, 8),
            "FEEDBACK 0 0-20/19: +0-3 -3-5 +5-8 -8-9 +9-20;");
  EXPECT_EQ(report(19, 20, 9, {0x00, 0xff}, 0), "FEEDBACK 0 0-9/19: -0-8 +8-9;");
  EXPECT_EQ(report(19, 12, 8, {0xff}, 4), "FEEDBACK 8 8-20/19: +8-20;");
  EXPECT_EQ(report(19, 20, 16, {0xff}, 0), std::nullopt);        // shorter than it says
  EXPECT_EQ(report(19, 20, 0, {}, 0), std::nullopt);             // empty
  EXPECT_EQ(report(9, 10, 12, {0xff, 0xff}, 0), std::nullopt);   // beyond the highest
  EXPECT_EQ(report(19, 20, 16, {0xff, 0xff}, 5), std::nullopt);  // tail beyond it
  EXPECT_EQ(report(19, 20, kMaxVarint, {0xff, 0xff}, 0), std::nullopt);
}

}  // namespace
}  // namespace satrelay::stp
