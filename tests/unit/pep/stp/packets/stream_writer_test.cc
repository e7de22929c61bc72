// Which frames a packet has, and in which order.
#include "pep/stp/packets/stream_writer.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "tests/unit/pep/stp/wire/transcript.h"

namespace satrelay::stp::test::stream_writer_test {
namespace {

constexpr std::uint64_t kMuch = 64'000;

class StreamWriterTest : public ::testing::Test, protected StreamSource {
 protected:
  StreamWriterTest()
      : memory_(64 * 4096),
        arena_(memory_, 4096),
        streams_({.max_streams = 8,
                  .lane_receive_limit = kMuch,
                  .receive_limit = kMuch,
                  .send_limit = kMuch},
                 {Duration::milliseconds(25), 3000}, arena_, work_, kMuch),
        writer_(*this, work_) {
    streams_.start(kMuch, kMuch, now_);
  }
  Stream& open(std::size_t bytes, schedule::ClassId stream_class = 0) {
    Stream* stream = streams_.life().open(next_, {}, 0, now_);
    EXPECT_NE(stream, nullptr);
    next_ += 2;
    streams_.sending().schedule().join(*stream, stream_class, 0);
    if (bytes > 0) write(*stream, bytes);
    return *stream;
  }
  void write(Stream& stream, std::size_t bytes) {
    EXPECT_EQ(streams_.sending().write(stream, std::vector<std::byte>(bytes), now_), bytes);
  }
  // Writes the next packet and names its frames.
  std::string packet(const schedule::Turn& turn = {}, std::size_t size = 1472) {
    std::vector<std::byte> room(size);
    PacketBuilder packet(room, kTrailerSize);
    writer_.begin(turn);
    writer_.write({packet, streams_, loss_, now_});
    return read(packet.written()).value_or("malformed");
  }
  // Declares lost all that the stream has sent.
  void lose(Stream& stream, unsigned times) {
    stream.send.on_lost(0, stream.send.sent(), false, times);
    streams_.sending().schedule().update_lost(stream);
  }
  void produce(StreamId id, std::uint32_t, Instant) override {
    ++asked_;
    if (Stream* stream = streams_.visible(id); stream != nullptr && source_bytes_ > 0) {
      write(*stream, source_bytes_);
    }
  }
  bool is_spent() const override { return spent_; }
  std::vector<std::byte> memory_;
  Arena arena_;
  WorkCount work_;
  Streams streams_;
  StreamWriter writer_;
  LossRate loss_;
  std::uint64_t next_ = 0;
  std::size_t source_bytes_ = 0;
  int asked_ = 0;
  bool spent_ = false;
  Instant now_ = Instant::from_nanoseconds(1'000'000'000);
};

TEST_F(StreamWriterTest, ASourceThatHasDoneEnoughIsAskedInTheNextCall) {
  Stream& stream = open(100);
  ASSERT_FALSE(packet().empty());  // the OPEN, and the bytes that the stream has
  streams_.sending().set_ready(stream, true);
  source_bytes_ = 300;
  spent_ = true;
  EXPECT_EQ(packet(), "");
  EXPECT_EQ(asked_, 0);
  EXPECT_TRUE(stream.ready) << "it is still to be asked";
  spent_ = false;
  EXPECT_NE(packet(), "");
  EXPECT_GT(asked_, 0);
}

TEST_F(StreamWriterTest, OpensComeFirstAndTheNewestOpenedStreamSendsFirst) {
  open(100);
  open(50);
  EXPECT_EQ(packet(), "OPEN 0 0;OPEN 2 0;DATA 2 0+50;DATA 0 0+100;");
  EXPECT_EQ(packet(), "");
  EXPECT_EQ(writer_.totals().new_bytes, 150U);
}

TEST_F(StreamWriterTest, AnOpenThatDoesNotFitKeepsDataBack) {
  const std::vector<std::byte> metadata(kMaxMetadata);
  ASSERT_NE(streams_.life().open(0, metadata, 0, now_), nullptr);
  Stream* second = streams_.life().open(2, metadata, 0, now_);
  ASSERT_NE(second, nullptr);
  write(*second, 10);
  EXPECT_EQ(packet({}, 512), "OPEN 0 256;");
  EXPECT_EQ(packet({}, 512), "OPEN 2 256;DATA 2 0+10;");
}

TEST_F(StreamWriterTest, WithoutATurnOfStreamsOnlyBeginningsAndEndsLeave) {
  Stream& ended = open(0);
  streams_.sending().finish(ended);
  open(100);
  EXPECT_EQ(packet({.streams = false}), "OPEN 0 0;OPEN 2 0;DATA 0 0+0 FIN;");
  EXPECT_EQ(packet(), "DATA 2 0+100;");
}

TEST_F(StreamWriterTest, TheClassWithTheTurnIsFollowedByTheOthersThatAreOpen) {
  open(100, 1);
  open(200, 2);
  open(300, 3);
  packet({.streams = false});
  EXPECT_EQ(packet({.open = schedule::class_bit(2) | schedule::class_bit(1), .first = 2}),
            "DATA 2 0+200;DATA 0 0+100;");
  ASSERT_EQ(writer_.sent().size(), 2U);
  EXPECT_EQ(writer_.sent()[0].stream_class, 2);
  EXPECT_EQ(writer_.sent()[0].bytes, 200U);
  EXPECT_EQ(writer_.sent()[1].bytes, 100U);
  EXPECT_EQ(packet({.first = 3}), "DATA 4 0+300;");
}

TEST_F(StreamWriterTest, WhatIsLostAgainAndAgainIsSentInCopies) {
  Stream& stream = open(100);
  packet();
  lose(stream, 1);
  EXPECT_EQ(packet(), "DATA 0 0+100;");
  EXPECT_TRUE(streams_.sending().idle(schedule::kEveryClass));
  lose(stream, 3);
  EXPECT_EQ(packet(), "DATA 0 0+100;");
  EXPECT_EQ(writer_.totals().retransmitted_bytes, 200U);
  // Nothing else waits, so the copy need not keep its distance.
  EXPECT_EQ(packet(), "DATA 0 0+100;");
  EXPECT_EQ(writer_.totals().copies, 1U);
  EXPECT_TRUE(streams_.sending().idle(schedule::kEveryClass));
}

TEST_F(StreamWriterTest, ASourceIsAskedUntilItHasNothing) {
  Stream& stream = open(0);
  streams_.sending().set_ready(stream, true);
  source_bytes_ = 2000;
  EXPECT_TRUE(packet({}, 1000).starts_with("OPEN 0 0;DATA 0 0+"));
  EXPECT_EQ(asked_, 1);
  source_bytes_ = 0;
  packet();
  EXPECT_EQ(packet(), "");
  EXPECT_EQ(asked_, 2);
  EXPECT_EQ(packet(), "");
  EXPECT_EQ(asked_, 2) << "until it is ready again";
}

}  // namespace
}  // namespace satrelay::stp::test::stream_writer_test
