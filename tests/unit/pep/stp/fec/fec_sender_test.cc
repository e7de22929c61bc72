// When windows end, when their repairs leave, and what the repairs contain.
#include "pep/stp/fec/fec_sender.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "pep/stp/fec/fec.h"
#include "pep/stp/numbers/received_packets.h"
#include "tests/unit/pep/stp/fec/fec_sending.h"

namespace satrelay::stp::test::fec_sender_test {
namespace {

// --- when windows end ----------------------------------------------------------------------------

TEST_F(FecSending, MemoryIsThereFromTheFirstWindowUntilThereWasNoneForAWhile) {
  EXPECT_FALSE(out.holds_memory());
  EXPECT_TRUE(out.idle_at().is_never());
  send(100, kOpens);
  EXPECT_TRUE(out.holds_memory());
  EXPECT_TRUE(out.idle_at().is_never()) << "a window is open";
  const Instant used = now;
  advance(Waiting::kNothing, Duration::seconds(1));
  advance(Waiting::kNothing, Duration::seconds(1));
  EXPECT_TRUE(out.holds_memory());
  EXPECT_EQ(out.idle_at(), used + FecSender::kIdle);
  advance(Waiting::kNothing, out.idle_at() - now);
  EXPECT_FALSE(out.holds_memory());
  EXPECT_TRUE(out.idle_at().is_never());
}

TEST_F(FecSending, AWindowEndsWithThePacketsThatWereExpected) {
  policy.on_report(9'900, 100);
  for (const std::size_t packets : {64U, 65U, 500U, 3'072U}) {
    send_all(packets - 1, {}, {.packets = packets, .repairs = kPlenty});
    EXPECT_FALSE(ready(Waiting::kNothing)) << packets;
    send();
    EXPECT_TRUE(ready(Waiting::kNothing)) << packets;
    const auto repairs = take_all();
    ASSERT_EQ(repairs.size(), policy.repairs_for(packets)) << packets;
    for (const RepairFrame& repair : repairs) EXPECT_EQ(repair.count, packets);
  }
}

TEST_F(FecSending, AWindowOfWhichNothingIsKnownHas64) {
  send_all(63);
  EXPECT_FALSE(ready(Waiting::kNothing));
  send();
  EXPECT_TRUE(ready(Waiting::kNothing));
  EXPECT_EQ(take_all().front().count, 64);
  send_all(64, {}, {.packets = 3, .repairs = kPlenty});
  EXPECT_EQ(take_all().front().count, 64) << "and never fewer";
}

TEST_F(FecSending, AWindowHas3072AtMost) {
  policy.on_report(9'900, 100);
  send_all(kMaxCodedWindow, {}, {.packets = 10 * kMaxCodedWindow, .repairs = kPlenty});
  EXPECT_TRUE(ready(Waiting::kNothing));
  EXPECT_EQ(take().count, kMaxCodedWindow);
}

TEST_F(FecSending, AWindowEndsWhenNothingFollows) {
  send();
  EXPECT_EQ(out.next_timeout(Waiting::kNothing, kRoundTrip), now + Duration::milliseconds(2));
  advance(Waiting::kNothing, Duration::microseconds(1'999));
  EXPECT_FALSE(ready(Waiting::kNothing, Duration::seconds(1)));
  advance(Waiting::kNothing, Duration::microseconds(1));
  EXPECT_TRUE(ready(Waiting::kNothing));
}

TEST_F(FecSending, WhileShortFlowsWaitNothingMayFollowForLonger) {
  send();
  for (const Waiting waiting : {Waiting::kBulk, Waiting::kShort}) {
    EXPECT_EQ(out.next_timeout(waiting, kRoundTrip), now + Duration::milliseconds(100));
  }
  advance(Waiting::kShort, Duration::microseconds(99'999));
  EXPECT_EQ(out.next_timeout(Waiting::kShort, kRoundTrip), now + Duration::microseconds(1));
  advance(Waiting::kShort, Duration::microseconds(1));
  EXPECT_EQ(out.next_timeout(Waiting::kShort, kRoundTrip), now + kRoundTrip) << "closed";
}

// The flow's packets leave between those of bulk. At a lower rate they are further apart, so the
// lull that ends the window is longer.
TEST_F(FecSending, WhileBulkWaitsNothingMayFollowForEightPackets) {
  send_all(10);
  EXPECT_EQ(out.next_timeout(Waiting::kBulk, kRoundTrip), now + Duration::milliseconds(2));
  EXPECT_EQ(out.next_timeout(Waiting::kShort, kRoundTrip), now + Duration::milliseconds(100));
  take_all();
  for (int i = 0; i < 10; ++i) {
    now += Duration::milliseconds(4);
    send();
  }
  EXPECT_EQ(out.next_timeout(Waiting::kBulk, kRoundTrip), now + Duration::microseconds(8 * 4'100));
}

TEST_F(FecSending, AWindowEndsAfterARoundTrip) {
  policy.on_report(9'900, 100);
  const Instant opened = now + Duration::microseconds(100);
  while (now < opened + kRoundTrip - Duration::milliseconds(50)) {
    send(20, {}, {.packets = 3'000, .repairs = kPlenty});
    now += Duration::milliseconds(45);
    advance(Waiting::kShort);
    EXPECT_FALSE(ready(Waiting::kShort, Duration::seconds(1)));
  }
  send(20);
  EXPECT_EQ(out.next_timeout(Waiting::kShort, kRoundTrip), opened + kRoundTrip);
  advance(Waiting::kShort, opened + kRoundTrip - now);
  EXPECT_TRUE(out.ready(Waiting::kBulk, next + 8, now));
}

TEST_F(FecSending, AWindowIsAsLongAsTheRepairsAreEnoughForThatThereIsTimeFor) {
  policy.on_report(9'500, 500);
  const FecSender::Plan plan{.packets = 3'072, .repairs = 20};
  const std::size_t longest = policy.sources_for(20, 3'072);
  ASSERT_LT(longest, 400U);
  const std::size_t windows = (3'072 + longest - 1) / longest;
  const std::size_t part = (3'072 + windows - 1) / windows;
  send_all(part, {}, plan);
  const auto repairs = take_all();
  ASSERT_FALSE(repairs.empty());
  EXPECT_LE(repairs.size(), 20U);
  EXPECT_EQ(repairs.front().count, part) << "equal parts";
  EXPECT_GE(policy.repairs_for(longest + 1), 20U);
}

// A receiver solves 160 losses at most, and 3,000 packets lose more.
TEST_F(FecSending, AWindowIsNoLongerThanTheMostRepairsAreEnoughFor) {
  policy.on_report(9'000, 1'000);
  const FecSender::Plan plan{.packets = 3'000, .repairs = kPlenty};
  const std::size_t longest = policy.sources_for(kPlenty, 3'000);
  ASSERT_GT(longest, 800U);
  ASSERT_LT(longest, 1'200U);
  // Sent at once, they make three or four windows. One window ends when the next begins.
  std::map<std::uint16_t, std::size_t> repairs_of;
  std::map<std::uint16_t, std::size_t> packets_of;
  send_all(3'000, kEnds, plan);
  for (const RepairFrame& repair : take_all()) {
    ++repairs_of[repair.first];
    packets_of[repair.first] = std::max<std::size_t>(packets_of[repair.first], repair.count);
  }
  ASSERT_EQ(packets_of.size(), (3'000 + longest - 1) / longest);
  std::size_t packets = 0;
  for (const auto& [first, count] : packets_of) {
    EXPECT_EQ(first, packets);
    EXPECT_LE(count, longest);
    EXPECT_GE(repairs_of[first], policy.repairs_for(count));
    EXPECT_LE(repairs_of[first], kPlenty);
    packets += count;
  }
  EXPECT_EQ(packets, 3'000U);
}

// --- how many repairs leave ----------------------------------------------------------------------

TEST_F(FecSending, NeverMoreThanTheWindowNeeds) {
  for (const std::uint64_t lost : {1U, 100U, 1'000U}) {
    policy.clear();
    policy.on_report(10'000 - lost, lost);
    for (int i = 0; i < 30; ++i) {
      const std::size_t expected = random.below(i % 3 == 0 ? 2'000 : 100);
      const std::size_t size = 1 + random.below(std::max<std::size_t>(expected, 64));
      // Some repairs leave early, and some windows end with fewer packets than expected.
      std::size_t sent = 0;
      for (std::size_t k = 0; k < size; ++k) {
        send(20, kEnds, {.packets = expected, .repairs = kPlenty});
        while (ready(Waiting::kBulk)) {
          take();
          ++sent;
        }
      }
      sent += take_all().size();
      // If the most repairs are not enough for it, it becomes two windows.
      const std::size_t window = policy.sources_for(kPlenty, 2'000);
      if (std::max(expected, size) > window) continue;
      EXPECT_GE(sent, policy.repairs_for(size));
      EXPECT_LE(sent, policy.repairs_for(std::max<std::size_t>(expected, 64)));
      EXPECT_TRUE(out.next_timeout(Waiting::kNothing, kRoundTrip).is_never());
    }
  }
  EXPECT_EQ(dropped, 0U);
}

TEST_F(FecSending, OnACleanPathOnlyOpensAreRepaired) {
  policy.on_report(5'000, 0);
  send(300, kOpens);
  EXPECT_EQ(take_all().size(), 1U);
  send(300);
  EXPECT_EQ(take_all().size(), 0U);
  EXPECT_TRUE(out.has_room());
}

TEST_F(FecSending, AnOpenIsRepairedThoughItsWindowWasBegunWithoutRepairs) {
  policy.on_report(5'000, 0);
  send(300);
  send(300, kOpens);
  const auto repairs = take_all();
  ASSERT_EQ(repairs.size(), 1U);
  EXPECT_EQ(repairs[0].first, 1);
  EXPECT_EQ(repairs[0].count, 1);
}

TEST_F(FecSending, AnOpenIsRepairedThoughAllRepairsOfItsWindowHaveLeft) {
  policy.on_report(0, 10'000);  // each packet is lost, so each repair is due at once
  while (!ready(Waiting::kBulk)) send(20, kEnds, {.packets = 64, .repairs = 2});
  take();
  while (!ready(Waiting::kBulk)) send(20, kEnds, {.packets = 64, .repairs = 2});
  const RepairFrame last = take();
  send(300, kOpens, {.packets = 64, .repairs = 2});
  const auto repairs = take_all();
  ASSERT_FALSE(repairs.empty());
  EXPECT_EQ(repairs[0].first, last.count) << "in a window of its own";
}

TEST_F(FecSending, ShortAndLongPacketsAreSummedUpAsPadded) {
  for (const std::size_t size : {1U, 1'400U, 57U, 58U, 59U, 600U, 1U, 1'432U}) send(size);
  const auto repairs = take_all();
  EXPECT_EQ(repairs.size(), policy.repairs_for(8));
}

// --- when they leave -----------------------------------------------------------------------------

// Repairs leave 1.3 times as often as packets are lost. Each covers the packets that have left
// until then.
TEST_F(FecSending, RepairsOfALastFlightLeaveWhileItIsSent) {
  policy.on_report(9'900, 100);
  const FecSender::Plan plan{.packets = 1'000, .repairs = kPlenty};
  const std::size_t planned = policy.repairs_for(1'000);
  std::vector<std::size_t> counts;
  for (std::size_t i = 0; i < 999; ++i) {
    send(20, kEnds, plan);
    for (const Waiting waiting : {Waiting::kShort, Waiting::kNothing, Waiting::kBulk}) {
      EXPECT_EQ(ready(waiting), ready(Waiting::kBulk));
      EXPECT_EQ(out.next_repair(waiting, next, now), ready(waiting) ? now : Instant::never());
    }
    if (!ready(Waiting::kBulk)) continue;
    const RepairFrame frame = take();
    counts.push_back(frame.count);
    EXPECT_EQ(frame.count, i + 1);
    EXPECT_FALSE(ready(Waiting::kBulk)) << "one at a time";
  }
  ASSERT_GE(counts.size(), 12U);
  ASSERT_LE(counts.size(), 13U);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(counts[i]), static_cast<double>(i + 1) / policy.loss() / 1.3,
                1.0);
  }
  send(20, kEnds, plan);
  const auto rest = take_all();
  EXPECT_EQ(counts.size() + rest.size(), planned) << "no more in all";
  for (const RepairFrame& frame : rest) EXPECT_EQ(frame.count, 1'000);
}

TEST_F(FecSending, RepairsOfOtherWindowsWaitForTheirEnd) {
  policy.on_report(5'000, 5'000);
  for (int i = 0; i < 63; ++i) {
    send(20);
    EXPECT_FALSE(ready(Waiting::kNothing));
    EXPECT_FALSE(ready(Waiting::kBulk));
  }
}

TEST_F(FecSending, EarlyRepairsWaitForThoseOfAnEarlierWindow) {
  policy.on_report(9'000, 1'000);
  send_all(64);
  ASSERT_TRUE(out.ready(Waiting::kBulk, next + 8, now));
  send_all(40, kEnds, {.packets = 500, .repairs = kPlenty});
  EXPECT_FALSE(ready(Waiting::kShort)) << "courtesy holds for the first window";
  next += 8;
  ASSERT_TRUE(ready(Waiting::kBulk));
  EXPECT_EQ(take().first, 0);
  while (out.drop_next() > 0 && out.next_purpose().ends == false) {
  }
  EXPECT_TRUE(ready(Waiting::kBulk));
  EXPECT_EQ(take().first, 64);
}

// Where more is lost, one repair for each eight packets would fall behind. In the end no window
// would have room, or the receiver would have forgotten the packets.
TEST_F(FecSending, ALastFlightGoesOnWhenTheRepairsOfItsWindowHaveLeft) {
  policy.on_report(8'000, 2'000);
  send_all(300, kEnds, {.packets = 300, .repairs = kPlenty});
  std::size_t sent = 0;
  for (; ready(Waiting::kBulk); ++sent) take();
  EXPECT_EQ(sent, policy.repairs_for(300));
  send_all(300, kEnds, {.packets = 300, .repairs = kPlenty});
  EXPECT_FALSE(ready(Waiting::kShort)) << "short flows go before";
}

// 160 repairs in a row would delay another class, or a phone call, by as many packets.
TEST_F(FecSending, TheEndOfALastFlightPassesOtherClassesAsOtherRepairsDo) {
  policy.on_report(8'000, 2'000);
  send_all(300, kEnds, {.packets = 300, .repairs = kPlenty});
  take();
  EXPECT_TRUE(ready(Waiting::kBulk));
  EXPECT_FALSE(ready(Waiting::kOther));
  EXPECT_FALSE(out.ready(Waiting::kOther, next + 6, now));
  EXPECT_TRUE(out.ready(Waiting::kOther, next + 7, now));
}

// Most flows go on. Then the repairs of their beginning are never sent.
TEST_F(FecSending, RepairsOfAFlowThatMayGoOnStayBehindItsOwnBytes) {
  policy.on_report(9'900, 100);
  send_all(64);
  take();
  EXPECT_FALSE(out.ready(Waiting::kOwn, next + 1'000, now));
  EXPECT_TRUE(out.ready(Waiting::kOwn, next + 1'024, now));
  EXPECT_TRUE(out.ready(Waiting::kBulk, next + 8, now));
  EXPECT_TRUE(ready(Waiting::kNothing, Duration::milliseconds(10)));
  take_all();
  send_all(64, kEnds);
  take();
  EXPECT_TRUE(out.ready(Waiting::kOwn, next + 8, now)) << "it was to end";
}

TEST_F(FecSending, RepairsOfWhatTheReceiverHasForgottenAreDropped) {
  policy.on_report(9'900, 100);
  const FecSender::Plan plan{.packets = 512, .repairs = kPlenty};
  for (std::size_t i = 0; i < FecSender::kReach / 512; ++i) send_all(512, {}, plan);
  EXPECT_FALSE(out.next_is_out_of_reach());
  send(20, {}, plan);
  EXPECT_TRUE(out.next_is_out_of_reach());
  EXPECT_EQ(out.advance(Waiting::kBulk, next, kRoundTrip, now), policy.repairs_for(512));
  EXPECT_FALSE(out.next_is_out_of_reach());
}

// --- the order in which they leave ---------------------------------------------------------------

TEST_F(FecSending, RepairsWaitForShortFlowsAndPassBulk) {
  policy.on_report(9'900, 100);
  send_all(64);
  EXPECT_TRUE(out.ready(Waiting::kNothing, next, now));
  EXPECT_TRUE(out.ready(Waiting::kBulk, next, now));
  EXPECT_FALSE(out.ready(Waiting::kShort, next + 1'023, now));
  EXPECT_TRUE(out.ready(Waiting::kShort, next + 1'024, now));
  take();
  // One repair in eight packets leaves before bulk, and one in a millisecond on an idle carrier.
  EXPECT_FALSE(out.ready(Waiting::kBulk, next + 6, now));
  EXPECT_TRUE(out.ready(Waiting::kBulk, next + 7, now));
  EXPECT_FALSE(out.ready(Waiting::kNothing, next, now));
  const Instant then = out.next_repair(Waiting::kNothing, next, now);
  EXPECT_GT(then, now);
  EXPECT_LE(then, now + Duration::milliseconds(1));
  EXPECT_TRUE(out.ready(Waiting::kNothing, next, then));
  EXPECT_TRUE(out.next_repair(Waiting::kBulk, next, now).is_never());
}

// A receiver keeps 4,096 packets, so the repairs of older packets are of no use.
TEST_F(FecSending, RepairsThatWaitForShortFlowsComeWhileTheirPacketsAreKept) {
  policy.on_report(9'900, 100);
  for (const std::size_t size : {1'000U, 1'500U, 2'500U, std::uint32_t{kMaxCodedWindow}}) {
    // Ends the windows of the size before.
    advance(Waiting::kNothing, kRoundTrip);
    advance(Waiting::kNothing, kRoundTrip);
    const std::size_t first = sources.size();
    send_all(size, {}, {.packets = size, .repairs = kPlenty});
    std::size_t repairs = 0;
    for (std::size_t i = 0; i < 4'500; ++i) {
      send(20, {}, {.packets = kMaxCodedWindow, .repairs = kPlenty});
      if (!ready(Waiting::kShort)) continue;
      const RepairFrame frame = take();
      if (frame.first != static_cast<std::uint16_t>(first)) break;
      ++repairs;
      EXPECT_LE(sources.size() - first, 4'096U) << "repair " << repairs << " of " << size;
      EXPECT_GE(sources.size() - first - size, 512U) << "they go first";
    }
    EXPECT_EQ(repairs, policy.repairs_for(size)) << size;
  }
}

TEST_F(FecSending, WhatALongWindowEndsWithWaitsForNothing) {
  send_all(1'000, kEnds, {.packets = 1'000, .repairs = kPlenty});
  std::size_t sent = 0;
  while (ready(Waiting::kNothing)) {
    take();
    ++sent;
  }
  EXPECT_EQ(sent, policy.repairs_for(1'000)) << "at one instant";
}

TEST_F(FecSending, RepairsThatAReportWouldOvertakeAreDropped) {
  send_all(64);
  EXPECT_EQ(advance(Waiting::kShort, kRoundTrip - Duration::nanoseconds(1)), 0U);
  EXPECT_EQ(advance(Waiting::kShort, Duration::nanoseconds(1)), policy.repairs_for(64));
  EXPECT_TRUE(out.next_timeout(Waiting::kNothing, kRoundTrip).is_never());
  EXPECT_TRUE(repairable(Instant::from_nanoseconds(0)).empty());
}

TEST_F(FecSending, TheRestOfAWindowMayBeGivenUp) {
  send_all(64);
  take();
  EXPECT_EQ(out.drop_next(), policy.repairs_for(64) - 1);
  EXPECT_FALSE(ready(Waiting::kNothing, Duration::seconds(1)));
  EXPECT_EQ(out.drop_next(), 0U);
}

// The path may no longer carry packets as large as those of the window.
TEST_F(FecSending, ARepairThatDoesNotFitIsGivenUpAlsoWhileItsWindowIsOpen) {
  policy.on_report(5'000, 5'000);
  const FecSender::Plan plan{.packets = 64, .repairs = kPlenty};
  while (!ready(Waiting::kBulk)) send(1'200, kEnds, plan);
  Bytes small(600);
  ByteWriter writer(small);
  EXPECT_FALSE(out.write(writer, next, now));
  EXPECT_EQ(writer.written(), 0U);
  EXPECT_GT(out.drop_next(), 0U);
  EXPECT_FALSE(ready(Waiting::kBulk));
  EXPECT_TRUE(out.next_repair(Waiting::kNothing, next, now).is_never());
  send(500, kEnds, plan);
  EXPECT_TRUE(take_all().empty());
  EXPECT_TRUE(out.has_room());
  send(500);
  EXPECT_FALSE(take_all().empty()) << "the next window has its own";
}

TEST_F(FecSending, ManySmallWindowsFindRoomOrSaySo) {
  int refused = 0;
  for (int i = 0; i < 50; ++i) {
    if (out.has_room()) {
      send();
    } else {
      ++refused;
    }
    advance(Waiting::kNothing, Duration::milliseconds(2));
  }
  EXPECT_EQ(refused, 50 - 16);
  EXPECT_EQ(take_all().size(), 16U * policy.repairs_for(1));
  EXPECT_TRUE(out.has_room());
}

TEST_F(FecSending, ItsHistoryHasThePacketsOfEachRepair) {
  policy.on_report(9'500, 500);
  const Instant start = now;
  for (std::size_t i = 0; i < 64; ++i) {
    send(20, kEnds, {.packets = 64, .repairs = kPlenty});
    while (ready(Waiting::kBulk)) {
      take();
      const auto ranges = repairable(start);
      ASSERT_EQ(ranges.size(), 1U);
      EXPECT_EQ(ranges[0], (Range{1'000, sources.back().number + 1}));
    }
  }
}

TEST_F(FecSending, ANewSessionBeginsWithoutWindows) {
  send_all(64);
  send(20, kEnds);
  out.clear();
  EXPECT_FALSE(ready(Waiting::kNothing, Duration::seconds(1)));
  EXPECT_TRUE(out.next_timeout(Waiting::kNothing, kRoundTrip).is_never());
  send_all(64);
  EXPECT_EQ(take_all().front().first, 65);
}

TEST(FecPurpose, IsThatOfTheLastAndOfAnyOpen) {
  FecSender::Purpose purpose{.stream = 4, .generation = 1, .has_stream = true, .opens = true};
  purpose.merge({.stream = 6, .generation = 2, .has_stream = true, .ends = true});
  EXPECT_EQ(purpose.stream, 6U);
  EXPECT_EQ(purpose.generation, 2U);
  EXPECT_TRUE(purpose.opens && purpose.ends && purpose.has_stream);
}

// Sender and receiver together, for more packets and repairs than their 16-bit numbers can tell
// apart.
TEST(FecBothHalves, GoOnWhenIndexesAndRowsBeginAnew) {
  Fec out(kDatagram);
  Fec in(kDatagram);
  out.policy.on_report(9'700, 300);
  Random random(5);
  ReceivedPackets received;
  Instant now = Instant::from_nanoseconds(1'000'000'000);
  std::map<std::uint64_t, Bytes> lost;
  std::uint64_t next = 0, covered = 0, losses = 0, rows = 0;
  std::uint16_t row = 0;
  const auto take_repaired = [&] {
    for (const FecReceiver::Packet& packet : in.receiver.repaired()) {
      const auto expected = lost.find(packet.number);
      ASSERT_NE(expected, lost.end());
      ASSERT_TRUE(std::ranges::equal(expected->second, packet.frames));
      lost.erase(expected);
      received.record_repaired(packet.number);
    }
  };
  const auto send_repairs = [&](Waiting waiting) {
    while (out.sender.ready(waiting, next, now)) {
      Bytes room(kDatagram - 12);
      ByteWriter writer(room);
      const std::uint64_t number = next++;
      ASSERT_TRUE(out.sender.write(writer, number, now));
      std::optional<RepairFrame> frame;
      ASSERT_TRUE(walk_frames(ConstBytes(room).first(writer.written()), RepairCatcher{{}, frame}));
      rows += frame->row != row ? 1 : 0;
      row = frame->row;
      if (random.chance(0.03)) continue;
      received.record(number, now);
      in.receiver.handle_repair(*frame, received, now);
      take_repaired();
    }
  };
  while (rows < 70'000 || covered < 70'000) {
    const std::size_t packets = 1 + random.below(400);
    for (std::size_t i = 0; i < packets; ++i) {
      now += Duration::microseconds(100);
      Bytes packet(40);
      for (std::byte& b : packet) b = static_cast<std::byte>(random.next());
      ByteWriter writer(packet);
      write_coded(writer, out.sender.next_frame());
      const auto coded = coded_packet(packet);
      ASSERT_TRUE(coded);
      out.sender.add(next, coded->frames, kEnds, {.packets = packets, .repairs = kPlenty}, now);
      ++covered;
      if (random.chance(0.03)) {
        lost.emplace(next++, Bytes(coded->frames.begin(), coded->frames.end()));
        ++losses;
      } else {
        received.record(next, now);
        in.receiver.handle_packet(coded->coded.index, next++, coded->frames, received, now);
        take_repaired();
      }
      send_repairs(Waiting::kBulk);
    }
    for (int i = 0; i < 100; ++i) {
      now += Duration::milliseconds(1);
      out.sender.advance(Waiting::kNothing, next, kRoundTrip, now);
      send_repairs(Waiting::kNothing);
    }
  }
  EXPECT_EQ(in.receiver.counters().malformed, 0U);
  EXPECT_GT(losses, 1'000U);
  // No more windows fail than the policy promises. A failed window costs a few packets.
  EXPECT_LE(lost.size(), losses / 100);
}

}  // namespace
}  // namespace satrelay::stp::test::fec_sender_test
