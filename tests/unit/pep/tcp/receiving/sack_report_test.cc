// The SACK blocks in an ACK.
#include "pep/tcp/receiving/sack_report.h"

#include <gtest/gtest.h>

namespace satrelay::tcp::test::sack_report_test {
namespace {

TEST(SackReport, DropsWhatIsDeliveredAndReportsADuplicateOnce) {
  SackReport report;
  RangeSet held;
  held.insert(100, 200);
  report.on_stored(100);
  held.insert(300, 400);
  report.on_stored(300);
  report.on_duplicate({120, 150});
  std::array<Range, 4> out;
  ASSERT_EQ(report.write(held, out), 3u);
  EXPECT_EQ(out[0], (Range{120, 150}));
  EXPECT_EQ(out[1], (Range{300, 400}));
  EXPECT_EQ(out[2], (Range{100, 200}));
  held.erase_below(250);
  ASSERT_EQ(report.write(held, out), 1u);
  EXPECT_EQ(out[0], (Range{300, 400}));
}

}  // namespace
}  // namespace satrelay::tcp::test::sack_report_test
