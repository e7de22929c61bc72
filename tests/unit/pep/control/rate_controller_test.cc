// How the controllers behave on the same links.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <vector>

#include "pep/control/fixed_rate.h"
#include "pep/control/hpfp.h"
#include "pep/control/marchese_stp.h"
#include "pep/control/tps.h"
#include "tests/unit/pep/control/model_link.h"

namespace satrelay::control::test::rate_controller_test {
namespace {

constexpr BitRate kTenMegabit = BitRate::bits_per_second(10'000'000);

// The share of 10 Mbit/s at a round trip of 550 ms that each controller uses, from 20 s to 80 s.
TEST(Controllers, ShareOfALossyLink) {
  std::printf("  10 Mbit/s, RTT 550 ms: share of the link's rate\n  %-12s %6s %6s %6s\n", "loss",
              "0", "1e-3", "1e-2");
  const auto measure = [](auto make, const char* name, Duration interval,
                          std::initializer_list<double> least) {
    std::printf("  %-12s", name);
    auto floor = least.begin();
    for (const double loss : {0.0, 1e-3, 1e-2}) {
      std::unique_ptr<RateController> controller = make();
      ModelLink link;
      link.loss = loss;
      link.report_interval = interval;
      Model model(*controller, link);
      model.run(Duration::seconds(20));
      model.share();
      model.run(Duration::seconds(60));
      const double share = model.share();
      std::printf(" %6.3f", share);
      EXPECT_GE(share, *floor++) << name << " at loss " << loss;
      EXPECT_LE(share, 1.001);
    }
    std::printf("\n");
  };
  const Duration rtt = Duration::milliseconds(550);
  measure([] { return std::make_unique<FixedRate>(kTenMegabit); }, "fixed_rate",
          Duration::milliseconds(25), {0.99, 0.99, 0.98});
  measure(
      [] {
        return std::make_unique<Hpfp>(Hpfp::Config{kTenMegabit, {}});
      },
      "hpfp", Duration::milliseconds(200), {0.99, 0.99, 0.98});
  measure(
      [] {
        return std::make_unique<Tps>(Tps::Config{kTenMegabit, 0});
      },
      "tps", rtt, {0.98, 0.2, 0.05});
  measure(
      [] { return std::make_unique<MarcheseStp>(MarcheseStp::Config{.capacity = kTenMegabit}); },
      "stp", Duration::milliseconds(25), {0.95, 0.95, 0.94});
}

// The link falls to a tenth. A controller that lowers its rate gives the cause. The end of a probe
// is no cut.
TEST(Controllers, SayWhyTheirRateHasFallen) {
  const auto causes = [](RateController& controller) {
    Model model(controller, ModelLink{});
    model.run(Duration::seconds(5));
    model.link.rate = BitRate::bits_per_second(1'000'000);
    std::vector<std::optional<CutCause>> found;
    BitRate before = controller.rate();
    for (int ms = 0; ms < 30'000; ++ms) {
      model.run(Duration::milliseconds(1));
      if (controller.rate() < before.scaled(95, 100)) found.push_back(controller.cut_cause());
      before = controller.rate();
    }
    return found;
  };
  FixedRate fixed(kTenMegabit);
  const auto of_fixed = causes(fixed);
  EXPECT_EQ(of_fixed.at(0), CutCause::kDelay);
  // The end of a probe that found no room.
  EXPECT_TRUE(std::ranges::any_of(of_fixed, [](const auto& cause) { return !cause; }));
  Hpfp hpfp(Hpfp::Config{kTenMegabit, {}});
  EXPECT_EQ(causes(hpfp).at(0), CutCause::kDelay);
  Tps tps(Tps::Config{kTenMegabit, 0});
  EXPECT_EQ(causes(tps).at(0), CutCause::kLoss);
}

}  // namespace
}  // namespace satrelay::control::test::rate_controller_test
