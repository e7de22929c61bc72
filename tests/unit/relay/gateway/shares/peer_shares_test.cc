// Lanes to a peer that may be sent less than its link carries.
#include "relay/gateway/shares/peer_shares.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "pep/base/random.h"
#include "relay/gateway/shares/rate_shares.h"

namespace satrelay::gateway::peer_shares_test {
namespace {

constexpr BitRate mbit(double n) {
  return BitRate::bits_per_second(static_cast<std::uint64_t>(n * 1e6));
}

// Two peers: the first one with two lanes at each of four workers, the other with one lane. Each
// lane sends its share, or less.
class Lanes {
 public:
  Lanes() : demands_(4, Demands(0, 3)), shares_(4, Shares(0, 3)) {}

  LaneDemand& lane(unsigned worker, std::size_t session) {
    return demands_[worker].lanes[LaneId(session)];
  }
  BitRate share(unsigned worker, std::size_t session) const {
    return shares_[worker].lanes[LaneId(session)];
  }
  void limit(std::size_t session, BitRate rate) {
    for (Demands& worker : demands_) worker.lanes[LaneId(session)].limit = rate;
  }
  // The rate of the first peer's lanes together, in Mbit/s.
  double run(int ticks) {
    std::uint64_t sent = 0;
    for (int i = 0; i < ticks; ++i, now_ += kShareTick) {
      divider_.divide(demands_, shares_, now_);
      for (unsigned w = 0; w < 4; ++w) {
        for (std::size_t s = 0; s < 2; ++s) {
          LaneDemand& lane = demands_[w].lanes[LaneId(s)];
          lane.hungry = lane.waits;
          if (!lane.waits) continue;
          const std::uint64_t bytes = shares_[w].lanes[LaneId(s)].bytes_in(kShareTick).value();
          lane.sent += bytes;
          sent += bytes;
        }
      }
    }
    return static_cast<double>(sent) * 8e-3 / ticks;
  }

 private:
  PeerShares divider_{4, {2, 1}, Instant()};
  std::vector<Demands> demands_;
  std::vector<Shares> shares_;
  Instant now_ = Instant() + kShareTick;
};

TEST(PeerShares, WithoutALimitThereIsNoShare) {
  Lanes lanes;
  lanes.run(10);
  for (unsigned w = 0; w < 4; ++w) {
    for (std::size_t s = 0; s < 3; ++s) EXPECT_TRUE(lanes.share(w, s).is_zero());
  }
}

TEST(PeerShares, OneLaneAloneHasAllOfTheLimit) {
  Lanes lanes;
  lanes.limit(0, mbit(20));
  lanes.lane(3, 1).waits = true;
  lanes.run(100);
  EXPECT_NEAR(lanes.run(500), 20, 0.2);
  EXPECT_TRUE(lanes.share(0, 2).is_zero()) << "another peer's";
}

TEST(PeerShares, TheLimitHoldsForAllTogetherByTheirHosts) {
  Lanes lanes;
  lanes.limit(0, mbit(20));
  for (unsigned w = 0; w < 4; ++w) {
    lanes.lane(w, 0).waits = true;
    lanes.lane(w, 0).hosts = w + 1;
  }
  lanes.run(100);
  EXPECT_NEAR(lanes.run(500), 20, 0.2);
  for (unsigned w = 0; w < 4; ++w) {
    const double part = static_cast<double>(lanes.share(w, 0).to_bits_per_second()) / 2e6;
    EXPECT_NEAR(part, w + 1, 0.05 * (w + 1));
  }
}

TEST(PeerShares, ALimitThatGoesIsNoneForAnyLane) {
  Lanes lanes;
  lanes.limit(0, mbit(20));
  lanes.run(10);
  EXPECT_FALSE(lanes.share(2, 1).is_zero());
  lanes.limit(0, BitRate());
  lanes.run(1);
  EXPECT_TRUE(lanes.share(2, 1).is_zero());
}

// If the limit reaches some lanes later than others, the lowest one holds.
TEST(PeerShares, TheLowestOfSeveralHolds) {
  Lanes lanes;
  lanes.limit(0, mbit(20));
  lanes.lane(1, 0).limit = mbit(5);
  lanes.lane(2, 0).waits = true;
  lanes.run(100);
  EXPECT_NEAR(lanes.run(500), 5, 0.1);
}

TEST(PeerShares, NothingThatIsToldBreaksThem) {
  Random random(3);
  PeerShares divider(4, {2, 1}, Instant());
  std::vector<Demands> demands(4, Demands(0, 3));
  std::vector<Shares> shares(4, Shares(0, 3));
  Instant now;
  for (int i = 0; i < 2'000; ++i) {
    const BitRate limit = BitRate::bits_per_second(1 + (random.next() >> random.below(64)));
    for (Demands& worker : demands) {
      for (LaneDemand& lane : worker.lanes) {
        lane = {.limit = limit,
                .waits = random.chance(0.5),
                .hungry = random.chance(0.5),
                .hosts = static_cast<std::uint32_t>(random.next()),
                .sent = random.next()};
      }
    }
    now += Duration::microseconds(static_cast<std::int64_t>(1 + random.below(2'000)));
    divider.divide(demands, shares, now);
    double together = 0;
    for (const Shares& worker : shares) {
      for (std::size_t s = 0; s < 2; ++s) {
        EXPECT_FALSE(worker.lanes[LaneId(s)].is_zero());
        together += static_cast<double>(worker.lanes[LaneId(s)].to_bits_per_second());
      }
    }
    ASSERT_LE(together, 1.3 * static_cast<double>(limit.to_bits_per_second()) + 2'000);
  }
}

}  // namespace
}  // namespace satrelay::gateway::peer_shares_test
