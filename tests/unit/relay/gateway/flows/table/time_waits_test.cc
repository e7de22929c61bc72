#include "relay/gateway/flows/table/time_waits.h"

#include <gtest/gtest.h>

#include <map>

#include "pep/base/random.h"

namespace satrelay::gateway::time_waits_test {
namespace {

FlowKey key(std::uint32_t n) {
  FlowKey key;
  key.local = IpAddress::v4(
      {10, 0, static_cast<std::uint8_t>(n >> 24), static_cast<std::uint8_t>(n >> 16)});
  key.remote = IpAddress::v4({10, 1, 0, 1});
  key.local_port = static_cast<std::uint16_t>(n);
  key.remote_port = 80;
  return key;
}

std::uint32_t number(const FlowKey& key) { return key.local_port; }

class TimeWaitsTest : public ::testing::Test {
 protected:
  std::optional<FlowKey> add(std::uint32_t n) {
    return waits_.add(key(n), {.send_next = n, .receive_next = n + 1, .window = 0x1234}, now_);
  }
  // How many connections are over by now.
  std::size_t expire() {
    std::size_t count = 0;
    for (bool more = true; more;) {
      const TimeWaits::Expired expired = waits_.take_expired(now_);
      count += expired.connection ? 1 : 0;
      more = expired.more;
    }
    return count;
  }
  Instant now_ = Instant::from_nanoseconds(5'000'000'000);
  TimeWaits waits_{1000, {1, 2}};
};

TEST_F(TimeWaitsTest, AConnectionIsKnownForTwiceTheLifeOfASegment) {
  EXPECT_EQ(add(7), std::nullopt);
  EXPECT_TRUE(waits_.contains(key(7)));
  EXPECT_FALSE(waits_.contains(key(8)));
  const auto state = waits_.state(key(7));
  ASSERT_TRUE(state);
  EXPECT_EQ(state->send_next, 7U);
  EXPECT_EQ(state->receive_next, 8U);
  EXPECT_EQ(state->window, 0x1200) << "as the field's upper octet";
  now_ += TimeWaits::kTime - Duration::milliseconds(2);
  EXPECT_EQ(expire(), 0U);
  EXPECT_GT(waits_.next_expiry(), now_);
  now_ += Duration::milliseconds(3);
  EXPECT_LE(waits_.next_expiry(), now_);
  const auto left = waits_.take_expired(now_);
  ASSERT_TRUE(left.connection);
  EXPECT_EQ(*left.connection, key(7));
  EXPECT_TRUE(waits_.empty());
  EXPECT_TRUE(waits_.next_expiry().is_never());
}

TEST_F(TimeWaitsTest, TheOldestIsGivenUpForANewOne) {
  for (std::uint32_t n = 0; n < 1000; ++n) ASSERT_EQ(add(n), std::nullopt);
  const auto given_up = add(1000);
  ASSERT_TRUE(given_up);
  EXPECT_EQ(*given_up, key(0));
  EXPECT_FALSE(waits_.contains(key(0)));
  EXPECT_TRUE(waits_.contains(key(1)));
  EXPECT_EQ(waits_.size(), 1000U);
}

TEST_F(TimeWaitsTest, ARepeatedFinBeginsTheWaitAnew) {
  add(1);
  add(2);
  waits_.restart(key(1), now_);  // the wait has just begun
  now_ += Duration::seconds(20);
  waits_.restart(key(1), now_);
  EXPECT_EQ(waits_.size(), 2U);
  now_ += Duration::seconds(11);
  EXPECT_EQ(expire(), 1U);
  EXPECT_TRUE(waits_.contains(key(1)));
  now_ += Duration::seconds(20);
  EXPECT_EQ(expire(), 1U);
}

TEST_F(TimeWaitsTest, AgreesWithAMapWhateverComesAndGoes) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    TimeWaits waits(300, {random.next(), random.next()});
    std::map<std::uint32_t, Instant> model;  // when each wait ends
    for (int step = 0; step < 5000; ++step) {
      now_ += Duration::milliseconds(static_cast<std::int64_t>(random.below(300)));
      for (bool more = true; more;) {
        const TimeWaits::Expired expired = waits.take_expired(now_);
        if (expired.connection) {
          const auto left = model.find(number(*expired.connection));
          ASSERT_NE(left, model.end()) << "seed " << seed << " step " << step;
          ASSERT_LE(left->second + TimeWaits::kTime, now_ + Duration::milliseconds(2));
          model.erase(left);
        }
        more = expired.more;
      }
      const auto n = static_cast<std::uint32_t>(random.below(400));
      if (model.contains(n)) {
        ASSERT_TRUE(waits.contains(key(n)));
        if (random.chance(0.5)) {
          ASSERT_TRUE(waits.remove(key(n)));
          model.erase(n);
        } else {
          waits.restart(key(n), now_);
        }
      } else {
        ASSERT_FALSE(waits.contains(key(n)));
        const auto given_up = waits.add(key(n), {.send_next = n}, now_);
        if (given_up) {
          ASSERT_EQ(model.erase(number(*given_up)), 1U);
        }
        model[n] = now_;
      }
      ASSERT_EQ(waits.size(), model.size());
    }
    for (const auto& [n, over] : model) {
      ASSERT_EQ(waits.state(key(n))->send_next, n) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace satrelay::gateway::time_waits_test
