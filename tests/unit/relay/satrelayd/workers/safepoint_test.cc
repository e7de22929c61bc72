// While its followers stand still, the leader has their data to itself. It never waits forever.
#include "relay/satrelayd/workers/safepoint.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "pep/base/time.h"
#include "relay/dpdk/loop/clock.h"

namespace satrelay::satrelayd::safepoint_test {
namespace {

constexpr unsigned kFollowers = 3;

class SafepointTest : public testing::Test {
 protected:
  ~SafepointTest() override {
    ends_ = true;
    hangs_ = false;
    for (std::thread& thread : threads_) thread.join();
  }

  void start() {
    for (unsigned i = 0; i < kFollowers; ++i) {
      threads_.emplace_back([this, i] {
        while (!ends_) {
          safepoint_.heed(i);
          while (i == 0 && hangs_) {
            is_hanging_ = true;
            std::this_thread::yield();
          }
          ++rounds_[i].plain;
          has_gone_on_ = true;
          std::this_thread::sleep_for(std::chrono::microseconds(100));
        }
      });
    }
  }

  struct alignas(64) Count {
    std::uint64_t plain = 0;  // not atomic: the safepoint must be enough
  };
  std::atomic<bool> ends_ = false, hangs_ = false, is_hanging_ = false, has_gone_on_ = false;
  std::array<Count, kFollowers> rounds_;
  std::atomic<unsigned> woken_ = 0;
  Safepoint safepoint_{kFollowers, [this](unsigned) { ++woken_; }, Duration::milliseconds(500)};
  std::vector<std::thread> threads_;
};

TEST_F(SafepointTest, HoldsAllWhileTheLeaderLooks) {
  start();
  std::uint64_t before = 0;
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(safepoint_.stop());
    const auto sum = [&] { return rounds_[0].plain + rounds_[1].plain + rounds_[2].plain; };
    const std::uint64_t now = sum();
    for (int look = 0; look < 100; ++look) ASSERT_EQ(sum(), now);
    safepoint_.let_go();
    EXPECT_GE(now, before);
    before = now;
    // A follower that wakes only after the next stop() makes no round in between. On a busy machine
    // this may happen each time.
    while (i == 100 && !has_gone_on_) std::this_thread::yield();
  }
  EXPECT_GT(before, 0U);
  EXPECT_EQ(woken_, 200 * kFollowers);
}

TEST_F(SafepointTest, WaitsLongForOneThatHangsOnlyOnce) {
  hangs_ = true;
  start();
  while (!is_hanging_) std::this_thread::yield();
  const Instant first = dpdk::now();
  EXPECT_FALSE(safepoint_.stop());
  safepoint_.let_go();
  EXPECT_GE(dpdk::now() - first, Duration::milliseconds(500));
  const Instant later = dpdk::now();
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(safepoint_.stop());
    safepoint_.let_go();
  }
  EXPECT_LT(dpdk::now() - later, Duration::milliseconds(500));
  hangs_ = false;
  const Instant give_up = dpdk::now() + Duration::seconds(5);
  bool stand = false;
  while (!stand && dpdk::now() < give_up) {
    stand = safepoint_.stop();
    safepoint_.let_go();
  }
  EXPECT_TRUE(stand) << "it goes on, and comes again";
  EXPECT_FALSE(safepoint_.is_one_missing());
}

TEST_F(SafepointTest, DoesNotWaitForWhoHasEnded) {
  for (unsigned i = 0; i < kFollowers; ++i) safepoint_.leave(i);
  const Instant before = dpdk::now();
  EXPECT_TRUE(safepoint_.stop());
  safepoint_.let_go();
  EXPECT_LT(dpdk::now() - before, Duration::milliseconds(500));
}

TEST_F(SafepointTest, TellsWhoStood) {
  EXPECT_FALSE(safepoint_.heed(0));
  std::atomic<bool> stood = false;
  std::thread follower([&] {
    while (!(stood = safepoint_.heed(0))) std::this_thread::yield();
  });
  for (unsigned i = 1; i < kFollowers; ++i) safepoint_.leave(i);
  EXPECT_TRUE(safepoint_.stop());
  EXPECT_FALSE(stood);
  safepoint_.let_go();
  follower.join();
  EXPECT_TRUE(stood);
}

}  // namespace
}  // namespace satrelay::satrelayd::safepoint_test
