// When a polling program pauses.
#include "relay/dpdk/loop/poll_loop.h"

#include <gtest/gtest.h>

namespace satrelay::dpdk::poll_loop_test {
namespace {

Instant at(std::int64_t microseconds) { return Instant() + Duration::microseconds(microseconds); }

TEST(IdlePolicy, BusyNeverPauses) {
  const IdlePolicy policy(config::Polling::kBusy, true);
  EXPECT_EQ(policy.pause(at(1'000'000), Instant::never()).kind, Pause::Kind::kNone);
}

TEST(IdlePolicy, NapsShortlyWhileThereIsTrafficAndThenWaits) {
  IdlePolicy policy(config::Polling::kAdaptive, true);
  policy.on_work(at(0));
  const Pause active = policy.pause(at(500), Instant::never());
  EXPECT_EQ(active.kind, Pause::Kind::kNap);
  EXPECT_LE(active.length, Duration::microseconds(100));
  const Pause idle = policy.pause(at(5'000), Instant::never());
  EXPECT_EQ(idle.kind, Pause::Kind::kWait);
  EXPECT_GE(idle.length, Duration::milliseconds(100));
  EXPECT_LE(idle.length, Duration::milliseconds(500)) << "a stop signal would go unnoticed";
}

TEST(IdlePolicy, NapsGrowWherePortsCannotWake) {
  IdlePolicy policy(config::Polling::kAdaptive, false);
  policy.on_work(at(0));
  Duration last;
  for (const std::int64_t idle : {500, 50'000, 5'000'000}) {
    const Pause pause = policy.pause(at(idle), Instant::never());
    EXPECT_EQ(pause.kind, Pause::Kind::kNap);
    EXPECT_GT(pause.length, last);
    last = pause.length;
  }
  EXPECT_LE(last, Duration::milliseconds(1));
}

TEST(IdlePolicy, SleepsUntilTheNextTimeoutOrAShortNap) {
  for (const bool can_wake : {false, true}) {
    IdlePolicy policy(config::Polling::kAdaptive, can_wake);
    policy.on_work(at(0));
    for (const std::int64_t idle : {10, 5'000, 5'000'000}) {
      EXPECT_EQ(policy.pause(at(idle), at(idle + 7)).length, IdlePolicy::kShortNap);
      EXPECT_EQ(policy.pause(at(idle), at(idle + 51)).length,
                idle == 10 ? IdlePolicy::kShortNap : Duration::microseconds(51));
      EXPECT_EQ(policy.pause(at(idle), at(idle)).kind, Pause::Kind::kNone);
      EXPECT_EQ(policy.pause(at(idle), at(idle - 5)).kind, Pause::Kind::kNone);
    }
  }
}

}  // namespace
}  // namespace satrelay::dpdk::poll_loop_test
