// Floods of HELLOs in the names of absent peers. The work of the gateway does not grow with the
// number of peers and lanes. Each offer that is read and each key on the curve takes random bytes,
// which are counted.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/bench/world/hello_crowd.h"

namespace satrelay::gateway::hello_flood_test {
namespace {

using bench::HelloCrowd;
using Frames = std::vector<HelloCrowd::Bytes>;

constexpr std::size_t kRate = 20'000;
constexpr std::int64_t kSeconds = 4;
// In a second: our HELLOs that no peer has asked for, and turns for HELLOs with an offer and for
// HELLOs without a MAC.
constexpr double kOurs = 200, kTurns = 50;

class HelloFlood : public ::testing::Test {
 protected:
  explicit HelloFlood(bool encrypts = true)
      : crowd({.peers = 50, .lanes = 8, .encrypts = encrypts}) {
    crowd.rest(Duration::seconds(10));
  }
  HelloCrowd::Bytes hello(std::size_t session, std::uint64_t boot = 1'000) {
    return crowd.recorded(crowd.session(session), boot, 1).front();
  }
  template <typename Make>
  Frames frames(std::size_t each, Make make) {
    Frames all;
    for (std::size_t i = 0; i < each; ++i) {
      for (std::size_t s = 0; s < crowd.sessions(); ++s) {
        all.push_back(crowd.frame_of(crowd.session(s), make(s, i)));
      }
    }
    return all;
  }
  // Floods for one second, which uses up the turns at once, and then measures for kSeconds.
  void flood(const Frames& frames) {
    crowd.flood(frames, kRate, Duration::seconds(1));
    crowd.forget();
    draws_ = crowd.entropy().draws();
    crowd.flood(frames, kRate, Duration::seconds(kSeconds));
  }
  double draws() const { return static_cast<double>(crowd.entropy().draws() - draws_) / kSeconds; }
  double sent() const { return static_cast<double>(crowd.frames_out()) / kSeconds; }
  HelloCrowd crowd;

 private:
  std::uint64_t draws_ = 0;
};

class HelloFloodInTheClear : public HelloFlood {
 protected:
  HelloFloodInTheClear() : HelloFlood(false) {}
};

TEST_F(HelloFlood, OfNobodyLeavesOurOwn) {
  flood({});
  EXPECT_NEAR(sent(), kOurs, 5);
  EXPECT_LE(draws(), kOurs);
}

TEST_F(HelloFlood, OfForgedOffersTakesNoMore) {
  flood(frames(8, [&](std::size_t s, std::size_t) { return crowd.forged(hello(s)); }));
  EXPECT_LE(sent(), kOurs + 5);
  EXPECT_LE(draws(), kOurs);
}

TEST_F(HelloFlood, OfForgedAcceptancesTakesNoMore) {
  flood(frames(
      8, [&](std::size_t s, std::size_t) { return crowd.forged_acceptance(hello(s), true); }));
  EXPECT_LE(sent(), kOurs + 5);
  EXPECT_LE(draws(), kOurs);
}

// An answer takes a key, and in most cases an offer.
TEST_F(HelloFlood, OfRecordedHellosIsAnsweredInTurn) {
  flood(frames(20, [&](std::size_t s, std::size_t i) { return hello(s, 1'000 + i); }));
  EXPECT_LE(sent(), kOurs + kTurns + 10);
  EXPECT_LE(draws(), kOurs + 2 * kTurns + 10);
}

TEST_F(HelloFlood, OfOlderBuildsIsReadInTurn) {
  flood(frames(8, [&](std::size_t s, std::size_t) {
    return HelloCrowd::without_mac(crowd.forged(hello(s)));
  }));
  EXPECT_LE(sent(), kOurs + kTurns + 10);
  EXPECT_LE(draws(), kOurs + 2 * kTurns + 10);
}

TEST_F(HelloFlood, OfPacketsOfNoSessionDrawsOurHellosInTurn) {
  flood(
      frames(8, [&](std::size_t s, std::size_t) { return crowd.stranger(crowd.session(s), 100); }));
  EXPECT_LE(sent(), kOurs + 5);
  EXPECT_LE(draws(), kOurs);
}

// --- of 300 peers --------------------------------------------------------------------------------

// Each peer's own HELLOs of an earlier boot are replayed, ten thousand a second in all.
class ReplayOfAll : public ::testing::Test {
 protected:
  static constexpr Duration kRoundTrip = Duration::milliseconds(548);
  static constexpr std::uint64_t kEarlier = 1'600'000'000'000'000'000U;
  static constexpr std::uint64_t kNow = 1'700'000'000'500'000'000U;

  void replay(Duration time) { crowd.flood(frames_, 10'000, time); }
  // The most keys and offers that were read in a second.
  double most_draws(int seconds) {
    std::uint64_t most = 0;
    for (int i = 0; i < seconds; ++i) {
      const std::uint64_t before = crowd.entropy().draws();
      replay(Duration::seconds(1));
      most = std::max(most, crowd.entropy().draws() - before);
    }
    return static_cast<double>(most);
  }
  void record(std::size_t count) {
    for (std::size_t i = 0; i < crowd.sessions(); ++i) {
      recorded_.push_back(crowd.recorded(crowd.session(i), kEarlier, count));
    }
    for (std::size_t n = 0; n < count; ++n) {
      for (std::size_t i = 0; i < crowd.sessions(); ++i) {
        frames_.push_back(crowd.frame_of(crowd.session(i), recorded_[i][n]));
      }
    }
  }
  HelloCrowd crowd{{.peers = 300, .lanes = 1}};

 private:
  std::vector<Frames> recorded_;
  Frames frames_;
};

TEST_F(ReplayOfAll, TakesSoManyCurvesASecond) {
  record(100);
  crowd.rest(Duration::seconds(10));
  // After a rest, more may be done at once.
  EXPECT_LE(most_draws(1), kOurs + 64 + 2 * (kTurns + 128));
  EXPECT_LE(most_draws(5), kOurs + 2 * kTurns + 10);
}

// A recorded HELLO is read once. So recordings of one HELLO each are soon used up.
TEST_F(ReplayOfAll, DelaysNoPeerThatComes) {
  record(1);
  crowd.rest(Duration::seconds(10));
  replay(Duration::seconds(5));
  crowd.invite(crowd.session(150), kNow, kRoundTrip);
  replay(Duration::seconds(4));
  ASSERT_TRUE(crowd.time_to_meet());
  RecordProperty("met_ms", static_cast<int>(crowd.time_to_meet()->to_milliseconds()));
  EXPECT_LE(crowd.time_to_meet()->to_milliseconds(), 2 * kRoundTrip.to_milliseconds());
}

// While recordings in the names of all peers are new, a peer waits for one round of them.
TEST_F(ReplayOfAll, DelaysAPeerByOneRoundOfTurns) {
  record(300);
  crowd.rest(Duration::seconds(10));
  replay(Duration::milliseconds(500));
  crowd.invite(crowd.session(150), kNow, kRoundTrip);
  replay(Duration::seconds(8));
  ASSERT_TRUE(crowd.time_to_meet());
  RecordProperty("met_ms", static_cast<int>(crowd.time_to_meet()->to_milliseconds()));
  EXPECT_LE(crowd.time_to_meet()->to_milliseconds(), 6'000 + 2 * kRoundTrip.to_milliseconds());
}

TEST_F(HelloFloodInTheClear, OfEverNewBootsIsAnsweredInTurn) {
  flood(frames(8, [&](std::size_t s, std::size_t i) { return hello(s, 1'000 + i); }));
  EXPECT_LE(sent(), kOurs + 5);
}

}  // namespace
}  // namespace satrelay::gateway::hello_flood_test
