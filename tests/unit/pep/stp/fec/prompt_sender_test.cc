// Repairs of prompt flows, and the packets that they give back.
#include "pep/stp/fec/prompt_sender.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "pep/base/random.h"
#include "pep/stp/fec/fec_receiver.h"
#include "pep/stp/wire/frames.h"

namespace satrelay::stp::test::prompt_sender_test {
namespace {

constexpr std::size_t kDatagram = 1472;
constexpr Duration kBetween = Duration::milliseconds(4);

class PromptSenderTest : public ::testing::Test {
 protected:
  // Sends a packet, and then a repair if one is due. Returns whether one was due.
  bool send(std::size_t size, bool lose, double share = 0.1, bool lose_repair = false) {
    std::vector<std::byte> frames(size);
    for (std::byte& b : frames) b = static_cast<std::byte>(random.below(256));
    const std::uint64_t number = next++;
    const std::uint16_t index = out.next_frame().index;
    out.add(number, frames, share, now);
    bytes += size;
    if (lose) {
      lost[number] = frames;
    } else {
      received.record(number, now);
      in.handle_packet(index, number, frames, received, now);
    }
    const bool is_due = now >= out.due();
    if (is_due) repair(lose_repair);
    return is_due;
  }
  void repair(bool lose = false) {
    std::array<std::byte, kDatagram> room;
    ByteWriter writer(room);
    ASSERT_TRUE(out.write(writer, now));
    repair_bytes += writer.written();
    ++repairs;
    const std::uint64_t number = next++;
    if (lose) return;
    received.record(number, now);
    ByteReader reader(ConstBytes(room).first(writer.written()));
    ASSERT_EQ(reader.u8(), static_cast<std::uint8_t>(FrameType::kRepair));
    ByteReader body(reader.bytes(reader.u16()));
    const RepairFrame frame = parse_repair(body);
    ASSERT_TRUE(body.ok());
    EXPECT_EQ(frame.code, FecCode::kPrompt);
    in.handle_repair(frame, received, now);
    for (const FecReceiver::Packet& packet : in.repaired()) {
      const auto found = lost.find(packet.number);
      ASSERT_NE(found, lost.end());
      EXPECT_TRUE(std::ranges::equal(found->second, packet.frames));
      received.record_repaired(packet.number);
      lost.erase(found);
    }
  }

  Random random{5};
  FecCodec codec;
  PromptSender out{codec, kDatagram};
  RepairBudget budget;
  FecReceiver in{codec, budget, 2048, kDatagram};
  ReceivedPackets received;
  Instant now = Instant() + Duration::seconds(1);
  std::uint64_t next = 0;
  std::map<std::uint64_t, std::vector<std::byte>> lost;
  std::uint64_t bytes = 0, repair_bytes = 0, repairs = 0;
};

TEST_F(PromptSenderTest, RepairsTakeTheirShareOfTheBytesAndNoMore) {
  for (const double share : {0.05, 0.1, 0.3}) {
    bytes = repair_bytes = 0;
    for (int i = 0; i < 2000; ++i) {
      send(200 + random.below(1000), false, share);
      now += kBetween;
    }
    // The allowance comes on top: 1,000 bytes a second.
    const double allowance = 2000 * kBetween.to_seconds() * 1000;
    const auto most = static_cast<double>(bytes) * share + allowance + 3 * 1500;
    EXPECT_LE(static_cast<double>(repair_bytes), most);
    EXPECT_GE(static_cast<double>(repair_bytes), static_cast<double>(bytes) * share * 0.8);
  }
}

TEST_F(PromptSenderTest, ALossIsThereAgainWithTheNextRepair) {
  for (int i = 0; i < 3000; ++i) {
    const bool lose = i > 0 && i % 37 == 0;
    if (send(1000, lose)) {
      EXPECT_TRUE(lost.empty()) << "packet " << i;
    }
    now += kBetween;
  }
  now = later(now, out.due());
  repair();
  EXPECT_EQ(in.counters().used, 3000U / 37);
}

TEST_F(PromptSenderTest, ALostRepairOrASecondLossWaitsForTheOneAfterIt) {
  int since = 0;
  for (int i = 0; i < 3000; ++i) {
    const bool lose = i > 0 && (i % 97 == 0 || i % 97 == 1);
    const bool lose_repair = i % 5 == 0;
    since = lost.empty() ? 0 : since;
    if (send(1000, lose, 0.1, lose_repair) && !lose_repair) ++since;
    EXPECT_LE(since, 3) << "packet " << i;
    now += kBetween;
  }
}

TEST_F(PromptSenderTest, ABurstLongerThanARepairIsWorthComesBack) {
  for (int i = 0; i < 400; ++i) {
    send(1000, i >= 100 && i < 106, 0.2);
    now += kBetween;
  }
  EXPECT_TRUE(lost.empty());
}

// Keys are pressed now and then. Each packet is the last one for a while.
TEST_F(PromptSenderTest, TheLastPacketOfABurstIsCoveredAfterALull) {
  for (int i = 0; i < 50; ++i) {
    if (!send(80, i % 2 == 1)) {
      ASSERT_FALSE(out.due().is_never());
      EXPECT_LE(out.due(), now + Duration::milliseconds(100));
      now = out.due();
      repair();
    }
    EXPECT_TRUE(lost.empty());
    EXPECT_TRUE(out.due().is_never()) << "once, until another packet leaves";
    now += Duration::milliseconds(300);
  }
}

// Answers come now and then. The first packets of an answer leave the allowance to the last one.
TEST_F(PromptSenderTest, TheLastPacketOfALongBurstIsCoveredAfterALullToo) {
  for (std::size_t burst = 5; burst < 40; ++burst) {
    now += Duration::seconds(5);
    bool is_covered = false;
    for (std::size_t i = 0; i < burst; ++i) {
      is_covered = send(1400, i + 1 == burst, 0.085);
      now += Duration::microseconds(200);
    }
    if (is_covered) continue;
    EXPECT_LE(out.due(), now + Duration::milliseconds(10)) << burst;
    now = out.due();
    repair();
    EXPECT_TRUE(lost.empty()) << burst;
  }
}

TEST_F(PromptSenderTest, WhatOneMayStillRepairIsKnown) {
  while (!send(1000, false)) now += kBetween;
  const Instant sent = now;
  ASSERT_TRUE(out.repairable(sent - Duration::milliseconds(1)));
  EXPECT_EQ(out.repairable(sent - Duration::milliseconds(1))->begin, 0U);
  EXPECT_EQ(out.repairable(sent - Duration::milliseconds(1))->end, next - 1);
  EXPECT_FALSE(out.repairable(sent)) << "it was written after the repair had come";
  // The sums slide: the sender does not wait for packets older than all of them.
  for (int i = 0; i < 1000; ++i) send(1000, false);
  EXPECT_GT(out.repairable(Instant())->begin, next - 300);
}

TEST_F(PromptSenderTest, OneThatDoesNotFitIsGivenUp) {
  while (out.due() > now) {
    out.add(next++, std::vector<std::byte>(1400), 0.1, now);
    now += kBetween;
  }
  std::array<std::byte, 600> room;
  ByteWriter writer(room);
  EXPECT_FALSE(out.write(writer, now));
  EXPECT_TRUE(out.due().is_never());
}

TEST_F(PromptSenderTest, RowsAndIndexesGoRoundSixteenBits) {
  for (int i = 0; i < 140'000; ++i) {
    send(100, i % 50 == 7, 0.3);
    now += Duration::microseconds(100);
  }
  EXPECT_LE(lost.size(), 1U);
  EXPECT_EQ(in.counters().malformed, 0U);
}

}  // namespace
}  // namespace satrelay::stp::test::prompt_sender_test
