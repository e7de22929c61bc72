#include "pep/control/pacer.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

namespace satrelay::control::pacer_test {
namespace {

Instant at_ms(std::int64_t ms) { return Instant() + Duration::milliseconds(ms); }

// 1 Mbit/s without overhead for a packet: 125 bytes take a millisecond. The burst is 4 ms.
Pacer slow_pacer() {
  return {BitRate::bits_per_second(1'000'000), LinkOverhead{LinkOverhead::kIp},
          Duration::milliseconds(4)};
}

TEST(Pacer, LetsOneBurstGoAndThenTheRate) {
  Pacer pacer = slow_pacer();
  int sent = 0;
  while (pacer.can_send(at_ms(0))) {
    pacer.on_sent(125, at_ms(0));
    ++sent;
  }
  EXPECT_EQ(sent, 5);  // four milliseconds, and the packet that exceeds them
  EXPECT_EQ(pacer.next_send(), at_ms(1));
  EXPECT_TRUE(pacer.can_send(at_ms(1)));
}

TEST(Pacer, LendsNoCreditForIdleTime) {
  Pacer pacer = slow_pacer();
  pacer.on_sent(125, at_ms(0));
  for (int i = 0; i < 5; ++i) pacer.on_sent(125, at_ms(1000));
  EXPECT_FALSE(pacer.can_send(at_ms(1000)));
}

TEST(Pacer, CountsTheOverheadOfThePacket) {
  Pacer pacer(BitRate::bits_per_second(1'000'000), LinkOverhead{25}, Duration::zero());
  pacer.on_sent(100, at_ms(0));
  EXPECT_EQ(pacer.next_send(), at_ms(1));
}

// 4 ms are booked. At a tenth of the rate these bytes take 40 ms.
TEST(Pacer, APacketTakesItsTimeAtTheRateOfNow) {
  Pacer pacer = slow_pacer();
  pacer.on_sent(125, at_ms(0));
  pacer.on_sent(250, at_ms(0));
  pacer.on_sent(250, at_ms(0));
  EXPECT_EQ(pacer.free_at(), at_ms(5));
  pacer.set_rate(BitRate::bits_per_second(2'000'000), at_ms(5));
  pacer.on_sent(250, at_ms(5));
  EXPECT_EQ(pacer.free_at(), at_ms(6));
  pacer.take_share(BitRate::bits_per_second(500'000), at_ms(6));
  pacer.on_sent(250, at_ms(6));
  EXPECT_EQ(pacer.free_at(), at_ms(10));
}

TEST(Pacer, ALowerRateCountsForWhatIsBooked) {
  Pacer pacer = slow_pacer();
  for (int i = 0; i < 4; ++i) pacer.on_sent(125, at_ms(0));
  pacer.set_rate(BitRate::bits_per_second(100'000), at_ms(0));
  EXPECT_EQ(pacer.next_send(), at_ms(40 - 4));
  pacer.set_rate(BitRate::bits_per_second(1'000'000), at_ms(10));
  EXPECT_EQ(pacer.next_send(), at_ms(10 + 3 - 4));
}

// Four pacers share a rate. If the share of one grows to the whole, its burst does not grow in
// bytes. If the share of one shrinks, it may still send.
TEST(Pacer, AShareThatGrowsLendsNothingAndOneThatShrinksStaysOpen) {
  const BitRate quarter = BitRate::bits_per_second(250'000);
  Pacer grows(quarter, LinkOverhead{0}, Duration::milliseconds(4));
  grows.on_sent(62, at_ms(0));  // 2 of the 4 ms
  grows.take_share(BitRate::bits_per_second(1'000'000), at_ms(0));
  EXPECT_GE(grows.next_send(), at_ms(0) - Duration::microseconds(510));
  EXPECT_LE(grows.next_send(), at_ms(0) - Duration::microseconds(490));
  EXPECT_EQ(grows.rate(), BitRate::bits_per_second(1'000'000));

  Pacer shrinks = slow_pacer();
  for (int i = 0; i < 4; ++i) shrinks.on_sent(125, at_ms(0));
  shrinks.take_share(quarter, at_ms(0));
  EXPECT_EQ(shrinks.next_send(), at_ms(0));

  // Bookings beyond the burst are a debt in bytes: 16 ms at a fourth of the rate are 4 ms at
  // the whole.
  Pacer owes(quarter, LinkOverhead{0}, Duration::milliseconds(4));
  owes.on_sent(625, at_ms(0));
  owes.take_share(BitRate::bits_per_second(1'000'000), at_ms(0));
  EXPECT_EQ(owes.next_send(), at_ms(4));
  owes.take_share(quarter, at_ms(0));
  EXPECT_EQ(owes.next_send(), at_ms(16));
}

// Two pacers share 1 Mbit/s, and each has most of it by turns. Together they send what the link
// carries.
TEST(Pacer, SharesThatChangeLendNothing) {
  constexpr std::uint64_t kWhole = 1'000'000;
  for (const std::int64_t turn_ms : {1, 3, 20, 50}) {
    std::array<Pacer, 2> pacers{slow_pacer(), slow_pacer()};
    std::uint64_t sent = 0;
    for (std::int64_t ms = 0; ms < 10'000; ++ms) {
      const bool first = ms / turn_ms % 2 == 0;
      for (const bool i : {false, true}) {
        Pacer& pacer = pacers[i ? 1 : 0];
        pacer.take_share(BitRate::bits_per_second(i == first ? kWhole * 9 / 10 : kWhole / 10),
                         at_ms(ms));
        for (; pacer.can_send(at_ms(ms)); sent += 1'500) pacer.on_sent(1'500, at_ms(ms));
      }
    }
    EXPECT_LE(sent, 1'250'000 + 2 * (500 + 1'500)) << turn_ms;
    EXPECT_GE(sent, 1'230'000) << turn_ms;
  }
}

// A carrier forgets no debt: the packets that have left stand in the modem's queue.
TEST(Pacer, BooksEverythingInFull) {
  Pacer pacer = slow_pacer();
  for (int i = 0; i < 1'000; ++i) pacer.on_sent(125, at_ms(0));
  EXPECT_EQ(pacer.next_send(), at_ms(1'000 - 4));
}

// A burst of 4 ms and two packets of 12 ms each: no packet may be booked beyond 28 ms.
TEST(Pacer, UrgentPacketsLeaveBesideALongOneAndNoFurtherThanTwo) {
  Pacer pacer = slow_pacer();
  while (pacer.can_send(at_ms(0))) pacer.on_sent(1'500, at_ms(0));
  EXPECT_EQ(pacer.free_at(), at_ms(12));
  EXPECT_TRUE(pacer.can_send_urgent(Pacer::kLongPacket, at_ms(0)));
  int urgent = 0;
  for (; pacer.can_send_urgent(125, at_ms(0)) && urgent < 100; ++urgent)
    pacer.on_sent(125, at_ms(0));
  EXPECT_EQ(pacer.free_at(), at_ms(28));
  EXPECT_EQ(urgent, 16);
  EXPECT_EQ(pacer.next_urgent(125), at_ms(1));
  EXPECT_EQ(pacer.next_urgent(125, ByteCount(125)), at_ms(0)) << "and a train's lead";
  EXPECT_TRUE(pacer.can_send_urgent(125, at_ms(1)));
}

// The limit is 28 ms at 1 Mbit/s and 20 ms at 10 Mbit/s.
TEST(Pacer, ASendersOwnRateForgetsWhatItsControlOwesBeyondTwoLongPackets) {
  Pacer pacer = slow_pacer();
  for (int i = 0; i < 100; ++i) pacer.on_sent_regardless(125, at_ms(0));
  EXPECT_EQ(pacer.next_send(), at_ms(28 - 4));
  Pacer faster = slow_pacer();
  faster.set_rate(BitRate::bits_per_second(10'000'000), at_ms(0));
  for (int i = 0; i < 1000; ++i) faster.on_sent_regardless(125, at_ms(0));
  EXPECT_EQ(faster.next_send(), at_ms(20 - 4));
}

// 125 bytes take a millisecond. A lead is bytes, so its time depends on the present rate. Only
// urgent packets use it.
TEST(Pacer, WhatMustLeaveAtOnceRunsAhead) {
  Pacer pacer = slow_pacer();
  pacer.on_sent(125 * 20, at_ms(0));
  constexpr ByteCount kLead(1'250);
  EXPECT_EQ(pacer.next_send(), at_ms(20 - 4));
  EXPECT_EQ(pacer.next_send(kLead), at_ms(20 - 4 - 10));
  EXPECT_FALSE(pacer.can_send(at_ms(6)));
  EXPECT_TRUE(pacer.can_send(at_ms(6), kLead));
  pacer.set_rate(BitRate::bits_per_second(2'000'000), at_ms(0));
  EXPECT_EQ(pacer.next_send(kLead), at_ms(10 - 4 - 5));
}

// One packet may book more than the limit. An urgent packet beside it does not reduce that debt.
TEST(Pacer, WhatItForgetsIsNeverWhatWasBookedBefore) {
  Pacer pacer = slow_pacer();
  pacer.on_sent(125 * 48, at_ms(0));
  pacer.on_sent_regardless(125, at_ms(0));
  EXPECT_EQ(pacer.next_send(), at_ms(48 - 4));
}

}  // namespace
}  // namespace satrelay::control::pacer_test
