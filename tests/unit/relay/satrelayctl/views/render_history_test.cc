#include "relay/satrelayctl/views/render_history.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <time.h>

#include <nlohmann/json.hpp>

namespace satrelay::ctl::render_history_test {
namespace {

constexpr std::uint64_t kStart = 1'764'082'060'000;  // 2025-11-25 14:47:40 UTC

class RenderHistory : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
  }
  static Json point(std::uint64_t place, std::uint64_t send_bps) {
    return {{"time_ms", kStart + 10'000 * place}, {"send_bps", send_bps}};
  }
};

TEST_F(RenderHistory, ALineOfMarksForEachFigureThatIsKnown) {
  Json points = Json::array();
  for (std::uint64_t i = 0; i < 8; ++i) points.push_back(point(i, i * 1'000'000));
  points[7]["loss_ppm"] = 10'000U;
  EXPECT_EQ(render_history(points, {.subject = "gateway"}),
            "gateway, 11-25 14:47:40 to 11-25 14:48:50, a mark is 10.0 s\n"
            "\n"
            "                      least         mean         most\n"
            "sent                0 bit/s  3.50 Mbit/s  7.00 Mbit/s  _.:-=+*#\n"
            "loss                  1.00%        1.00%        1.00%         #\n");
  const std::string blocks =
      render_history(points, {.subject = "gateway", .marks = Marks::kBlocks});
  EXPECT_NE(blocks.find("▁▂▃▄▅▆▇█\n"), std::string::npos) << blocks;
}

TEST_F(RenderHistory, AnHourFits80Columns) {
  Json points = Json::array();
  for (std::uint64_t i = 0; i < 360; ++i) points.push_back(point(i, 999'000'000'000 + i));
  const std::string text =
      render_history(points, {.subject = "class a-name-that-is-as-long-as-one-may-ever-be"});
  std::size_t longest = 0;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    longest = std::max(longest, text.find('\n', at) - at);
  }
  EXPECT_LE(longest, 80U) << text;
  EXPECT_NE(text.find("2 min 30 s\n"), std::string::npos) << text;
  const std::size_t line = text.find("\nsent") + 1;
  EXPECT_LE(text.find('\n', line) - line, 80U) << text;
}

TEST_F(RenderHistory, AGapIsBlank) {
  Json points = Json::array({point(0, 100), {{"time_ms", kStart + 10'000}}, point(2, 100)});
  const std::string text = render_history(points, {.subject = "gateway"});
  EXPECT_NE(text.find("  # #\n"), std::string::npos) << text;
}

TEST_F(RenderHistory, SaysThatThereIsNone) {
  EXPECT_EQ(render_history(Json::array(), {.subject = "peer remote"}),
            "peer remote: there is no history, or not yet.\n");
}

// The pages were read one after the other, while a point was added.
TEST_F(RenderHistory, PointsComeInOrderAndOnce) {
  const Json points = Json::array({point(5, 5), point(4, 4), point(4, 4), point(3, 3)});
  EXPECT_EQ(history_in_order(points, kStart + 40'000), Json::array({point(4, 4), point(5, 5)}));
}

TEST(Marks, AreThoseOfTheLocale) {
  EXPECT_EQ(marks_of("en_GB.UTF-8"), Marks::kBlocks);
  EXPECT_EQ(marks_of("C.utf8"), Marks::kBlocks);
  EXPECT_EQ(marks_of("C"), Marks::kAscii);
  EXPECT_EQ(marks_of(""), Marks::kAscii);
}

}  // namespace
}  // namespace satrelay::ctl::render_history_test
