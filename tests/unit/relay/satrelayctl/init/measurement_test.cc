#include "relay/satrelayctl/init/measurement.h"

#include <gtest/gtest.h>

#include <sstream>

namespace satrelay::ctl::init::measurement_test {
namespace {

// As satperf prints them (tests/unit/relay/satperf/found_link_test.cc).
constexpr const char* kSteady =
    "{\"event\":\"interval\"}\n"
    "{\"event\":\"found\",\"send_bps\":47912345,\"send_most_bps\":49000000,"
    "\"receive_bps\":9717777,\"receive_most_bps\":9900000,\"links\":\"links:\\n  sat: {send_rate: "
    "47900kbit}\\n\"}\n";
constexpr const char* kVarying =
    "{\"event\":\"found\",\"send_bps\":47912345,\"send_most_bps\":60000000,"
    "\"receive_bps\":9717777,\"receive_most_bps\":9900000,\"links\":\"links:\\n  sat: {capacity: "
    "find}\\n\"}";

TEST(RatesIn, AreThoseOfTheLastLine) {
  const auto steady = rates_in(kSteady);
  ASSERT_TRUE(steady);
  EXPECT_EQ(steady->send, BitRate::bits_per_second(47'900'000));
  EXPECT_EQ(steady->receive, BitRate::bits_per_second(9'710'000));
  EXPECT_FALSE(steady->varies);
  const auto varying = rates_in(kVarying);
  ASSERT_TRUE(varying);
  EXPECT_EQ(varying->send, BitRate::bits_per_second(60'000'000));
  EXPECT_TRUE(varying->varies);
}

TEST(RatesIn, AreMissingInOtherOutput) {
  for (const char* output : {"", "\n\n", "satperf: no server\n", "{\"event\":\"interval\"}\n",
                             "[1]", "{\"event\":\"found\"}"}) {
    EXPECT_FALSE(rates_in(output)) << output;
  }
}

TEST(MeasurePath, RefusesAnOptionInThePlaceOfAnAddress) {
  std::ostringstream out;
  EXPECT_FALSE(measure_path("--output=/etc/passwd", 38, out));
  EXPECT_NE(out.str(), "");
}

}  // namespace
}  // namespace satrelay::ctl::init::measurement_test
