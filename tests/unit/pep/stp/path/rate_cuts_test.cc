// Which falls of the rate count as cuts.
#include "pep/stp/path/rate_cuts.h"

#include <gtest/gtest.h>

namespace satrelay::stp::rate_cuts_test {
namespace {

using control::CutCause;

constexpr BitRate mbit(std::uint64_t n) { return BitRate::bits_per_second(n * 1'000'000); }
std::optional<CutCause> by_delay() { return CutCause::kDelay; }
std::optional<CutCause> by_loss() { return CutCause::kLoss; }

TEST(RateCutsTest, AFallByMoreThanATwentiethIsOne) {
  RateCuts cuts;
  cuts.begin(mbit(100));
  EXPECT_FALSE(cuts.last());
  cuts.look(mbit(96), by_delay);
  EXPECT_EQ(cuts.count(CutCause::kDelay), 0U);
  cuts.look(mbit(94), by_delay);  // small steps add up to a cut
  EXPECT_EQ(cuts.count(CutCause::kDelay), 1U);
  EXPECT_EQ(cuts.last()->from, mbit(100));
  EXPECT_EQ(cuts.last()->to, mbit(94));
  cuts.look(mbit(94), by_delay);
  EXPECT_EQ(cuts.count(CutCause::kDelay), 1U);
  cuts.look(mbit(200), by_loss);
  cuts.look(mbit(100), by_loss);
  EXPECT_EQ(cuts.count(CutCause::kLoss), 1U);
  EXPECT_EQ(cuts.last()->cause, CutCause::kLoss);
  EXPECT_EQ(cuts.last()->from, mbit(200));
}

TEST(RateCutsTest, TheEndOfATrialIsNone) {
  RateCuts cuts;
  cuts.begin(mbit(100));
  cuts.look(mbit(125), by_delay);
  cuts.look(mbit(97), [] { return std::optional<CutCause>(); });
  EXPECT_FALSE(cuts.last());
  cuts.look(mbit(50), by_delay);
  EXPECT_EQ(cuts.last()->from, mbit(97));
}

}  // namespace
}  // namespace satrelay::stp::rate_cuts_test
