// What each controller makes of a link.
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>

#include "pep/control/fixed_rate.h"
#include "pep/control/hpfp.h"
#include "pep/control/marchese_stp.h"
#include "pep/control/tps.h"
#include "tests/unit/pep/control/model_link.h"

namespace satrelay::control::test {
namespace {

constexpr BitRate kTenMegabit = BitRate::bits_per_second(10'000'000);

// What each makes of 10 Mbit/s and 550 ms from 20 s to 80 s, as a share of what the link lets
// through.
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

}  // namespace
}  // namespace satrelay::control::test
