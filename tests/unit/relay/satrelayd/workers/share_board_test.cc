// A board that threads write and read at the same time.
#include "relay/satrelayd/workers/share_board.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace satrelay::satrelayd::share_board_test {
namespace {

struct Value {
  std::array<std::uint64_t, 40> words;
  std::uint8_t odd;
};

// A read returns one whole write, and never an older write than an earlier read.
TEST(SharedValues, AReadIsOfOneWrite) {
  constexpr std::uint64_t kWrites = 50'000;
  SharedValues<Value> shared(3);
  std::atomic<bool> done = false;
  std::atomic<std::uint64_t> reads = 0;
  std::uint64_t written = 0;
  std::thread writer([&] {
    std::array<Value, 3> values{};
    // On a busy machine the reader may not run between two writes for long. So the writer goes on
    // until one read has succeeded, and then lets the reader run.
    for (std::uint64_t n = 1; n <= kWrites || reads == 0; written = n++) {
      if (n > kWrites) std::this_thread::yield();
      for (Value& value : values) {
        value.words.fill(n);
        value.odd = static_cast<std::uint8_t>(n);
      }
      shared.write(values);
    }
    done = true;
  });
  std::uint64_t last = 0;
  std::array<Value, 3> values{};
  while (!done) {
    if (!shared.read(values)) continue;
    ++reads;
    const std::uint64_t n = values[0].words[0];
    EXPECT_GE(n, last);
    last = n;
    bool same = true;
    for (const Value& value : values) {
      for (const std::uint64_t word : value.words) same = same && word == n;
      same = same && value.odd == static_cast<std::uint8_t>(n);
    }
    if (!same) {
      ADD_FAILURE() << "a read of two writes, " << n;
      break;
    }
  }
  writer.join();
  ASSERT_TRUE(shared.read(values));
  EXPECT_EQ(values[2].words[39], written);
  EXPECT_GE(written, kWrites);
}

TEST(ShareSlot, CarriesDemandsOneWayAndSharesTheOther) {
  constexpr gateway::LaneId kMiddle(1), kLast(2);
  ShareSlot slot(2, 3);
  gateway::Demands said(2, 3), heard(2, 3);
  said.terms[gateway::LinkId(1)].rate = BitRate::bits_per_second(5);
  said.links[gateway::LinkId(1)].sent_of[7] = 8;
  said.lanes[kLast] = {.limit = BitRate::bits_per_second(9), .waits = true, .sent = 4};
  slot.write(said);
  ASSERT_TRUE(slot.read(heard));
  EXPECT_EQ(heard.terms[gateway::LinkId(1)].rate, said.terms[gateway::LinkId(1)].rate);
  EXPECT_EQ(heard.links[gateway::LinkId(1)].sent_of[7], 8U);
  EXPECT_EQ(heard.lanes[kLast].limit, said.lanes[kLast].limit);
  EXPECT_TRUE(heard.lanes[kLast].waits);
  EXPECT_EQ(heard.lanes[kLast].sent, 4U);
  gateway::Shares given(2, 3), taken(2, 3);
  given.links[gateway::LinkId()].classes[3].weight = 11;
  given.lanes[kMiddle] = BitRate::bits_per_second(12);
  slot.write(given);
  ASSERT_TRUE(slot.read(taken));
  EXPECT_EQ(taken.links[gateway::LinkId()].classes[3].weight, 11U);
  EXPECT_EQ(taken.lanes[kMiddle], given.lanes[kMiddle]);
}

}  // namespace
}  // namespace satrelay::satrelayd::share_board_test
