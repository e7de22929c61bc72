#include "pep/stp/path/rate_gate.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace satrelay::stp::rate_gate_test {
namespace {

using control::Priority;
using control::Purpose;

Instant at_ms(std::int64_t ms) { return Instant() + Duration::milliseconds(ms); }
constexpr BitRate kMegabit = BitRate::bits_per_second(1'000'000);

// Records the samples that it is given, and returns the values that the test has set.
class Recorder final : public control::RateController {
 public:
  void on_start(const control::StartSample& sample) override { starts.push_back(sample); }
  void on_feedback(const control::FeedbackSample& sample) override { samples.push_back(sample); }
  void on_capacity(BitRate capacity) override { answer = capacity; }
  Priority on_sent(Purpose purpose, ByteCount, Instant) override {
    return purpose == Purpose::kNewData ? Priority::kLow : Priority::kHigh;
  }
  BitRate rate() const override { return answer; }
  ByteCount window() const override { return room; }
  BitRate sustained_rate() const override { return sustained.value_or(answer); }
  BitRate capacity() const override { return found; }
  ByteCount lead() const override { return ahead; }
  Instant holds_until() const override { return held; }

  BitRate answer = kMegabit;
  std::optional<BitRate> sustained;  // nullopt: the same
  ByteCount room = kNoWindow;
  BitRate found;
  ByteCount ahead;
  Instant held;
  std::vector<control::StartSample> starts;
  std::vector<control::FeedbackSample> samples;
};

// Each datagram has 28 bytes of IP and UDP and 38 of Ethernet around it. So a burst at 1 Mbit/s has
// room for a datagram of 59 bytes.
struct RateGateTest : testing::Test {
  control::Pacer carrier{BitRate::bits_per_second(10'000'000), control::LinkOverhead{38},
                         Duration::milliseconds(1)};
  Recorder controller;
  RateGate gate{carrier, controller, 28};
  SentLedger ledger{256};

  SentPacket& send(std::size_t datagram, Purpose purpose, Instant now) {
    SentPacket& packet = ledger.append(now, datagram, true, {}, 0);
    packet.set_booked_before(gate.booked(now));
    packet.low_priority = control::is_low(gate.on_sent(purpose, datagram, now));
    gate.debit(datagram, now);
    return packet;
  }
  void report(std::uint64_t highest, std::uint64_t bytes, std::uint32_t arrived_us, Instant now,
              Duration lateness = {}) {
    FeedbackFrame frame;
    frame.highest = highest;
    frame.bytes_received = bytes;
    frame.arrived_us = arrived_us;
    gate.on_report(frame, ledger.find(highest),
                   {Duration::milliseconds(500), Duration::milliseconds(25), lateness}, now);
  }
};

// A train may leave ahead of the carrier's rate. The carrier books it, and later packets wait for
// that.
TEST_F(RateGateTest, ATrainRunsAheadOfTheCarrier) {
  controller.answer = BitRate::bits_per_second(1'000'000'000);
  controller.ahead = ByteCount(10'000);
  for (int i = 0; i < 10; ++i) {
    gate.update(Duration::milliseconds(500), 934, at_ms(0));
    EXPECT_TRUE(gate.open(at_ms(0))) << i;
    send(934, Purpose::kNewData, at_ms(0));
  }
  controller.ahead = ByteCount(0);
  gate.update(Duration::milliseconds(500), 934, at_ms(0));
  EXPECT_FALSE(carrier.can_send(at_ms(6)));
  EXPECT_TRUE(carrier.can_send(at_ms(7)));
}

// Other sessions get no further ahead by that, and two sessions with a lead get no further than
// one.
TEST_F(RateGateTest, TheLeadIsNobodyElses) {
  Recorder other_controller;
  RateGate other(carrier, other_controller, 28);
  controller.answer = other_controller.answer = BitRate::bits_per_second(1'000'000'000);
  controller.ahead = ByteCount(10'000);
  gate.update(Duration::milliseconds(500), 934, at_ms(0));
  other.update(Duration::milliseconds(500), 934, at_ms(0));
  for (int i = 0; i < 3; ++i) send(934, Purpose::kNewData, at_ms(0));
  EXPECT_TRUE(gate.open(at_ms(0)));
  EXPECT_FALSE(other.open(at_ms(0)));
  other_controller.ahead = ByteCount(10'000);
  int packets = 3;
  for (; gate.open(at_ms(0)) || other.open(at_ms(0)); ++packets) {
    send(934, Purpose::kNewData, at_ms(0));
  }
  EXPECT_EQ(packets, 12) << "8 ms, and 1 ms and a packet as ever";
}

TEST_F(RateGateTest, ARestHoldsDataBack) {
  controller.held = at_ms(30);
  gate.update(Duration::milliseconds(500), 934, at_ms(0));
  EXPECT_FALSE(gate.open(at_ms(29)));
  EXPECT_EQ(gate.opens_at(), at_ms(30));
  EXPECT_TRUE(gate.open(at_ms(30)));
  EXPECT_TRUE(gate.carrier_open(at_ms(0))) << "reports go on";
}

// Packets that left at the same instant are told apart.
TEST_F(RateGateTest, ASampleSaysWhichPacketItIsAbout) {
  gate.update(Duration::milliseconds(500), 934, at_ms(0));
  for (int i = 0; i < 3; ++i) gate.on_delivered(send(934, Purpose::kNewData, at_ms(0)));
  report(0, 934, 1'000, at_ms(500));
  report(2, 3 * 934, 4'000, at_ms(525));
  EXPECT_EQ(controller.samples.back().number, 2U);
  EXPECT_EQ(controller.samples[1].arrived - controller.samples[0].arrived,
            Duration::milliseconds(3));
  report(1, 3 * 934, 2'000, at_ms(530));
  EXPECT_EQ(controller.samples.back().number, 2U) << "an older report";
}

// Control packets leave even if the session's own rate has no room. Data waits for them no longer
// than two long packets take, or 20 ms if that is more.
TEST_F(RateGateTest, ControlThatFillsTheRateDoesNotShutDataOut) {
  gate.update(Duration::milliseconds(500), 934, at_ms(0));
  for (int i = 0; i < 1000; ++i) gate.debit(934, at_ms(i));  // eight times the rate
  EXPECT_FALSE(gate.open(at_ms(1000)));
  EXPECT_TRUE(gate.open(at_ms(1025)));  // the time of two long packets
}

// 1,000 octets take 0.8 ms. Control packets leave until a burst of 1 ms and two long packets are
// booked.
TEST_F(RateGateTest, ControlBooksTheCarrierInFullAndStopsBeforeItIsOverdrawn) {
  gate.update(Duration::milliseconds(500), 934, at_ms(0));
  EXPECT_TRUE(gate.control_open(at_ms(0)));
  int packets = 0;
  for (; gate.control_open(at_ms(0), 934) && packets < 100; ++packets) gate.debit(934, at_ms(0));
  EXPECT_EQ(packets, 4);
  EXPECT_EQ(carrier.free_at(), at_ms(0) + Duration::microseconds(4 * 800));
  EXPECT_FALSE(gate.control_open(at_ms(0)));
  EXPECT_GT(gate.control_opens_at(), at_ms(0));
  EXPECT_TRUE(gate.control_open(gate.control_opens_at()));
  for (; packets < 100; ++packets) gate.debit(934, at_ms(0));
  EXPECT_EQ(carrier.free_at(), at_ms(80));
}

// The bytes that the last peer has received do not count for this peer.
TEST_F(RateGateTest, ANewSessionCountsFromTheStart) {
  gate.update(Duration::milliseconds(500), 934, at_ms(0));
  gate.on_delivered(send(100, Purpose::kNewData, at_ms(0)));
  gate.clear();
  gate.on_delivered(send(934, Purpose::kNewData, at_ms(100)));
  report(1, 934, 0, at_ms(600));
  EXPECT_EQ(controller.samples.back().received, ByteCount(1000));
}

TEST_F(RateGateTest, WhatStandsInNoLedgerHasNoPriorityOfData) {
  send(100, Purpose::kNewData, at_ms(0));
  EXPECT_EQ(gate.last_priority(), Priority::kLow);
  gate.on_unlisted();
  EXPECT_EQ(gate.last_priority(), Priority::kHigh);
}

TEST_F(RateGateTest, IsOpenWhenBothPacersAre) {
  gate.update(Duration::milliseconds(500), 934, at_ms(0));
  EXPECT_TRUE(gate.open(at_ms(0)));
  send(934, Purpose::kNewData, at_ms(0));  // 1000 bytes: 8 ms at 1 Mbit/s, 0.8 at 10
  EXPECT_TRUE(carrier.can_send(at_ms(0)));
  EXPECT_FALSE(gate.open(at_ms(6)));
  EXPECT_EQ(gate.opens_at(), at_ms(7));
  EXPECT_TRUE(gate.open(at_ms(7)));
  for (int i = 0; i < 20; ++i) carrier.on_sent(962, at_ms(7));  // packets of another peer
  EXPECT_FALSE(gate.open(at_ms(7)));
  EXPECT_EQ(gate.opens_at(), at_ms(7 + 16 - 1));
}

// Another session on the same carrier keeps its own rate.
TEST_F(RateGateTest, LeavesTheCarriersRateAlone) {
  controller.answer = BitRate::bits_per_second(100'000);
  gate.update(Duration::milliseconds(500), 934, at_ms(0));
  EXPECT_EQ(carrier.rate(), BitRate::bits_per_second(10'000'000));
  send(934, Purpose::kNewData, at_ms(0));
  EXPECT_EQ(gate.opens_at(), at_ms(80 - 1));
  controller.answer = kMegabit;
  gate.update(Duration::milliseconds(500), 934, at_ms(0));
  EXPECT_EQ(gate.opens_at(), at_ms(8 - 1));
}

// A burst may begin once all earlier packets are on the carrier. Room for one more packet is not
// enough.
TEST_F(RateGateTest, IsFreeWhenAllIsSent) {
  gate.update(Duration::milliseconds(500), 934, at_ms(0));
  send(934, Purpose::kNewData, at_ms(0));
  EXPECT_EQ(gate.opens_at(), at_ms(7));
  EXPECT_EQ(gate.free_at(), at_ms(8));
}

// The peer reports its clock in 32 bits of microseconds, which wrap after 71 minutes.
TEST_F(RateGateTest, ReportsMayBeHoursApart) {
  constexpr std::int64_t kHour = 3'600'000;
  gate.update(Duration::milliseconds(500), 934, at_ms(0));
  for (std::int64_t i = 1; i <= 5; ++i) {
    send(934, Purpose::kNewData, at_ms(i * kHour));
    report(static_cast<std::uint64_t>(i - 1), 934,
           static_cast<std::uint32_t>(i * kHour * 1000 + 250'000), at_ms(i * kHour + 500));
  }
  EXPECT_EQ(controller.samples.at(4).arrived - controller.samples.at(0).arrived,
            Duration::seconds(4 * 3600));
}

TEST_F(RateGateTest, TellsTheControllerOfEachSessionOnce) {
  gate.update(Duration::milliseconds(500), 934, at_ms(3));
  gate.update(Duration::milliseconds(600), 934, at_ms(4));
  ASSERT_EQ(controller.starts.size(), 1U);
  EXPECT_EQ(controller.starts[0].rtt, Duration::milliseconds(500));
  EXPECT_EQ(controller.starts[0].packet, ByteCount(1000));
  gate.clear();
  gate.update(Duration::milliseconds(600), 934, at_ms(5));
  EXPECT_EQ(controller.starts.size(), 2U);
}

TEST_F(RateGateTest, ReportsWhatBecameOfPackets) {
  controller.room = ByteCount(3000);
  SentPacket first = send(934, Purpose::kNewData, at_ms(0));
  SentPacket second = send(934, Purpose::kRetransmission, at_ms(1));
  SentPacket third = send(434, Purpose::kNewData, at_ms(2));
  EXPECT_EQ(gate.in_flight(), ByteCount(2500));
  EXPECT_TRUE(gate.window_open());
  SentPacket fourth = send(434, Purpose::kControl, at_ms(3));
  EXPECT_FALSE(gate.window_open());
  EXPECT_EQ(gate.last_priority(), Priority::kHigh);

  gate.on_lost(first, false);
  gate.on_lost(second, false);
  gate.on_delivered(third);
  report(2, 434, 0xffff'fc00U, at_ms(600));
  const control::FeedbackSample sample = controller.samples.at(0);
  EXPECT_EQ(sample.packets_lost, 2U);
  EXPECT_EQ(sample.low_priority_packets_lost, 1U);
  EXPECT_EQ(sample.packets_delivered, 1U);
  EXPECT_EQ(sample.newly_delivered, ByteCount(500));
  EXPECT_EQ(sample.in_flight, ByteCount(500));
  EXPECT_EQ(sample.received, ByteCount(500));
  EXPECT_EQ(sample.sent, at_ms(2));
  EXPECT_EQ(sample.rtt, Duration::milliseconds(500));

  // The receiver's clock has wrapped meanwhile. The first packet was not lost, but late.
  gate.on_delivered(fourth);
  gate.on_delivered_late(first);
  report(3, 434 + 434 + 934, 0x3e8, at_ms(700));
  const control::FeedbackSample later = controller.samples.at(1);
  EXPECT_EQ(later.packets_lost, 0U);
  EXPECT_EQ(later.in_flight, ByteCount(0));
  EXPECT_EQ(later.received, ByteCount(2000));
  EXPECT_EQ(later.sent, at_ms(3));
  EXPECT_EQ(later.arrived - sample.arrived, Duration::microseconds(0x400 + 0x3e8));

  // A report that a newer one has overtaken says nothing new about the newest packet.
  report(2, 434, 0xffff'fc00U, at_ms(800));
  EXPECT_EQ(controller.samples.at(2).sent, at_ms(3));
  EXPECT_EQ(controller.samples.at(2).arrived, later.arrived);
  EXPECT_EQ(controller.samples.at(2).received, later.received);
}

// A packet takes time on the link, and so do the bytes that were booked before it.
TEST_F(RateGateTest, TellsWhatWasBookedWhenAPacketHadLeft) {
  send(934, Purpose::kNewData, at_ms(0));
  report(0, 934, 1'000, at_ms(500));
  EXPECT_EQ(controller.samples.at(0).booked, ByteCount(1'000));
  // 12.5 ms at 10 Mbit/s are booked. The ledger stores that in steps of 2.1 ms.
  carrier.on_sent(15'587, at_ms(600));
  send(434, Purpose::kControl, at_ms(600));
  report(1, 1'368, 613'000, at_ms(1'200));
  EXPECT_LE(controller.samples.at(1).booked, ByteCount(15'625 + 500));
  EXPECT_GT(controller.samples.at(1).booked, ByteCount(15'625 + 500 - 2'625));
  // The booked bytes are those before the newest packet, whatever reports come later.
  report(0, 1'368, 613'000, at_ms(1'300));
  EXPECT_EQ(controller.samples.at(2).booked, controller.samples.at(1).booked);
}

// A packet that was lost at the peer's port counts as carried, and is counted separately.
TEST_F(RateGateTest, TellsTheControllerWhatIsNotTheLinks) {
  const SentPacket first = send(934, Purpose::kNewData, at_ms(0));
  const SentPacket second = send(934, Purpose::kNewData, at_ms(1));
  const SentPacket third = send(434, Purpose::kNewData, at_ms(2));
  gate.on_lost(first, true);
  gate.on_lost(second, false);
  gate.on_delivered(third);
  report(2, 434, 1000, at_ms(600), Duration::milliseconds(50));
  EXPECT_EQ(controller.samples.at(0).packets_lost, 2U);
  EXPECT_EQ(controller.samples.at(0).packets_lost_at_receiver, 1U);
  EXPECT_EQ(controller.samples.at(0).received, ByteCount(1500));
  EXPECT_EQ(controller.samples.at(0).lateness, Duration::milliseconds(50));
  // A report with nothing newer is still about the same packet.
  gate.on_excused(1);
  report(2, 434, 1000, at_ms(700));
  EXPECT_EQ(controller.samples.at(1).packets_lost, 0U);
  EXPECT_EQ(controller.samples.at(1).packets_lost_at_receiver, 1U);
  EXPECT_EQ(controller.samples.at(1).lateness, Duration::milliseconds(50));
}

TEST_F(RateGateTest, CountsCutsByTheirCause) {
  gate.update(Duration::milliseconds(500), 934, at_ms(0));
  controller.answer = kMegabit.scaled(1, 2);
  gate.update(Duration::milliseconds(500), 934, at_ms(1));
  EXPECT_EQ(gate.cuts().count(control::CutCause::kController), 1U);
  gate.set_capacity(kMegabit.scaled(1, 4), control::CutCause::kAnnounced);
  gate.update(Duration::milliseconds(500), 934, at_ms(2));
  EXPECT_EQ(gate.cuts().count(control::CutCause::kAnnounced), 1U);
  EXPECT_EQ(gate.cuts().count(control::CutCause::kController), 1U);
  // A new session that begins slowly is no cut.
  gate.clear();
  controller.answer = kMegabit.scaled(1, 8);
  gate.update(Duration::milliseconds(500), 934, at_ms(3));
  EXPECT_EQ(gate.cuts().count(control::CutCause::kController), 1U);
}

// set_capacity() may look at the rate first: after a finding for another peer on the carrier, or
// when the operator sets the same rate.
TEST_F(RateGateTest, TheEndOfATrainIsNoCutWhoeverLooksFirst) {
  controller.sustained = kMegabit;
  controller.answer = kMegabit.scaled(100, 1);
  gate.update(Duration::milliseconds(500), 934, at_ms(0));
  gate.set_capacity(kMegabit, control::CutCause::kConfigured);
  EXPECT_EQ(gate.cuts().count(control::CutCause::kConfigured), 0U);
  EXPECT_FALSE(gate.cuts().last());
}

}  // namespace
}  // namespace satrelay::stp::rate_gate_test
