// When blocks end, and their repairs leave.
#include "pep/stp/fec/fec_sender.h"

#include "tests/unit/pep/stp/fec/blocks.h"

namespace satrelay::stp::test {
namespace {

class FecSending : public Blocks {
 protected:
  using Ranges = std::vector<Range>;
  Ranges repairable(Instant then) {
    const auto ranges = out.sender.repairable(then);
    return {ranges.begin(), ranges.end()};
  }
};

TEST_F(FecSending, ABlockEndsWhenNothingFollows) {
  send(100, false);
  out.sender.advance(Waiting::kNothing, next, kRoundTrip, now + Duration::microseconds(1'900));
  EXPECT_FALSE(out.sender.ready(Waiting::kNothing, next, now + Duration::seconds(1)));
  out.sender.advance(Waiting::kNothing, next, kRoundTrip, now + Duration::milliseconds(2));
  EXPECT_TRUE(out.sender.ready(Waiting::kNothing, next, now + Duration::milliseconds(2)));
}

TEST_F(FecSending, WhileOthersWaitABlockEndsOnceItsRepairsAreASmallShare) {
  out.policy.on_report(9'900, 100);
  send(100, false);
  now += Duration::milliseconds(20);
  out.sender.advance(Waiting::kShort, next, kRoundTrip, now);
  EXPECT_EQ(out.sender.next_timeout(Waiting::kShort, kRoundTrip),
            now - Duration::milliseconds(20) + Duration::milliseconds(100));
  std::size_t sources = 1;
  while (out.policy.repairs_for(sources) * 8 > sources) {
    EXPECT_FALSE(out.sender.ready(Waiting::kBulk, next + 100, now)) << sources;
    send(100, false);
    ++sources;
  }
  EXPECT_TRUE(out.sender.ready(Waiting::kBulk, next + 100, now)) << sources;
  EXPECT_LT(sources, FecCodec::kMaxSources);
}

TEST_F(FecSending, RepairsWaitForShortFlowsAndPassBulk) {
  for (int i = 0; i < 64; ++i) send(100, false);
  EXPECT_TRUE(out.sender.ready(Waiting::kNothing, next, now));
  EXPECT_TRUE(out.sender.ready(Waiting::kBulk, next, now));
  EXPECT_FALSE(out.sender.ready(Waiting::kShort, next + 1023, now));
  EXPECT_TRUE(out.sender.ready(Waiting::kShort, next + 1024, now));
  send_repair(false);
  // One in eight before bulk; one in a millisecond on an idle carrier.
  EXPECT_FALSE(out.sender.ready(Waiting::kBulk, next + 6, now));
  EXPECT_TRUE(out.sender.ready(Waiting::kBulk, next + 7, now));
  EXPECT_FALSE(out.sender.ready(Waiting::kNothing, next, now));
  EXPECT_TRUE(out.sender.ready(Waiting::kNothing, next, now + Duration::milliseconds(1)));
}

TEST_F(FecSending, RepairsThatAReportWouldOvertakeAreDropped) {
  for (int i = 0; i < 64; ++i) send(100, false);
  EXPECT_EQ(out.sender.advance(Waiting::kShort, next, kRoundTrip, now + kRoundTrip),
            out.policy.repairs_for(64));
  EXPECT_TRUE(out.sender.next_timeout(Waiting::kNothing, kRoundTrip).is_never());
}

TEST_F(FecSending, OnACleanPathOnlyOpensAreRepaired) {
  out.policy.on_report(5'000, 0);
  FecSender::Purpose opens;
  opens.opens = true;
  send(300, true, true, opens);
  EXPECT_EQ(send_repairs(), 1U);
  EXPECT_TRUE(lost.empty());
  send(300, true);
  EXPECT_EQ(send_repairs(), 0U);
}

TEST_F(FecSending, AnOpenIsRepairedThoughItsBlockWasBegunWithoutRepairs) {
  out.policy.on_report(5'000, 0);
  send(300, true);
  FecSender::Purpose opens;
  opens.opens = true;
  send(300, true, true, opens);
  EXPECT_EQ(send_repairs(), 1U);
  EXPECT_FALSE(repairable(now - kRoundTrip).empty());
  EXPECT_EQ(repairable(now - kRoundTrip).front().begin, next - 2);
}

TEST_F(FecSending, PacketsAreRepairableUntilTheirRepairsMustHaveArrived) {
  EXPECT_TRUE(repairable(now).empty());
  for (int i = 0; i < 64; ++i) send(100, false);
  EXPECT_TRUE(repairable(now - Duration::seconds(1)).empty()) << "none of its repairs has left";
  send_repair(false);
  const Instant first = now;
  EXPECT_EQ(repairable(first - Duration::nanoseconds(1)), (Ranges{{0, 64}}));
  EXPECT_TRUE(repairable(first).empty());
  send_repairs();
  const std::uint64_t second = next;
  for (int i = 0; i < 64; ++i) send(100, false);
  send_repairs();
  EXPECT_EQ(repairable(first - Duration::nanoseconds(1)), (Ranges{{0, 64}, {second, second + 64}}));
  EXPECT_EQ(repairable(first + Duration::milliseconds(20)), (Ranges{{second, second + 64}}));
}

TEST_F(FecSending, ManySmallBlocksFindRoomOrSaySo) {
  int refused = 0;
  for (int i = 0; i < 50; ++i) {
    if (out.sender.has_room()) {
      send(100, false);
    } else {
      ++refused;
    }
    now += Duration::milliseconds(2);
    out.sender.advance(Waiting::kNothing, next, kRoundTrip, now);
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(send_repairs(), 16U);
  EXPECT_TRUE(out.sender.has_room());
}

}  // namespace
}  // namespace satrelay::stp::test
