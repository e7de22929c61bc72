// The form of a report, and the packet with which it begins.
#include "pep/stp/numbers/received_packets.h"

#include <gtest/gtest.h>

#include <vector>

#include "pep/base/random.h"

namespace satrelay::stp::received_packets_test {
namespace {

constexpr Instant at(std::int64_t ms) { return Instant::from_nanoseconds(ms * 1'000'000); }

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

// Writes a report as where reports are sparse: each arrival is reported once.
FeedbackFrame next_report(ReceivedPackets& received, std::vector<std::byte>& room, Instant now) {
  ReportContext context;
  context.repeats = 1;
  ByteWriter out(room);
  EXPECT_TRUE(received.write_report(out, context, now));
  ByteReader in(ConstBytes(room).subspan(1, out.written() - 1));
  const FeedbackFrame report = parse_feedback(in);
  EXPECT_TRUE(in.ok());
  return report;
}

TEST(SingleReports, TellWhatClosedSinceTheLastOfThoseGapsThatWereYoung) {
  ReceivedPackets received;
  std::vector<std::byte> room(2'000);
  // One packet each millisecond, except two.
  for (std::uint64_t n = 0; n < 1'000; ++n) {
    if (n != 200 && n != 995) received.record(n, at(static_cast<std::int64_t>(n)));
  }
  EXPECT_EQ(next_report(received, room, at(1'000)).begin, 0U);
  received.record_repaired(995);
  received.record(1'000, at(1'001));
  EXPECT_EQ(next_report(received, room, at(2'000)).begin, 995U) << "it was young, and has closed";
  for (std::uint64_t n = 1'001; n < 2'000; ++n) {
    if (n != 1'995) received.record(n, at(static_cast<std::int64_t>(n) + 1'000));
  }
  EXPECT_EQ(next_report(received, room, at(3'000)).begin, 1'001U);
  received.record(2'000, at(3'001));
  EXPECT_EQ(next_report(received, room, at(4'000)).begin, 1'995U) << "it was young";
}

// Where packets are lost in bursts, as many reports in a row are lost.
TEST(RepeatedReports, ReachBackWhereTheyAreLostInBurstsButNotToWhatIsSettled) {
  struct Case {
    ReportContext context = {};
    std::uint64_t missing = 10;  // packets, in each report
    bool reaches_back = true;
  };
  for (const Case& c : {Case{.context = {.lost_in_bursts = true}},
                        Case{.context = {.lost_in_bursts = true}, .missing = 1}, Case{},
                        Case{.missing = 1, .reaches_back = false},
                        Case{.context = {.dear = true}, .reaches_back = false}}) {
    const std::uint64_t packets = 100 + c.missing + 1;  // in each report
    ReceivedPackets received;
    std::vector<std::byte> room(8000);
    std::uint64_t n = 0;
    const auto begin_of_report = [&](int report) {
      for (int i = 0; i < 100; ++i) received.record(n++, at(report * 25));
      n += c.missing;
      received.record(n++, at(report * 25));
      ByteWriter out(room);
      EXPECT_TRUE(received.write_report(out, c.context, at(report * 25)));
      ByteReader in(ConstBytes(room).subspan(1, out.written() - 1));
      return parse_feedback(in).begin;
    };
    std::uint64_t begin = 0;
    for (int report = 0; report < 30; ++report) begin = begin_of_report(report);
    if (!c.reaches_back) {
      EXPECT_GT(begin, n - 500);
      continue;
    }
    EXPECT_EQ(begin, 100U) << "the first gap";
    received.settle(1'000);
    EXPECT_EQ(begin_of_report(30), 1'000U);
    for (int report = 31; report < 110; ++report) begin = begin_of_report(report);
    EXPECT_EQ(begin, (109 - 34) * packets + 100U) << "32 gaps and those of three reports";
  }
}

}  // namespace
}  // namespace satrelay::stp::received_packets_test
