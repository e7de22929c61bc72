// Whatever shares the workers hold, their parts add up to no more than the link.
#include "relay/gateway/shares/fallbacks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "pep/base/random.h"

namespace satrelay::gateway::fallbacks_test {
namespace {

TEST(Fallbacks, BeginEqual) {
  const Fallbacks fallbacks(8);
  for (unsigned i = 0; i < 8; ++i) EXPECT_EQ(fallbacks.part(i), kWholeLink / 8);
}

TEST(Fallbacks, FollowWhatIsWantedOnceItIsTaken) {
  Fallbacks fallbacks(2);
  std::vector<std::uint64_t> taken(2);
  const std::vector<double> wanted = {9, 1};
  fallbacks.divide(1, taken, wanted);
  EXPECT_EQ(fallbacks.part(0), kWholeLink / 2) << "the other may still hold a half";
  EXPECT_NEAR(fallbacks.part(1), kWholeLink * 0.1, 1);
  taken = {1, 0};
  fallbacks.divide(2, taken, wanted);
  EXPECT_EQ(fallbacks.part(0), kWholeLink / 2);
  taken = {2, 1};
  fallbacks.divide(3, taken, wanted);
  EXPECT_NEAR(fallbacks.part(0), kWholeLink * 0.9, 1);
}

TEST(Fallbacks, AnyMixtureOfSharesIsNoMoreThanTheLink) {
  Random random(3);
  for (const unsigned workers : {1U, 2U, 3U, 8U, 16U}) {
    Fallbacks fallbacks(workers);
    // The parts by worker and serial. Serial 0 is the part before the first division.
    std::vector<std::vector<std::uint32_t>> parts(workers, {kWholeLink / workers});
    std::vector<std::uint64_t> held(workers), told(workers);
    std::vector<double> wanted(workers, 1);
    std::uint32_t least_sum = kWholeLink;
    for (std::uint64_t serial = 1; serial < 5'000; ++serial) {
      for (double& each : wanted) {
        if (random.below(10) == 0) each = static_cast<double>(1 + random.below(1'000));
      }
      fallbacks.divide(serial, told, wanted);
      std::uint64_t most = 0;
      std::uint32_t sum = 0;
      for (unsigned i = 0; i < workers; ++i) {
        parts[i].push_back(fallbacks.part(i));
        sum += parts[i].back();
        // The worker holds the share of held[i], and may take any later one next.
        most += *std::max_element(parts[i].begin() + static_cast<std::ptrdiff_t>(held[i]),
                                  parts[i].end());
      }
      ASSERT_LE(most, kWholeLink) << workers << " workers, division " << serial;
      if (serial > 10) least_sum = std::min(least_sum, sum);
      for (unsigned i = 0; i < workers; ++i) {
        // Worker 1 hangs for a long time.
        if (i == 1 && serial % 1'000 > 500) continue;
        if (random.below(3) > 0) held[i] = serial;
        if (random.below(3) > 0) told[i] = held[i];
      }
    }
    EXPECT_GT(least_sum, 0U);
  }
}

// Even if a worker's part falls a little at each division, the others get what it gives up.
TEST(Fallbacks, PartsThatFallSteadilyAreGivenToOthers) {
  Fallbacks fallbacks(2);
  std::vector<std::uint64_t> taken(2);
  for (std::uint64_t serial = 1; serial < 200; ++serial) {
    const double falling = 1 - static_cast<double>(serial) / 200;
    fallbacks.divide(serial, taken, std::vector<double>{falling, 1 - falling});
    taken = {serial - 1, serial - 1};  // one division late
  }
  EXPECT_GT(fallbacks.part(1), kWholeLink * 9 / 10);
}

}  // namespace
}  // namespace satrelay::gateway::fallbacks_test
