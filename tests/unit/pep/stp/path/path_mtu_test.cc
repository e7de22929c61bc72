// The search for the path MTU, a state machine, against a path of a given size.
#include "pep/stp/path/path_mtu.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "pep/base/random.h"

namespace satrelay::stp::path_mtu_test {
namespace {

// Sends the probes that the search wants, one round trip at a time.
class PathMtuTest : public ::testing::Test {
 protected:
  // One round trip: sends all probes that are due, and settles them. Returns how many were sent.
  std::size_t round(PathMtu& mtu, std::size_t path, double loss = 0) {
    struct Probe {
      std::uint64_t number;
      std::uint16_t size;
    };
    std::vector<Probe> probes;
    mtu.handle_timeout(now);
    while (const std::uint16_t size = mtu.probe_due()) {
      probes.push_back({number++, size});
      mtu.on_probe_sent(probes.back().number);
    }
    now += Duration::milliseconds(500);
    for (const Probe& probe : probes) {
      const bool arrives = probe.size <= path && !random.chance(loss);
      EXPECT_TRUE(arrives ? mtu.on_acknowledged(probe.number, probe.size, now)
                          : mtu.on_lost(probe.number, probe.size, now));
    }
    return probes.size();
  }
  // How many round trips pass until the limit is within the resolution of `path`; 100 if it never
  // is.
  int rounds_to(PathMtu& mtu, std::size_t path, double loss = 0) {
    for (int rounds = 1; rounds < 100; ++rounds) {
      round(mtu, path, loss);
      EXPECT_LE(mtu.limit(), path);
      if (std::size_t{mtu.limit()} + PathMtu::kResolution > path) return rounds;
    }
    return 100;
  }
  Instant now;
  std::uint64_t number = 1;
  Random random{1};
};

constexpr PathMtu::Config kStandard{.base = 1172, .maximum = 1472};
constexpr PathMtu::Config kJumbo{.base = 1172, .maximum = 8972};

TEST_F(PathMtuTest, StartsAtTheBaseAndConfirmsTheMaximumInOneRoundTrip) {
  PathMtu mtu(kJumbo);
  EXPECT_EQ(mtu.limit(), 1172);
  EXPECT_EQ(mtu.state(), PathMtu::State::kSearching);
  EXPECT_EQ(mtu.probe_due(), 8972);
  EXPECT_TRUE(mtu.is_last_of_round());
  EXPECT_EQ(round(mtu, 8972), 1U);
  EXPECT_EQ(mtu.limit(), 8972);
  EXPECT_EQ(mtu.state(), PathMtu::State::kComplete);
  mtu.handle_timeout(now + Duration::seconds(10'000));
  EXPECT_EQ(mtu.probe_due(), 0);
  EXPECT_TRUE(mtu.next_timeout().is_never());
}

TEST_F(PathMtuTest, WhatIsKnownNeedsNoSearch) {
  PathMtu mtu({.base = 1172, .maximum = 8972, .known = true});
  EXPECT_EQ(mtu.limit(), 8972);
  EXPECT_EQ(mtu.probe_due(), 0);
}

TEST_F(PathMtuTest, APeerThatTakesLessIsNeverProbedBeyond) {
  PathMtu mtu(kJumbo);
  mtu.start(1472);
  EXPECT_EQ(mtu.probe_due(), 1472);
  mtu.start(1000);
  EXPECT_EQ(mtu.limit(), 1000);
  EXPECT_EQ(mtu.probe_due(), 0);
}

TEST_F(PathMtuTest, FindsEverySizeInFewRoundTrips) {
  for (std::size_t path = 1172; path <= 1472; path += 7) {
    PathMtu mtu(kStandard);
    EXPECT_LE(rounds_to(mtu, path), 4) << path;
  }
  for (std::size_t path = 1172; path <= 8972; path += 61) {
    PathMtu mtu(kJumbo);
    EXPECT_LE(rounds_to(mtu, path), 5) << path;
    for (int i = 0; i < 6; ++i) round(mtu, path);
    EXPECT_EQ(mtu.state(), PathMtu::State::kComplete) << path;
    EXPECT_EQ(round(mtu, path), 0U) << path;
  }
}

TEST_F(PathMtuTest, LossMakesTheSearchLongerNotWrong) {
  int most = 0;
  for (int i = 0; i < 1000; ++i) {
    PathMtu mtu(kStandard);
    most = std::max(most, rounds_to(mtu, 1472, 0.1));
  }
  EXPECT_LE(most, 8);
}

TEST_F(PathMtuTest, TriesAgainAfterTheRaiseInterval) {
  PathMtu mtu(kStandard);
  while (mtu.state() != PathMtu::State::kComplete) round(mtu, 1172);
  EXPECT_EQ(mtu.limit(), 1172);
  mtu.handle_timeout(now + PathMtu::kRaiseInterval - Duration::seconds(1));
  EXPECT_EQ(mtu.probe_due(), 0);
  now = mtu.next_timeout();
  EXPECT_EQ(round(mtu, 1472), 1U);
  EXPECT_EQ(mtu.limit(), 1472);
}

// The getters begin no search, whenever they are called. A search begins in handle_timeout().
TEST_F(PathMtuTest, AskingBeginsNoSearch) {
  PathMtu mtu(kStandard);
  while (mtu.state() != PathMtu::State::kComplete) round(mtu, 1172);
  now = mtu.next_timeout();
  EXPECT_EQ(mtu.probe_due(), 0);
  EXPECT_EQ(mtu.state(), PathMtu::State::kComplete);
  EXPECT_EQ(mtu.next_timeout(), now);
  mtu.handle_timeout(now);
  EXPECT_EQ(mtu.state(), PathMtu::State::kSearching);
  EXPECT_EQ(mtu.probe_due(), 1472);
  EXPECT_TRUE(mtu.next_timeout().is_never());
}

class BlackHoleTest : public PathMtuTest {
 protected:
  BlackHoleTest() { mtu.start(1472); }
  void large(bool arrives) { send(1472, arrives); }
  void small(bool arrives) { send(60, arrives); }
  bool black_hole() { return mtu.take_verdict() == PathMtu::Verdict::kBlackHole; }
  PathMtu mtu{{.base = 1172, .maximum = 1472, .known = true}};

 private:
  void send(std::size_t size, bool arrives) {
    ++number;
    EXPECT_FALSE(arrives ? mtu.on_acknowledged(number, size, now) : mtu.on_lost(number, size, now));
  }
};

TEST_F(BlackHoleTest, LargePacketsVanishAmongSmallOnesThatArrive) {
  for (int i = 0; i < 3; ++i) {
    large(false);
    large(false);
    small(true);
  }
  EXPECT_FALSE(black_hole());
  large(false);
  EXPECT_TRUE(black_hole());
  EXPECT_EQ(mtu.limit(), 1172);
  EXPECT_FALSE(black_hole()) << "said once";
  // The search begins again.
  EXPECT_EQ(mtu.state(), PathMtu::State::kSearching);
  EXPECT_LE(rounds_to(mtu, 1300), 4);
}

TEST_F(BlackHoleTest, AnOutageIsNone) {
  for (int i = 0; i < 1000; ++i) large(false);
  for (int i = 0; i < 100; ++i) {
    small(false);
    large(false);
  }
  // The path works again: small packets arrive, and so do large ones.
  small(true);
  small(true);
  small(true);
  small(true);
  large(true);
  large(false);
  EXPECT_FALSE(black_hole());
  EXPECT_EQ(mtu.limit(), 1472);
}

// Losses in an outage, and a chance loss after it, are no evidence of a black hole. A loss between
// small packets that arrive is evidence, once for each such loss.
TEST_F(BlackHoleTest, TakesLossesBehindSmallPackets) {
  for (int i = 0; i < 1000; ++i) large(false);
  small(true);
  large(false);
  large(false);
  for (int i = 0; i < 3; ++i) small(true);
  large(false);
  EXPECT_FALSE(black_hole());
  large(true);
  for (int i = 0; i < 2; ++i) {
    small(true);
    large(false);
  }
  EXPECT_FALSE(black_hole()) << "begins anew";
}

// If small packets are reported before the losses between them, only the oldest and the newest of
// them are known.
TEST_F(BlackHoleTest, WhatIsToldInAnotherOrderCountsLess) {
  for (std::uint64_t n = 1; n <= 6; ++n) mtu.on_lost(n, 1472, now);
  for (const std::uint64_t n : {7U, 9U, 11U}) mtu.on_acknowledged(n, 60, now);
  for (const std::uint64_t n : {8U, 10U, 12U}) mtu.on_lost(n, 1472, now);
  EXPECT_FALSE(black_hole());
  mtu.on_acknowledged(13, 60, now);
  mtu.on_lost(14, 1472, now);
  EXPECT_TRUE(black_hole());
}

// In doubt, some or most packets are so small that they pass a black hole, so that data goes on.
// Some packets stay large. The shares hold among every n-th packet too, since the others may have
// little to carry.
TEST_F(BlackHoleTest, WhileInDoubtSomeOrMostPacketsAreSmall) {
  const auto part = [&](std::uint16_t size, std::uint64_t step = 1) {
    constexpr int kPackets = 8000;
    int packets = 0;
    for (std::uint64_t n = 0; n < kPackets; ++n) {
      packets += mtu.limit_for(number + n * step) == size ? 1 : 0;
    }
    return static_cast<double>(packets) / kPackets;
  };
  EXPECT_EQ(part(1472), 1);
  mtu.on_silence(PathMtu::Doubt::kSlight);
  for (std::uint64_t step = 1; step <= 33; ++step) {
    EXPECT_NEAR(part(1172, step), 0.125, 0.01) << step;
    EXPECT_NEAR(part(1472, step), 0.875, 0.01) << step;
  }
  mtu.on_silence(PathMtu::Doubt::kGrave);
  mtu.on_silence(PathMtu::Doubt::kSlight);
  for (std::uint64_t step = 1; step <= 33; ++step) {
    EXPECT_NEAR(part(1472, step), 0.125, 0.01) << step;
    EXPECT_NEAR(part(548, step), 0.125, 0.01) << step;
    EXPECT_NEAR(part(1172, step), 0.75, 0.01) << step;
  }
  for (int i = 0; i < PathMtu::kLargeLost; ++i) large(false);
  small(true);
  EXPECT_EQ(mtu.doubt(), PathMtu::Doubt::kGrave) << "small packets prove nothing";
  large(true);
  EXPECT_EQ(part(1472), 1);
  for (int i = 0; i < PathMtu::kManyLost; ++i) large(false);
  EXPECT_EQ(mtu.doubt(), PathMtu::Doubt::kNone) << "a queue has overflowed, or the link was gone";
  small(true);
  EXPECT_EQ(mtu.doubt(), PathMtu::Doubt::kGrave);
}

// Losses in a black hole say nothing about the path's usual loss.
TEST_F(BlackHoleTest, WhatItHasEatenIsCountedBeforeAndAfterItIsSeen) {
  const auto lose = [&](std::size_t size) {
    mtu.on_lost(++number, size, now);
    mtu.on_counted(number, size);
  };
  lose(1472);
  large(true);
  for (int i = 0; i < 100; ++i) large(false);  // in an outage
  for (int i = 0; i < PathMtu::kLostBehindSmall; ++i) {
    EXPECT_EQ(mtu.take_too_large(), 0U);
    small(true);
    lose(1472);
  }
  EXPECT_TRUE(black_hole());
  EXPECT_EQ(mtu.take_too_large(), static_cast<std::uint64_t>(PathMtu::kLostBehindSmall))
      << "none that has not counted";
  lose(1472);
  lose(1172);
  EXPECT_EQ(mtu.take_too_large(), 1U) << "one left before the limit fell, one after it";
  EXPECT_EQ(mtu.take_too_large(), 0U);
}

TEST_F(BlackHoleTest, TheBaseMayBeTooMuchItself) {
  const auto lose_between_floors = [&](std::size_t size) {
    for (int i = 0; i < PathMtu::kLargeLost; ++i) {
      mtu.on_acknowledged(++number, 548, now);
      mtu.on_lost(++number, size, now);
    }
  };
  lose_between_floors(1472);
  EXPECT_TRUE(black_hole());
  EXPECT_EQ(mtu.limit(), 1172);
  // From now on losses at the size of the base count.
  lose_between_floors(1472);
  EXPECT_FALSE(black_hole());
  lose_between_floors(1172);
  EXPECT_TRUE(black_hole());
  EXPECT_EQ(mtu.limit(), 548);
  lose_between_floors(548);
  EXPECT_FALSE(black_hole()) << "any path carries the floor";
  EXPECT_LE(rounds_to(mtu, 700), 5);
}

TEST_F(BlackHoleTest, LossByChanceIsNone) {
  for (int i = 0; i < 200'000; ++i) {
    large(!random.chance(0.1));
    if (i % 3 == 0) small(!random.chance(0.1));
    ASSERT_FALSE(black_hole()) << i;
  }
}

TEST_F(BlackHoleTest, SizesUpToTheBaseAreNeverBlamed) {
  for (int i = 0; i < 100; ++i) {
    small(false);
    small(true);
  }
  EXPECT_FALSE(black_hole());
}

}  // namespace
}  // namespace satrelay::stp::path_mtu_test
