// When a session asks the peer for a report, and what it tells the peer to report no more.
#include "pep/stp/path/report_requests.h"

#include <gtest/gtest.h>

namespace satrelay::stp::report_requests_test {
namespace {

constexpr Instant at(std::int64_t ms) { return Instant::from_nanoseconds(ms * 1'000'000); }
constexpr Duration kAnswer = Duration::milliseconds(600);

TEST(ReportRequestsTest, AsksOnceForEachRequest) {
  ReportRequests requests(at(0));
  EXPECT_FALSE(requests.take());
  requests.ask();
  requests.ask();
  EXPECT_TRUE(requests.due());
  EXPECT_TRUE(requests.take());
  EXPECT_FALSE(requests.due());
}

TEST(ReportRequestsTest, AsksAtOnceForANewHoleAndLaterForAnOldOne) {
  ReportRequests requests(at(0));
  requests.on_missed(10, kAnswer, at(1000));
  EXPECT_TRUE(requests.take());
  // The same gap: the answer is on its way.
  requests.on_missed(10, kAnswer, at(1599));
  requests.on_missed(7, kAnswer, at(1599));
  EXPECT_FALSE(requests.due());
  // More packets of which every report was lost.
  requests.on_missed(11, kAnswer, at(1599));
  EXPECT_TRUE(requests.take());
  // The session asks again once the answer must be lost as well.
  requests.on_missed(11, kAnswer, at(2198));
  EXPECT_FALSE(requests.due());
  requests.on_missed(11, kAnswer, at(2199));
  EXPECT_TRUE(requests.take());
}

TEST(ReportRequestsTest, APacketInThirtyTwoThatNeedNoReportAsks) {
  ReportRequests requests(at(0));
  for (int i = 1; i < ReportRequests::kMaxUnasked; ++i) EXPECT_FALSE(requests.on_unasked()) << i;
  EXPECT_TRUE(requests.on_unasked());
  // The first packet had no room for the question, so the next one asks.
  EXPECT_TRUE(requests.on_unasked());
  requests.on_asked();
  EXPECT_FALSE(requests.on_unasked());
}

TEST(ReportRequestsTest, RemembersWhatWasAnnounced) {
  ReportRequests requests(at(0));
  EXPECT_EQ(requests.announced(), 0U);
  EXPECT_EQ(requests.announce(17), 17U);
  EXPECT_EQ(requests.announced(), 17U);
}

}  // namespace
}  // namespace satrelay::stp::report_requests_test
