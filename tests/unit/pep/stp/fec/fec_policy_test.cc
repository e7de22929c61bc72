#include "pep/stp/fec/fec_policy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <vector>

#include "pep/base/random.h"

namespace satrelay::stp::fec_policy_test {
namespace {

// A path that loses packets in runs (Gilbert): each run begins by chance and goes on by chance.
class Path {
 public:
  Path(double loss, double run, std::uint64_t seed)
      : begins_(loss / (1 - loss) / run), ends_(1 / run), random_(seed) {
    left_ = next_gap();
  }
  // How many of the next `packets` packets are lost.
  std::size_t losses(std::size_t packets) {
    std::size_t lost = 0;
    while (packets > 0) {
      if (left_ == 0) {
        is_bad_ = !is_bad_;
        left_ = is_bad_ ? drawn(ends_) : next_gap();
      }
      const auto now = std::min<std::uint64_t>(packets, left_);
      lost += is_bad_ ? now : 0;
      packets -= now;
      left_ -= now;
    }
    return lost;
  }

 private:
  std::uint64_t next_gap() { return drawn(begins_); }
  // How many trials it takes until an event of this chance happens, at least 1.
  std::uint64_t drawn(double chance) {
    if (chance >= 1) return 1;
    return 1 + static_cast<std::uint64_t>(std::log(1 - random_.unit()) / std::log(1 - chance));
  }
  double begins_;
  double ends_;
  Random random_;
  bool is_bad_ = false;
  std::uint64_t left_ = 0;
};

FecPolicy measured(double loss, double run) {
  FecPolicy policy;
  policy.on_report(static_cast<std::uint64_t>(10'000 * (1 - loss)),
                   static_cast<std::uint64_t>(10'000 * loss));
  policy.set_run_length(run);
  return policy;
}

// How often a window loses more packets than it has repairs.
double failures(double loss, double run, std::size_t sources, std::size_t repairs) {
  constexpr int kWindows = 200'000;
  Path path(loss, run, 7);
  int failed = 0;
  for (int i = 0; i < kWindows; ++i) failed += path.losses(sources + repairs) > repairs ? 1 : 0;
  return static_cast<double>(failed) / kWindows;
}

TEST(FecPolicy, APathNotMeasuredYetGetsRepairsForAPercent) {
  const FecPolicy policy;
  EXPECT_FALSE(policy.is_clean());
  EXPECT_GT(policy.loss_bound(), 0.01);
  EXPECT_LT(policy.loss_bound(), 0.03);
  EXPECT_GE(policy.repairs_for(1), 1U);
  EXPECT_GE(policy.repairs_for(64), 6U);
  EXPECT_LE(policy.repairs_for(64), 10U);
  EXPECT_EQ(policy.repairs_for(0), 0U);
}

// A flow shorter than a round trip is over before the first report on it.
TEST(FecPolicy, LongWindowsOfAPathNotMeasuredYetAreForFivePercent) {
  FecPolicy policy;
  const std::size_t repairs = policy.repairs_for(2'000);
  EXPECT_LE(failures(0.05, 1, 2'000, repairs), FecPolicy::kResidual * 1.3);
  EXPECT_LE(repairs, FecPolicy::kMostRepairs);
  EXPECT_GT(policy.repairs_for(65), policy.repairs_for(64) + 2);
  policy.on_report(100, 0);
  EXPECT_LT(policy.repairs_for(2'000), repairs / 2) << "then what was measured counts";
}

TEST(FecPolicy, ACleanPathGetsNone) {
  FecPolicy policy;
  policy.on_report(500, 0);
  EXPECT_GT(policy.repairs_for(64), 0U) << "too early to tell";
  policy.on_report(600, 0);
  EXPECT_TRUE(policy.is_clean());
  EXPECT_EQ(policy.repairs_for(64), 0U);
  EXPECT_EQ(policy.sources_for(0, 3072), 3072U);
  policy.on_report(10, 1);
  EXPECT_FALSE(policy.is_clean());
  EXPECT_GT(policy.repairs_for(64), 0U);
}

TEST(FecPolicy, RepairsFollowTheLossAndTheSizeOfTheWindow) {
  std::size_t before = 0;
  for (const double loss : {0.0001, 0.001, 0.01, 0.05, 0.1, 0.3}) {
    const FecPolicy policy = measured(loss, 1);
    EXPECT_GT(policy.loss_bound(), loss);
    EXPECT_GE(policy.repairs_for(64), before);
    before = policy.repairs_for(64);
    std::size_t of_smaller = 0;
    for (const std::size_t sources : {1U, 4U, 16U, 64U, 256U, 1024U, 3072U}) {
      const std::size_t repairs = policy.repairs_for(sources);
      EXPECT_GE(repairs, of_smaller) << loss << " " << sources;
      EXPECT_LE(repairs, sources / 2 + 6) << "bounded under any loss";
      EXPECT_LE(repairs, FecPolicy::kMostRepairs + 1);
      of_smaller = repairs;
    }
  }
  EXPECT_GT(measured(0.3, 1).repairs_for(3072), FecPolicy::kMostRepairs) << "too long a window";
}

// A single packet or one of its repairs must arrive. And bursts may be longer than half of a short
// window.
TEST(FecPolicy, SmallWindowsGetMoreThanHalfOfTheirPackets) {
  EXPECT_GE(measured(0.2, 1).repairs_for(1), 5U);
  EXPECT_LE(measured(0.2, 1).repairs_for(1), 6U);
  EXPECT_GT(measured(0.05, 10).repairs_for(100), 56U);
  EXPECT_LE(measured(0.05, 10).repairs_for(100), 81U);
}

// Checks the residual by its definition, for single losses and for bursts. The policy calculates
// with a bound above the loss. At the bound its repairs are enough, and a tenth fewer are not.
TEST(FecPolicy, TheResidualIsWhatItPromises) {
  struct Row {
    double loss;
    double run;
    std::size_t sources;
  };
  for (const Row& row :
       {Row{0.01, 1, 64}, Row{0.01, 1, 512}, Row{0.01, 1, 3072}, Row{0.03, 1, 1024},
        Row{0.001, 1, 3072}, Row{0.01, 3, 1024}, Row{0.01, 10, 1024}, Row{0.003, 5, 3072}}) {
    const FecPolicy policy = measured(row.loss, row.run);
    const std::size_t repairs = policy.repairs_for(row.sources);
    const double bound = policy.loss_bound();
    const double at_loss = failures(row.loss, row.run, row.sources, repairs);
    const double at_bound = failures(bound, row.run, row.sources, repairs);
    const std::size_t fewer = repairs - (repairs + 9) / 10;
    const double with_fewer = failures(bound, row.run, row.sources, fewer);
    std::printf(
        "  loss %5.3f runs of %2.0f, %4zu packets: bound %.4f, %3zu repairs; more lost: %.1e,"
        " at the bound %.1e, there with %zu %.1e\n",
        row.loss, row.run, row.sources, bound, repairs, at_loss, at_bound, fewer, with_fewer);
    ASSERT_LT(repairs, FecPolicy::kMostRepairs);
    const double residual = FecPolicy::residual(row.run);
    EXPECT_LE(at_loss, residual);
    EXPECT_LE(at_bound, residual * 1.3) << "within what 200,000 draws tell";
    EXPECT_GT(with_fewer, residual);
  }
}

TEST(FecPolicy, LongerRunsNeedMore) {
  const std::size_t single = measured(0.01, 1).repairs_for(1024);
  const std::size_t few = measured(0.01, 3).repairs_for(1024);
  const std::size_t bursts = measured(0.01, 10).repairs_for(1024);
  EXPECT_GT(few, single);
  EXPECT_GT(bursts, few);
  EXPECT_EQ(measured(0.01, 50).repairs_for(3), measured(0.01, 3).repairs_for(3))
      << "a run is no longer than the window";
}

// It holds about nine times in ten, since the posterior is taken as normal, with a prior of one
// percent. Tested for single losses, and for bursts of which the policy knows the mean length.
TEST(FecPolicy, TheBoundHoldsNineTimesInTen) {
  for (const double run : {1.0, 5.0}) {
    for (const double loss : {0.01, 0.05}) {
      constexpr int kPaths = 2'000;
      constexpr std::size_t kPackets = 5'000;
      Path path(loss, run, 3);
      int held = 0;
      for (int i = 0; i < kPaths; ++i) {
        FecPolicy policy;
        const std::size_t lost = path.losses(kPackets);
        policy.on_report(kPackets - lost, lost);
        policy.set_run_length(run);
        held += policy.loss_bound() >= loss ? 1 : 0;
      }
      const double share = static_cast<double>(held) / kPaths;
      std::printf("  loss %.2f in runs of %.0f: the bound holds in %.1f%%\n", loss, run,
                  share * 100);
      EXPECT_GE(share, 0.90);
      EXPECT_LE(share, 0.97) << "and is no wider than it says";
    }
  }
}

TEST(FecPolicy, AWindowForSoManyRepairsNeedsNoMore) {
  for (const double loss : {0.001, 0.01, 0.05, 0.3}) {
    const FecPolicy policy = measured(loss, 2);
    for (const std::size_t repairs : {1U, 2U, 6U, 30U, 100U, 160U}) {
      const std::size_t sources = policy.sources_for(repairs, 3072);
      ASSERT_GE(sources, 1U);
      ASSERT_LE(sources, 3072U);
      if (sources > 1) {
        EXPECT_LE(policy.repairs_for(sources), repairs) << loss;
      }
      if (sources < 3072) {
        EXPECT_GT(policy.repairs_for(sources + 1), repairs) << loss;
      }
    }
  }
}

TEST(FecPolicy, OldLossesAreForgotten) {
  FecPolicy policy;
  policy.on_report(900, 100);
  const std::size_t then = policy.repairs_for(64);
  for (int i = 0; i < 30; ++i) policy.on_report(5'000, 0);
  EXPECT_LT(policy.repairs_for(64), then);
  for (int i = 0; i < 300; ++i) policy.on_report(5'000, 0);
  EXPECT_TRUE(policy.is_clean());
  policy.on_report(0, 10'000);
  policy.clear();
  EXPECT_EQ(policy.repairs_for(64), FecPolicy().repairs_for(64));
}

}  // namespace
}  // namespace satrelay::stp::fec_policy_test
