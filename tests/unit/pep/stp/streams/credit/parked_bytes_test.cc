// Bytes that wait for readers that do not read.
#include "pep/stp/streams/credit/parked_bytes.h"

#include <gtest/gtest.h>

#include <vector>

namespace satrelay::stp::parked_bytes_test {
namespace {

class ParkedBytesTest : public ::testing::Test {
 protected:
  ParkedBytesTest() : memory_(64 * 4096), arena_(memory_, 4096) {}
  void arrive(Stream& stream, std::size_t bytes) {
    const std::vector<std::byte> payload(bytes);
    stream.receive.promise(1 << 20);
    EXPECT_TRUE(stream.receive.store(stream.receive.bytes().in_order_end(), payload, 0).all);
    parked_.on_arrived(stream, now_);
  }
  void take(Stream& stream, std::uint64_t bytes) {
    stream.receive.consume(bytes, now_);
    stream.heat().reader_needs = 0;
    parked_.on_taken(stream, now_);
  }
  std::uint64_t total() { return parked_.total(Duration::milliseconds(200), now_); }
  std::vector<std::byte> memory_;
  Arena arena_;
  ParkedBytes parked_;
  Instant now_;
};

TEST_F(ParkedBytesTest, BytesCountOnceTheirReaderHasTakenNoneForAWhile) {
  Stream one(arena_);
  Stream two(arena_);
  arrive(one, 1000);
  now_ += Duration::milliseconds(150);
  arrive(two, 500);
  arrive(one, 100);
  EXPECT_EQ(total(), 0U);
  now_ += Duration::milliseconds(50);
  EXPECT_EQ(total(), 1100U);
  arrive(one, 10);
  EXPECT_EQ(total(), 1110U) << "more of the same";
  now_ += Duration::milliseconds(150);
  EXPECT_EQ(total(), 1610U);
  take(one, 1);
  EXPECT_EQ(total(), 500U) << "it reads again";
  now_ += Duration::milliseconds(200);
  EXPECT_EQ(total(), 1609U);
  parked_.forget(two);
  take(one, 1109);
  EXPECT_EQ(total(), 0U);
  now_ += Duration::seconds(1);
  EXPECT_EQ(total(), 0U);
}

TEST_F(ParkedBytesTest, AReaderThatWaitsForMoreIsNotTheOneThatMakesItWait) {
  Stream stream(arena_);
  arrive(stream, 1000);
  stream.heat().reader_needs = 1500;
  parked_.on_taken(stream, now_);
  now_ += Duration::seconds(1);
  EXPECT_EQ(total(), 0U);
  arrive(stream, 499);
  now_ += Duration::seconds(1);
  EXPECT_EQ(total(), 0U);
  arrive(stream, 1);
  EXPECT_EQ(total(), 0U);
  now_ += Duration::seconds(1);
  EXPECT_EQ(total(), 1500U);
  parked_.forget(stream);
}

}  // namespace
}  // namespace satrelay::stp::parked_bytes_test
