#include "relay/records/record_ring.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/unit/relay/records/sample_record.h"

namespace satrelay::records::record_ring_test {
namespace {

TEST(RecordRing, TakesNoMoreThanItHasRoomFor) {
  RecordRing ring(4);
  for (std::uint64_t id = 0; id < 4; ++id) EXPECT_TRUE(ring.push(sample_record(id)));
  EXPECT_FALSE(ring.push(sample_record(4)));
  EXPECT_EQ(ring.size(), 4U);
  ASSERT_EQ(ring.readable().size(), 4U);
  EXPECT_EQ(ring.readable()[0].id, 0U);
  ring.take(1);
  EXPECT_TRUE(ring.push(sample_record(5)));
  EXPECT_FALSE(ring.push(sample_record(6)));
}

TEST(RecordRing, GivesThemInOrderRoundTheEnd) {
  RecordRing ring(4);
  std::uint64_t next = 0;
  std::uint64_t expected = 0;
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(ring.push(sample_record(next++)));
    while (!ring.readable().empty()) {
      for (const gateway::FlowRecord& record : ring.readable()) EXPECT_EQ(record.id, expected++);
      ring.take(ring.readable().size());
    }
  }
  EXPECT_EQ(expected, 15U);
}

// ThreadSanitizer would find more. Here the test checks that records are whole and in order.
TEST(RecordRing, OfTwoThreadsNeitherWaits) {
  constexpr std::uint64_t kMany = 200'000;
  RecordRing ring(64);
  std::uint64_t lost = 0;
  std::thread worker([&] {
    for (std::uint64_t id = 1; id <= kMany; ++id) {
      gateway::FlowRecord record = sample_record(id);
      record.bytes_to_lan = ~id;
      if (!ring.push(record)) ++lost;
    }
    gateway::FlowRecord last = sample_record(kMany + 1);
    last.bytes_to_lan = ~last.id;
    while (!ring.push(last)) std::this_thread::yield();
  });
  std::uint64_t seen = 0;
  std::uint64_t before = 0;
  while (before <= kMany) {
    const auto records = ring.readable();
    for (const gateway::FlowRecord& record : records) {
      ASSERT_GT(record.id, before);
      ASSERT_EQ(record.bytes_to_lan, ~record.id);
      before = record.id;
      ++seen;
    }
    ring.take(records.size());
    if (records.empty()) std::this_thread::yield();
  }
  worker.join();
  EXPECT_EQ(seen + lost, kMany + 1);
}

}  // namespace
}  // namespace satrelay::records::record_ring_test
