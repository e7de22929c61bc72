#include "pep/base/containers/timer_heap.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "pep/base/random.h"

namespace satrelay::timer_heap_test {
namespace {

Instant at(std::uint64_t n) { return Instant::from_nanoseconds(static_cast<std::int64_t>(n)); }

TEST(TimerHeap, ArmsMovesAndCancels) {
  TimerHeap timers(3);
  EXPECT_TRUE(timers.next_deadline().is_never());
  timers.set(1, Instant::never());  // not armed: no effect
  EXPECT_TRUE(timers.next_deadline().is_never());
  timers.set(0, at(30));
  timers.set(1, at(20));
  timers.set(2, at(10));
  EXPECT_EQ(timers.next_slot(), 2U);
  timers.set(2, at(40));
  EXPECT_EQ(timers.next_slot(), 1U);
  timers.set(1, Instant::never());
  EXPECT_EQ(timers.next_slot(), 0U);
  EXPECT_EQ(timers.next_deadline(), at(30));
  timers.set(0, Instant::never());
  timers.set(2, Instant::never());
  EXPECT_TRUE(timers.next_deadline().is_never());
}

TEST(TimerHeap, TakesNegativeInstants) {
  TimerHeap timers(2);
  timers.set(0, at(0));
  timers.set(1, Instant::from_nanoseconds(-5));
  EXPECT_EQ(timers.next_slot(), 1U);
}

TEST(TimerHeap, RefusesAnUnknownSlot) {
  TimerHeap timers(2);
  EXPECT_DEATH(timers.set(2, at(1)), "");
}

TEST(TimerHeap, AgreesWithAList) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const auto slots = static_cast<std::uint32_t>(1 + random.below(200));
    TimerHeap timers(slots);
    std::vector<Instant> model(slots, Instant::never());
    for (int step = 0; step < 2000; ++step) {
      // Mostly as an engine uses the heap: it serves the earliest timer, arms others and cancels
      // some.
      const auto slot = random.chance(0.3) && !timers.next_deadline().is_never()
                            ? timers.next_slot()
                            : static_cast<std::uint32_t>(random.below(slots));
      const Instant deadline = random.chance(0.3) ? Instant::never() : at(random.below(500));
      timers.set(slot, deadline);
      model[slot] = deadline;
      const Instant expected = *std::min_element(model.begin(), model.end());
      ASSERT_EQ(timers.next_deadline(), expected);
      if (!expected.is_never()) {
        ASSERT_EQ(model[timers.next_slot()], expected);
      }
    }
    // The timers leave the heap in order.
    Instant last = at(0);
    std::size_t armed = 0;
    while (!timers.next_deadline().is_never()) {
      ASSERT_LE(last, timers.next_deadline());
      last = timers.next_deadline();
      timers.set(timers.next_slot(), Instant::never());
      ++armed;
    }
    EXPECT_EQ(armed, static_cast<std::size_t>(std::count_if(
                         model.begin(), model.end(), [](Instant t) { return !t.is_never(); })));
  }
}

}  // namespace
}  // namespace satrelay::timer_heap_test
