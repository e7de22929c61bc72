// How a sender tells late packets from lost ones.
#include "pep/stp/path/reorder_tolerance.h"

#include <gtest/gtest.h>

namespace satrelay::stp::reorder_tolerance_test {
namespace {

constexpr Duration ms(std::int64_t n) { return Duration::milliseconds(n); }

// Ten packets a millisecond.
SentLedger ten_a_millisecond(std::uint64_t count) {
  SentLedger ledger(8192);
  for (std::uint64_t n = 0; n < count; ++n) {
    ledger.append(Instant() + Duration::microseconds(static_cast<std::int64_t>(n * 100)), 100, true,
                  {}, 0);
  }
  return ledger;
}

TEST(ReorderToleranceTest, ThreeLaterPacketsDecideWhereOrderIsKept) {
  const SentLedger ledger = ten_a_millisecond(1000);
  ReorderTolerance tolerance;
  EXPECT_EQ(tolerance.first_uncertain(999, Duration::zero(), 0, ledger), 997U);
  EXPECT_EQ(tolerance.first_uncertain(999, ms(5), 0, ledger), 1000U);
  EXPECT_EQ(tolerance.first_uncertain(1, Duration::zero(), 0, ledger), 0U);
}

TEST(ReorderToleranceTest, OnlyTimeDecidesWhereItIsNot) {
  const SentLedger ledger = ten_a_millisecond(1000);
  ReorderTolerance tolerance;
  tolerance.set_lateness(ms(16));
  EXPECT_EQ(tolerance.time(), ms(20));
  EXPECT_EQ(tolerance.first_uncertain(999, Duration::zero(), 0, ledger), 800U);
  EXPECT_EQ(tolerance.first_uncertain(999, ms(5), 0, ledger), 850U);
  EXPECT_EQ(tolerance.first_uncertain(999, ms(20), 0, ledger), 1000U);
  EXPECT_EQ(tolerance.first_uncertain(100, Duration::zero(), 0, ledger), 0U);
}

}  // namespace
}  // namespace satrelay::stp::reorder_tolerance_test
