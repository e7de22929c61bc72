// Which packets are dropped, compared with the pseudo-code of RFC 8289 section 5 and its control
// law.
#include "pep/schedule/codel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <deque>
#include <vector>

#include "pep/base/random.h"

namespace satrelay::schedule::codel_test {
namespace {

constexpr Codel::Terms kTerms{.target = Duration::milliseconds(5),
                              .interval = Duration::milliseconds(100)};
constexpr Instant kStart = Instant::from_nanoseconds(1'000'000'000);

Instant at(std::int64_t ms) { return kStart + Duration::milliseconds(ms); }

// Each millisecond a packet reaches the head of the queue, after it has waited for the given time.
class CodelTest : public testing::Test {
 protected:
  // The times of the drops, in ms.
  std::vector<std::int64_t> run(std::int64_t from, std::int64_t to, Duration waited,
                                bool is_followed = true) {
    std::vector<std::int64_t> drops;
    for (std::int64_t ms = from; ms < to; ++ms) {
      while (codel_.drops({waited, is_followed}, kTerms, at(ms))) drops.push_back(ms);
    }
    return drops;
  }
  Codel codel_;
};

TEST_F(CodelTest, WhatWaitsLessThanTheTargetIsLeftAlone) {
  EXPECT_TRUE(run(0, 10'000, Duration::microseconds(4'999)).empty());
}

TEST_F(CodelTest, ABurstMayWaitForAnInterval) {
  EXPECT_TRUE(run(0, 100, Duration::milliseconds(50)).empty());
  EXPECT_TRUE(run(100, 101, Duration::milliseconds(4)).empty()) << "the burst is over";
  EXPECT_TRUE(run(101, 201, Duration::milliseconds(50)).empty());
}

TEST_F(CodelTest, DropsComeSoonerAndSooner) {
  const std::vector<std::int64_t> drops = run(0, 1'000, Duration::milliseconds(20));
  ASSERT_GE(drops.size(), 10U);
  EXPECT_EQ(drops[0], 100) << "an interval after the first that came late";
  double next = 100;
  for (std::size_t n = 1; n < 10; ++n) {
    next += 100 / std::sqrt(static_cast<double>(n));
    EXPECT_NEAR(static_cast<double>(drops[n]), next, 1) << n;
  }
}

TEST_F(CodelTest, OnePacketBelowTheTargetEndsIt) {
  EXPECT_FALSE(run(0, 350, Duration::milliseconds(20)).empty());
  run(350, 351, Duration::milliseconds(1));
  EXPECT_TRUE(run(351, 451, Duration::milliseconds(20)).empty());
}

TEST_F(CodelTest, WhoComesBackSoonGoesOnAboutWhereItWas) {
  const std::size_t before = run(0, 800, Duration::milliseconds(20)).size();
  run(800, 801, Duration::milliseconds(1));
  const std::vector<std::int64_t> soon = run(801, 1'201, Duration::milliseconds(20));
  EXPECT_GT(before, 8U);
  EXPECT_GT(soon.size(), 5U) << "in 300 ms from a fresh start there are four";
  run(1'201, 1'202, Duration::milliseconds(1));
  // After 16 intervals the former rate of drops is forgotten.
  EXPECT_EQ(run(4'000, 4'150, Duration::milliseconds(20)).size(), 1U);
}

TEST_F(CodelTest, WithNothingBehindItNoPacketIsDropped) {
  EXPECT_TRUE(run(0, 10'000, Duration::seconds(3), false).empty());
}

// --- the pseudo-code ---------------------------------------------------------------------------

struct Packet {
  Instant came;
  std::uint64_t number = 0;
};

// RFC 8289 sections 5.2 to 5.5, in one function as there. Sizes are counted in packets.
class Reference {
 public:
  explicit Reference(std::deque<Packet>& queue) : queue_(queue) {}

  void dequeue(Instant now, std::vector<std::uint64_t>& dropped) {
    bool ok = look(now);
    if (dropping_) {
      if (!ok) dropping_ = false;
      while (dropping_ && now >= drop_next_) {
        dropped.push_back(take());
        ++count_;
        ok = look(now);
        if (!ok) {
          dropping_ = false;
        } else {
          drop_next_ = law(drop_next_);
        }
      }
    } else if (ok) {
      dropped.push_back(take());
      look(now);
      dropping_ = true;
      const std::uint32_t delta = count_ - last_count_;
      count_ = delta > 1 && now - drop_next_ < kTerms.interval * 16 ? delta : 1;
      drop_next_ = law(now);
      last_count_ = count_;
    }
    if (!queue_.empty()) take();
  }

 private:
  // Whether the packet that is taken next may be dropped.
  bool look(Instant now) {
    if (queue_.empty() || now - queue_.front().came < kTerms.target || queue_.size() <= 2) {
      first_above_ = Instant();
      return false;
    }
    if (first_above_ == Instant()) {
      first_above_ = now + kTerms.interval;
      return false;
    }
    return now >= first_above_;
  }
  std::uint64_t take() {
    const std::uint64_t number = queue_.front().number;
    queue_.pop_front();
    return number;
  }
  Instant law(Instant from) const {
    return from + Duration::nanoseconds(std::llround(
                      static_cast<double>(kTerms.interval.to_nanoseconds()) / std::sqrt(count_)));
  }

  std::deque<Packet>& queue_;
  Instant first_above_, drop_next_;
  std::uint32_t count_ = 0, last_count_ = 0;
  bool dropping_ = false;
};

// The RFC leaves the dropping state with the packet after the last one, Codel with the last packet
// itself. The drops do not differ, since the packet is late in neither case.
TEST(Codel, DropsThePacketsThatThePseudoCodeDrops) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    Random random(seed);
    std::deque<Packet> queue, other;
    Reference reference(other);
    Codel codel;
    std::vector<std::uint64_t> dropped, expected;
    std::uint64_t number = 0;
    for (std::int64_t tick = 0; tick < 60'000; ++tick) {
      const Instant now = kStart + Duration::microseconds(tick * 500);
      // Bursts, floods and pauses.
      const std::uint64_t most = tick / 3'000 % 3 == 0 ? 4 : tick / 3'000 % 3 == 1 ? 2 : 3;
      for (std::uint64_t i = random.below(most); i > 0; --i) {
        queue.push_back({now, ++number});
        other.push_back({now, number});
      }
      while (!queue.empty() &&
             codel.drops({now - queue.front().came, queue.size() > 2}, kTerms, now)) {
        dropped.push_back(queue.front().number);
        queue.pop_front();
      }
      if (!queue.empty()) queue.pop_front();
      if (!other.empty()) reference.dequeue(now, expected);
      ASSERT_EQ(dropped, expected) << "seed " << seed << ", tick " << tick;
    }
    EXPECT_GT(dropped.size(), 20U);
  }
}

}  // namespace
}  // namespace satrelay::schedule::codel_test
