// Floods in the names of absent peers: what the gateway does for them does not grow with peers and
// lanes. Each offer that is read and each key on the curve takes random bytes, which are counted.
#include <gtest/gtest.h>

#include <vector>

#include "tests/bench/hello_crowd.h"

namespace satrelay::gateway::hello_flood_test {
namespace {

using bench::HelloCrowd;
using Frames = std::vector<HelloCrowd::Bytes>;

constexpr std::size_t kRate = 20'000;
constexpr std::int64_t kSeconds = 4;
// Of ours that nobody has asked for, and of turns for HELLOs with an offer and without a MAC.
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
  // A second, in which what may be done at once is done, and then some.
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

// An answer takes a key, and mostly an offer.
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

TEST_F(HelloFloodInTheClear, OfEverNewBootsIsAnsweredInTurn) {
  flood(frames(8, [&](std::size_t s, std::size_t i) { return hello(s, 1'000 + i); }));
  EXPECT_LE(sent(), kOurs + 5);
}

}  // namespace
}  // namespace satrelay::gateway::hello_flood_test
