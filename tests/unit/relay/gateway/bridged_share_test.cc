// Two classes on one carrier, and the frames that wait for it.
#include "relay/gateway/bridged_share.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "pep/base/random.h"
#include "relay/gateway/bridged_queue.h"

namespace satrelay::gateway {
namespace {

struct Sent {
  std::uint64_t bridged = 0;
  std::uint64_t relayed = 0;
  double share() const {
    return static_cast<double>(bridged) / static_cast<double>(bridged + relayed);
  }
};

// Both wait all the time.
Sent serve_both(BridgedShare& share, std::uint64_t bridged_bytes, std::uint64_t relayed_bytes,
                int packets) {
  Sent sent;
  for (int i = 0; i < packets; ++i) {
    if (share.bridged_has_turn()) {
      share.on_bridged(bridged_bytes);
      sent.bridged += bridged_bytes;
    } else {
      share.on_relayed(relayed_bytes);
      sent.relayed += relayed_bytes;
    }
  }
  return sent;
}

TEST(BridgedShare, EachGetsItsShareWhateverTheSizes) {
  for (const double part : {0.01, 0.1, 0.25, 0.5, 0.9}) {
    for (const std::uint64_t bytes : {66U, 240U, 1'538U}) {
      BridgedShare share(part);
      EXPECT_NEAR(serve_both(share, bytes, 1'538, 100'000).share(), part, 0.002)
          << bytes << " bytes a frame";
    }
  }
}

TEST(BridgedShare, IsExactToWithinAPacketAtAnyTime) {
  Random random(5);
  BridgedShare share(0.2);
  std::int64_t lag = 0;  // of bridged frames behind their share, times 1000
  for (int i = 0; i < 10'000; ++i) {
    const auto bytes = static_cast<std::int64_t>(60 + random.below(1'478));
    if (share.bridged_has_turn()) {
      share.on_bridged(static_cast<std::uint64_t>(bytes));
      lag -= bytes * 800;
    } else {
      share.on_relayed(static_cast<std::uint64_t>(bytes));
      lag += bytes * 200;
    }
    EXPECT_LE(lag, 1'538 * 1'000);
    EXPECT_GE(lag, -1'538 * 1'000);
  }
}

TEST(BridgedShare, WhoWasIdleIsOwedNothing) {
  BridgedShare share(0.1);
  for (int i = 0; i < 1'000; ++i) share.on_relayed(1'538);
  EXPECT_NEAR(serve_both(share, 1'538, 1'538, 1'000).share(), 0.1, 0.003);
  for (int i = 0; i < 1'000; ++i) share.on_bridged(1'538);
  EXPECT_NEAR(serve_both(share, 1'538, 1'538, 1'000).share(), 0.1, 0.003);
}

TEST(BridgedQueue, KeepsOrderAndBothLimits) {
  BridgedQueue queue(4);
  const ByteCount limit(10'000);
  EXPECT_TRUE(queue.push(1'500, limit));
  EXPECT_TRUE(queue.push(100, limit));
  EXPECT_TRUE(queue.push(8'400, limit));
  EXPECT_FALSE(queue.push(1, limit));
  EXPECT_EQ(queue.bytes(), 10'000U);
  EXPECT_EQ(queue.pop(), 1'500U);
  EXPECT_EQ(queue.pop(), 100U);
  EXPECT_EQ(queue.pop(), 8'400U);
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.bytes(), 0U);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(queue.push(1, limit));
  EXPECT_FALSE(queue.push(1, limit));
  EXPECT_EQ(queue.frames(), 4U);
}

}  // namespace
}  // namespace satrelay::gateway
