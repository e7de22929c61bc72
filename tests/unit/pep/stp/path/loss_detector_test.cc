// Reports on the packets that have arrived, and the losses that the sender finds by them.
#include "pep/stp/path/loss_detector.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <vector>

#include "pep/base/random.h"
#include "pep/stp/numbers/received_packets.h"
#include "pep/stp/path/reorder_tolerance.h"

namespace satrelay::stp::loss_detector_test {
namespace {

constexpr Instant at(std::int64_t ms) { return Instant::from_nanoseconds(ms * 1'000'000); }

// Judges as if all packets had been sent at the same time, on a path that keeps their order.
LossDetector::Rule rule(const FeedbackFrame& report) {
  const Duration delay = Duration::microseconds(static_cast<std::int64_t>(report.delay_us));
  const bool old = delay >= ReorderTolerance::kMinimum;
  const std::uint64_t top = report.highest + 1;
  return {old       ? top
          : top > 3 ? top - 3
                    : 0,
          old ? Duration::zero() : ReorderTolerance::kMinimum - delay};
}

struct Log {
  std::set<std::uint64_t> acked, lost_packets, late;
  void acknowledged(std::uint64_t n) { EXPECT_TRUE(acked.insert(n).second) << n; }
  void lost(std::uint64_t n) { EXPECT_TRUE(lost_packets.insert(n).second) << n; }
  void spurious(std::uint64_t n) { EXPECT_TRUE(late.insert(n).second) << n; }
  void looks() { ++looked; }
  bool goes_on() { return acked.size() + lost_packets.size() + late.size() + looked < enough; }
  std::size_t settled() const { return acked.size() + lost_packets.size() + late.size(); }

  std::size_t looked = 0;
  bool is_covered(std::uint64_t n) const { return !uncovered.contains(n); }

  std::set<std::uint64_t> uncovered;
  std::size_t enough = ~std::size_t{0};
};

// Handles the report in steps that settle or look at `part` packets at most.
void handle_in_parts(LossDetector& losses, const FeedbackFrame& report,
                     const LossDetector::Rule& rule, Instant now, std::size_t part, Log& log) {
  std::uint64_t from = LossDetector::kFromTheStart;
  while (from != LossDetector::kWhole) {
    const std::size_t before = log.settled() + log.looked;
    log.enough = before + part;
    from = losses.handle_report(report, from, rule, now, log);
    ASSERT_LE(log.settled() + log.looked, before + part);
    ASSERT_TRUE(from == LossDetector::kWhole || log.settled() + log.looked > before);
  }
  log.enough = ~std::size_t{0};
}

class ReportTest : public ::testing::Test {
 protected:
  void arrive(std::uint64_t first, std::uint64_t last, Instant now) {
    for (std::uint64_t n = first; n <= last; ++n) received.record(n, now);
  }
  // Builds one whole report. Each of its parts is delivered unless `lost`.
  void report(Instant now, bool lost = false, std::size_t room = 1400) {
    for (bool complete = false; !complete;) {
      std::vector<std::byte> buffer(room);
      ByteWriter out(buffer);
      complete = received.write_report(out, {}, now);
      ASSERT_TRUE(out.ok());
      ByteReader in(ConstBytes(buffer).first(out.written()).subspan(1));
      const FeedbackFrame frame = parse_feedback(in);
      ASSERT_TRUE(in.ok());
      ASSERT_EQ(in.remaining(), 0U);
      if (lost) continue;
      LossDetector::Rule judged = rule(frame);
      judged.repairable = repairable;
      handle_in_parts(losses, frame, judged, now, part, log);
    }
  }
  ReceivedPackets received;
  std::size_t part = 1000;  // packets that one step settles, at most
  std::vector<Range> repairable;
  LossDetector losses;
  Log log;
};

TEST_F(ReportTest, ReordersWithinTheToleranceAreNoLosses) {
  received.record(0, at(0));
  received.record(2, at(1));
  report(at(1));
  EXPECT_TRUE(log.lost_packets.empty());
  EXPECT_EQ(losses.deadline(), at(6));
  received.record(1, at(3));
  report(at(4));
  losses.handle_timeout(at(6), log);
  EXPECT_TRUE(log.lost_packets.empty());
  EXPECT_EQ(log.acked, (std::set<std::uint64_t>{0, 1, 2}));
}

TEST_F(ReportTest, ThreeLaterPacketsMakeALossAtOnce) {
  received.record(0, at(0));
  arrive(2, 4, at(0));
  report(at(0));
  EXPECT_EQ(log.lost_packets, (std::set<std::uint64_t>{1}));
  EXPECT_EQ(losses.oldest_unresolved(), 5U);
}

TEST_F(ReportTest, FiveMillisecondsMakeALossWithoutFurtherPackets) {
  received.record(0, at(0));
  received.record(2, at(0));
  report(at(0));
  losses.handle_timeout(at(4), log);
  EXPECT_TRUE(log.lost_packets.empty());
  losses.handle_timeout(at(5), log);
  EXPECT_EQ(log.lost_packets, (std::set<std::uint64_t>{1}));
}

TEST_F(ReportTest, ALatePacketIsSpuriouslyLostOnceOnly) {
  received.record(0, at(0));
  arrive(2, 9, at(0));
  report(at(0));
  received.record(1, at(30));
  report(at(30));
  report(at(60));
  EXPECT_EQ(log.late, (std::set<std::uint64_t>{1}));
}

TEST_F(ReportTest, AnyTwoOfThreeReportsMayBeLost) {
  for (int kept = 0; kept < 3; ++kept) {
    received = {};
    losses = {};
    log = {};
    arrive(0, 9, at(0));
    arrive(12, 20, at(0));
    for (int i = 0; i < 3; ++i) {
      report(at(30 * (i + 1)), i != kept);
      received.record(static_cast<std::uint64_t>(21 + i), at(30 * (i + 1)));
    }
    EXPECT_EQ(log.lost_packets, (std::set<std::uint64_t>{10, 11})) << kept;
    EXPECT_TRUE(log.acked.contains(0));
    EXPECT_TRUE(log.acked.contains(20));
  }
}

TEST_F(ReportTest, ARewindBringsBackWhatAllReportsMissed) {
  arrive(0, 9, at(0));
  arrive(12, 20, at(0));
  for (int i = 1; i <= 6; ++i) report(at(30 * i), true);
  report(at(300));
  EXPECT_EQ(losses.oldest_unresolved(), 0U);  // unknown: neither arrived nor lost
  EXPECT_TRUE(log.lost_packets.empty());
  received.rewind(0);
  report(at(330));
  EXPECT_EQ(log.lost_packets, (std::set<std::uint64_t>{10, 11}));
  EXPECT_EQ(losses.oldest_unresolved(), 21U);
}

TEST_F(ReportTest, ALongReportIsSplitOverPackets) {
  std::set<std::uint64_t> missing;
  for (std::uint64_t n = 0; n < 5000; ++n) {
    if (n % 7 == 3 || n % 11 == 5) {
      missing.insert(n);
    } else {
      received.record(n, at(0));
    }
  }
  arrive(5000, 5003, at(0));
  report(at(0), false, 200);
  EXPECT_EQ(log.lost_packets, missing);
  EXPECT_EQ(log.acked.size(), 5004 - missing.size());
}

// Else the sender would take a lost part for reports that will never be repeated.
TEST_F(ReportTest, EachPartTellsWhereItsReportBegan) {
  for (std::uint64_t n = 0; n < 20'000; n += 3) received.record(n, at(0));
  std::uint64_t begin = 0;
  int parts = 0;
  for (bool complete = false; !complete; ++parts) {
    std::array<std::byte, 300> buffer;
    ByteWriter out(buffer);
    complete = received.write_report(out, {}, at(0));
    ByteReader in(ConstBytes(buffer).first(out.written()).subspan(1));
    const FeedbackFrame frame = parse_feedback(in);
    ASSERT_TRUE(in.ok());
    EXPECT_EQ(frame.begin, begin);
    EXPECT_EQ(frame.first, 0U);
    begin = frame.end;
  }
  EXPECT_GT(parts, 5);
}

// Repairs that are under way concern no packets behind their windows or between two windows.
TEST_F(ReportTest, OnlyWhatMayBeRepairedYetWaitsForTheNextReport) {
  repairable = {{0, 4}, {10, 14}, {18, 22}};
  for (const std::uint64_t n : {5, 7, 8, 30, 31, 32}) received.record(n, at(0));
  report(at(0));
  EXPECT_EQ(log.lost_packets,
            (std::set<std::uint64_t>{4, 6, 9, 14, 15, 16, 17, 22, 23, 24, 25, 26, 27, 28, 29}));
  repairable.clear();
  report(at(10));
  EXPECT_EQ(log.lost_packets.size(), 15U + 12U);
}

// Nor do they concern packets within a window that no code covers: repairs and retransmissions.
TEST_F(ReportTest, WhatNoCodeCoversDoesNotWaitAmongWhatMayBeRepaired) {
  for (const std::size_t at_once : {1'000U, 4U}) {
    received = {};
    losses = {};
    log = {};
    part = at_once;
    repairable = {{2, 20}};
    log.uncovered = {3, 5, 11, 12, 19, 21};
    for (const std::uint64_t n : {4, 11, 30, 31, 32}) received.record(n, at(0));
    report(at(0));
    EXPECT_EQ(log.lost_packets, (std::set<std::uint64_t>{0, 1, 3, 5, 12, 19, 20, 21, 22, 23, 24, 25,
                                                         26, 27, 28, 29}));
    received.record_repaired(7);
    repairable.clear();
    report(at(10));
    EXPECT_EQ(log.lost_packets.size(), 16U + 11U);
    EXPECT_TRUE(log.acked.contains(7));
  }
}

TEST_F(ReportTest, ForgettingBelowTheFloorMeansLost) {
  // Every second packet is missing. These are more ranges than the receiver keeps.
  const std::uint64_t count = 2 * (ReceivedPackets::kMaxMissingRanges + 1000);
  for (std::uint64_t n = 0; n <= count; n += 2) received.record(n, at(0));
  EXPECT_LE(received.missing_ranges(), ReceivedPackets::kMaxMissingRanges);
  EXPECT_GT(received.floor(), 0U);
  report(at(10));
  EXPECT_EQ(losses.oldest_unresolved(), count + 1);
  EXPECT_EQ(log.acked.size() + log.lost_packets.size(), count + 1);
}

TEST_F(ReportTest, APeerThatFillsGapsInAnyOrderMakesNoMoreThanAreKept) {
  received.record(1U << 22, at(0));
  std::uint64_t kept = 0;
  std::uint64_t refused = 0;
  for (std::uint64_t i = 0; i < 40'000; ++i) {
    const std::uint64_t number = 1 + 2 * (i * 40'503 % (1U << 20));
    ASSERT_FALSE(received.is_duplicate(number));
    if (received.has_place(number)) {
      received.record(number, at(0));
      ++kept;
    } else {
      ++refused;
      EXPECT_FALSE(received.is_duplicate(number)) << "it may come again";
    }
  }
  EXPECT_GT(refused, 10'000U);
  EXPECT_EQ(received.missing_ranges(), kept + 1);
  EXPECT_TRUE(received.has_place((1U << 22) + 5)) << "what is new always has";
}

TEST_F(ReportTest, SettledPacketsAreForgottenAndTheirCopiesRecognised) {
  arrive(0, 9, at(0));
  arrive(12, 99, at(0));
  for (int i = 1; i <= 4; ++i) report(at(30 * i));
  received.settle(100);
  report(at(200));
  EXPECT_EQ(received.floor(), 100U);
  EXPECT_TRUE(received.is_duplicate(10));  // too old to matter
  EXPECT_TRUE(received.is_duplicate(50));
  EXPECT_FALSE(received.is_duplicate(100));
}

// Random arrivals, reports and losses of reports, against a model that knows the truth.
TEST(RecoveryPropertyTest, EveryPacketIsSettledAsItWas) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    ReceivedPackets received;
    LossDetector losses;
    Log log;
    std::set<std::uint64_t> truth;
    std::int64_t ms = 0;
    const double loss = random.unit() * 0.5;
    const std::size_t part = random.chance(0.5) ? 2 + random.below(60) : 10'000;
    const auto report = [&](bool lost) {
      for (bool complete = false; !complete;) {
        std::array<std::byte, 300> buffer;
        ByteWriter out(buffer);
        complete = received.write_report(out, {}, at(ms));
        ByteReader in(ConstBytes(buffer).first(out.written()).subspan(1));
        const FeedbackFrame frame = parse_feedback(in);
        ASSERT_TRUE(in.ok()) << seed;
        if (!lost) handle_in_parts(losses, frame, rule(frame), at(ms), part, log);
      }
    };
    for (std::uint64_t n = 0; n < 2000; ++n) {
      if (!random.chance(loss)) {
        received.record(n, at(ms));
        truth.insert(n);
      }
      if (random.chance(0.05) && received.next() > 0) {
        ms += 1 + static_cast<std::int64_t>(random.below(40));
        report(random.chance(0.4));
        if (random.chance(0.2)) received.settle(losses.oldest_unresolved());
        if (random.chance(0.2)) received.rewind(losses.oldest_unresolved());
      }
    }
    for (std::uint64_t n = 2000; n < 2004; ++n) {
      received.record(n, at(ms));
      truth.insert(n);
    }
    received.rewind(losses.oldest_unresolved());
    ms += 10;
    report(false);
    EXPECT_EQ(log.acked, truth) << seed;
    EXPECT_EQ(log.lost_packets.size(), 2004 - truth.size()) << seed;
    EXPECT_TRUE(log.late.empty()) << seed;
    EXPECT_EQ(losses.oldest_unresolved(), 2004U) << seed;
  }
}

}  // namespace
}  // namespace satrelay::stp::loss_detector_test
