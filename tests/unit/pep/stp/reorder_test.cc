// How late packets are told from lost ones, at the receiver and at the sender; and that the shorter
// form of a report is chosen.
#include <gtest/gtest.h>

#include <vector>

#include "pep/base/random.h"
#include "pep/stp/packets/arrival_order.h"
#include "pep/stp/packets/received_packets.h"
#include "pep/stp/packets/reorder_tolerance.h"

namespace satrelay::stp {
namespace {

constexpr Instant at(std::int64_t ms) { return Instant::from_nanoseconds(ms * 1'000'000); }
constexpr Duration ms(std::int64_t n) { return Duration::milliseconds(n); }

TEST(ArrivalOrderTest, MeasuresHowLongAgoAPacketWasOvertaken) {
  ArrivalOrder order;
  for (std::uint64_t n = 0; n < 100; ++n) order.on_progress(n + 1, at(static_cast<int>(n)));
  EXPECT_EQ(order.lateness(at(100)), Duration::zero());
  order.on_late(89, at(100));  // 90 came at 90 ms
  EXPECT_GE(order.lateness(at(100)), ms(10));
  EXPECT_LE(order.lateness(at(100)), ms(12));
  order.on_late(97, at(101));  // less late: the most counts
  EXPECT_GE(order.lateness(at(101)), ms(10));
}

TEST(ArrivalOrderTest, ForgetsAfterAMinute) {
  ArrivalOrder order;
  order.on_progress(10, at(40'000));
  order.on_late(5, at(40'008));
  EXPECT_GT(order.lateness(at(69'000)), Duration::zero());
  EXPECT_EQ(order.lateness(at(140'000)), Duration::zero());
}

TEST(ArrivalOrderTest, APacketThatIsVeryLateTellsNothing) {
  ArrivalOrder order;
  order.on_progress(10, at(0));
  order.on_late(5, at(400));
  EXPECT_EQ(order.lateness(at(400)), Duration::zero());
}

// Ten packets a millisecond.
SentLedger ten_a_millisecond(std::uint64_t count) {
  SentLedger ledger(8192);
  for (std::uint64_t n = 0; n < count; ++n) {
    ledger.append(Instant() + Duration::microseconds(static_cast<std::int64_t>(n * 100)), 100, true,
                  {}, 0);
  }
  return ledger;
}

TEST(ReorderToleranceTest, ThreeLaterPacketsDecideWhereOrderIsKept) {
  const SentLedger ledger = ten_a_millisecond(1000);
  ReorderTolerance tolerance;
  EXPECT_EQ(tolerance.first_uncertain(999, Duration::zero(), 0, ledger), 997U);
  EXPECT_EQ(tolerance.first_uncertain(999, ms(5), 0, ledger), 1000U);
  EXPECT_EQ(tolerance.first_uncertain(1, Duration::zero(), 0, ledger), 0U);
}

TEST(ReorderToleranceTest, OnlyTimeDecidesWhereItIsNot) {
  const SentLedger ledger = ten_a_millisecond(1000);
  ReorderTolerance tolerance;
  tolerance.set_lateness(ms(16));
  EXPECT_EQ(tolerance.time(), ms(20));
  EXPECT_EQ(tolerance.first_uncertain(999, Duration::zero(), 0, ledger), 800U);
  EXPECT_EQ(tolerance.first_uncertain(999, ms(5), 0, ledger), 850U);
  EXPECT_EQ(tolerance.first_uncertain(999, ms(20), 0, ledger), 1000U);
  EXPECT_EQ(tolerance.first_uncertain(100, Duration::zero(), 0, ledger), 0U);
}

std::size_t report_size(double loss) {
  ReceivedPackets received;
  Random random(7);
  for (std::uint64_t n = 0; n < 4000; ++n) {
    if (!random.chance(loss)) received.record(n, at(1));
  }
  received.record(4000, at(1));
  std::vector<std::byte> room(8000);
  ByteWriter out(room);
  EXPECT_TRUE(received.write_report(out, {}, at(2)));
  ByteReader in(ConstBytes(room).subspan(1, out.written() - 1));
  const FeedbackFrame report = parse_feedback(in);
  EXPECT_TRUE(in.ok());
  EXPECT_EQ(in.remaining(), 0U);
  std::uint64_t told = 0;
  std::uint64_t missing = 0;
  report.for_each_run([&](std::uint64_t begin, std::uint64_t end) { told += end - begin; },
                      [&](std::uint64_t begin, std::uint64_t end) {
                        told += end - begin;
                        for (std::uint64_t n = begin; n < end; ++n) {
                          EXPECT_TRUE(received.is_missing(n)) << n;
                          ++missing;
                        }
                      });
  EXPECT_EQ(told, 4001U);
  EXPECT_NEAR(static_cast<double>(missing), 4000 * loss, 4000 * loss / 4 + 1);
  return out.written();
}

TEST(ReportFormTest, TakesTheShorterForm) {
  EXPECT_LT(report_size(0.001), 60U);
  EXPECT_LT(report_size(0.01), 150U);
  constexpr std::size_t kBitmap = 4001 / 8 + 1 + 40;
  for (const double loss : {0.1, 0.3, 0.5}) {
    EXPECT_LE(report_size(loss), kBitmap) << loss;
    EXPECT_GE(report_size(loss), 4001U / 8) << loss;
  }
}

}  // namespace
}  // namespace satrelay::stp
