// Both halves of forward error correction against each other: what the sender writes, through the
// frame's codec, into the receiver, with packets taken out on the way.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "pep/base/random.h"
#include "pep/stp/fec/fec.h"
#include "pep/stp/packets/received_packets.h"
#include "pep/stp/wire/frames.h"

namespace satrelay::stp {
namespace {

using Waiting = FecSender::Waiting;
using Frames = std::vector<std::byte>;

constexpr std::size_t kDatagram = 1472;
constexpr std::size_t kLargestFrames = kDatagram - 12 - kMaxRepairOverhead;
constexpr Duration kRoundTrip = Duration::milliseconds(500);

struct RepairCatcher : IgnoreFrames {
  std::optional<RepairFrame>& caught;
  using IgnoreFrames::operator();
  void operator()(const RepairFrame& frame) const { caught = frame; }
};

std::optional<RepairFrame> parse(ConstBytes frames) {
  std::optional<RepairFrame> frame;
  return walk_frames(frames, RepairCatcher{{}, frame}) ? frame : std::nullopt;
}

// A path on which each packet takes 100 us to leave.
class Blocks : public ::testing::Test {
 protected:
  Frames random_frames(std::size_t size) {
    Frames frames(size);
    for (std::byte& b : frames) b = static_cast<std::byte>(random.below(256));
    return frames;
  }
  // Sends a packet that is protected or not; it arrives unless it is lost.
  std::uint64_t send(std::size_t size, bool is_lost, bool is_protected = true,
                     FecSender::Purpose purpose = {}) {
    const std::uint64_t number = next++;
    now += Duration::microseconds(100);
    const Frames frames = random_frames(size);
    if (is_protected) out.sender.add(number, frames, purpose, now);
    if (is_lost) {
      lost.emplace(number, frames);
    } else {
      received.record(number, now);
      if (is_protected) {
        in.receiver.handle_packet(number, frames, received, now);
        take_repaired();
      }
    }
    return number;
  }
  // Sends what repairs may leave until nothing does for the time of a block.
  std::size_t send_repairs(Waiting waiting = Waiting::kNothing,
                           const std::set<std::size_t>& lose = {}) {
    std::size_t sent = 0;
    for (int i = 0; i < 400; ++i) {
      dropped += out.sender.advance(waiting, next, kRoundTrip, now);
      while (out.sender.ready(waiting, next, now)) send_repair(lose.contains(sent++));
      now += Duration::microseconds(100);
    }
    return sent;
  }
  void send_repair(bool is_lost) {
    Frames room(kDatagram - 12);
    ByteWriter writer(room);
    const std::uint64_t number = next++;
    ASSERT_TRUE(out.sender.write(writer, number, now));
    if (is_lost) return;
    const auto frame = parse(ConstBytes(room).first(writer.written()));
    ASSERT_TRUE(frame.has_value());
    received.record(number, now);
    in.receiver.handle_repair(*frame, number, received, now);
    take_repaired();
  }
  void take_repaired() {
    for (const FecReceiver::Packet& packet : in.receiver.repaired()) {
      ASSERT_TRUE(lost.contains(packet.number)) << packet.number;
      EXPECT_TRUE(std::ranges::equal(lost[packet.number], packet.frames)) << packet.number;
      lost.erase(packet.number);
      received.record_repaired(packet.number);
    }
  }

  Random random{11};
  Fec out{kDatagram};
  Fec in{kDatagram};
  ReceivedPackets received;
  std::map<std::uint64_t, Frames> lost;  // not given back yet
  std::uint64_t next = 0;
  std::size_t dropped = 0;
  Instant now = Instant::from_nanoseconds(1'000'000'000);
};

TEST_F(Blocks, GiveBackWhatWasLostWhateverTheSizes) {
  // Losses up to the number of repairs that a path not measured yet gets.
  for (std::size_t size = 1; size <= 64; ++size) {
    const std::size_t repairs = out.policy.repairs_for(size);
    std::set<std::size_t> losses;
    while (losses.size() < std::min(repairs, size)) losses.insert(random.below(size));
    for (std::size_t i = 0; i < size; ++i) {
      send(1 + random.below(kLargestFrames), losses.contains(i));
    }
    EXPECT_EQ(send_repairs(), repairs) << size;
    EXPECT_TRUE(lost.empty()) << size;
  }
  EXPECT_EQ(in.receiver.counters().malformed, 0U);
  EXPECT_EQ(dropped, 0U);
}

TEST_F(Blocks, OfOnePacketAreCopies) {
  send(5, true);
  EXPECT_GE(send_repairs(Waiting::kNothing, {0}), 2U);
  EXPECT_TRUE(lost.empty()) << "the second copy does it";
  EXPECT_EQ(in.receiver.counters().used, 1U);
}

TEST_F(Blocks, NeedAnyRepairsNotTheFirst) {
  for (int i = 0; i < 64; ++i) send(700, i == 3 || i == 60 || i == 63);
  send_repairs(Waiting::kNothing, {0, 2});
  EXPECT_TRUE(lost.empty());
}

TEST_F(Blocks, WithMoreLossesThanRepairsGiveNothingBackAndNothingWrong) {
  for (std::size_t i = 0; i < 64; ++i) send(700, i < FecCodec::kMaxRepairs);
  send_repairs();
  EXPECT_EQ(lost.size(), FecCodec::kMaxRepairs);
  EXPECT_EQ(in.receiver.counters().used, 0U);
  now += FecReceiver::kBlockTimeout;
  in.receiver.expire(now);
  EXPECT_EQ(in.receiver.counters().wasted, out.policy.repairs_for(64));
  EXPECT_TRUE(in.receiver.next_timeout().is_never());
}

TEST_F(Blocks, ReachOverPacketsThatAreNotProtected) {
  for (int i = 0; i < 60; ++i) send(900, i == 20 || i == 40, i % 3 == 0 || i == 20 || i == 40);
  send_repairs();
  EXPECT_TRUE(lost.empty());
}

TEST_F(Blocks, EndAtTheSpanThatTheFrameCanName) {
  send(100, true);
  for (int i = 0; i < 127; ++i) send(100, false, false);
  send(100, true);  // 128 numbers later: another block
  send_repairs();
  EXPECT_TRUE(lost.empty());
}

TEST_F(Blocks, LateAndDoublePacketsAreNotCountedTwice) {
  const std::uint64_t late = next;
  Frames frames = random_frames(300);
  out.sender.add(next++, frames, {}, now);
  for (int i = 0; i < 7; ++i) send(300, i == 2);
  // Repairs of which the first is not enough for two holes; then one of them fills itself.
  dropped += out.sender.advance(Waiting::kNothing, next, kRoundTrip, now += Duration::seconds(0));
  now += Duration::milliseconds(10);
  out.sender.advance(Waiting::kNothing, next, kRoundTrip, now);
  ASSERT_TRUE(out.sender.ready(Waiting::kNothing, next, now));
  send_repair(false);
  EXPECT_EQ(lost.size(), 1U);
  received.record(late, now);
  in.receiver.handle_packet(late, frames, received, now);
  take_repaired();
  EXPECT_TRUE(lost.empty());
  send_repairs();
  EXPECT_EQ(in.receiver.counters().used, 1U);
  EXPECT_GT(in.receiver.counters().wasted, 0U);
}

TEST_F(Blocks, RepairsOfWholeBlocksAreWasted) {
  for (int i = 0; i < 10; ++i) send(400, false);
  const std::size_t sent = send_repairs();
  EXPECT_GT(sent, 0U);
  EXPECT_EQ(in.receiver.counters().wasted, sent);
  EXPECT_EQ(in.receiver.counters().used, 0U);
}

TEST_F(Blocks, RepairsThatContradictEachOtherAreRefused) {
  for (int i = 0; i < 4; ++i) send(200, i < 2);
  now += Duration::milliseconds(10);
  out.sender.advance(Waiting::kNothing, next, kRoundTrip, now);
  Frames room(kDatagram - 12);
  ByteWriter writer(room);
  ASSERT_TRUE(out.sender.write(writer, next, now));
  received.record(next, now);
  RepairFrame frame = *parse(ConstBytes(room).first(writer.written()));
  in.receiver.handle_repair(frame, next, received, now);
  EXPECT_EQ(in.receiver.counters().malformed, 0U);
  frame.row = 5;
  frame.symbol = frame.symbol.first(frame.symbol.size() - 1);
  in.receiver.handle_repair(frame, next, received, now);
  EXPECT_EQ(in.receiver.counters().malformed, 1U) << "another size";
  frame.distance = next + 1;
  in.receiver.handle_repair(frame, next, received, now);
  EXPECT_EQ(in.receiver.counters().malformed, 2U) << "begins before the first packet";
}

TEST_F(Blocks, NonsenseThatIsSolvedGivesNothingBack) {
  for (int i = 0; i < 3; ++i) send(200, i == 1);
  Frames nonsense = random_frames(202);
  nonsense[0] = std::byte{0xff};
  RepairFrame frame;
  frame.distance = 3;
  for (std::size_t i = 0; i < 3; ++i) frame.members.insert(i);
  frame.symbol = nonsense;
  received.record(next, now);
  in.receiver.handle_repair(frame, next, received, now);
  EXPECT_TRUE(in.receiver.repaired().empty());
  EXPECT_EQ(in.receiver.counters().malformed, 1U);
  // Symbols shorter than a packet that they are said to stand for.
  frame.symbol = ConstBytes(nonsense).first(100);
  in.receiver.handle_repair(frame, next, received, now);
  EXPECT_TRUE(in.receiver.repaired().empty());
  EXPECT_EQ(in.receiver.counters().malformed, 2U);
}

TEST_F(Blocks, TheReceiverKeepsABoundedNumberOfThem) {
  // Blocks of which one repair of two that it takes arrives.
  for (int block = 0; block < 40; ++block) {
    for (int i = 0; i < 8; ++i) send(100, i < 2);
    now += Duration::milliseconds(10);
    out.sender.advance(Waiting::kNothing, next, kRoundTrip, now);
    send_repair(false);
    dropped += out.sender.drop_next();
  }
  EXPECT_EQ(in.receiver.counters().wasted, 40 - FecReceiver::kBlocks);
  in.receiver.clear();
  EXPECT_TRUE(in.receiver.next_timeout().is_never());
}

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

class RepairFrames : public ::testing::Test {
 protected:
  // Bytes behind the type.
  static bool accepts(std::vector<std::uint8_t> body) {
    Frames frames;
    const std::size_t size = body.size();
    for (const std::size_t b : {std::size_t{0x42}, size >> 8, size & 0xff}) {
      frames.push_back(static_cast<std::byte>(b));
    }
    for (const std::uint8_t b : body) frames.push_back(static_cast<std::byte>(b));
    return parse(frames).has_value();
  }
};

TEST_F(RepairFrames, RoundTripWithTheLargestSpan) {
  RepairFrame frame;
  frame.distance = kMaxRepairDistance;
  frame.row = FecCodec::kMaxRepairs - 1;
  for (std::size_t i = 0; i < 127; i += 2) frame.members.insert(i);
  frame.members.insert(127);
  EXPECT_EQ(frame.members.count(), 65U);
  frame.members = {};
  for (std::size_t i = 0; i < 126; i += 2) frame.members.insert(i);
  frame.members.insert(127);
  ASSERT_EQ(frame.members.count(), FecCodec::kMaxSources);
  Frames room(200);
  ByteWriter writer(room);
  write_repair_header(writer, frame, 3);
  writer.u16(1);
  writer.u8(0);
  ASSERT_TRUE(writer.ok());
  EXPECT_EQ(writer.written(), kMaxRepairOverhead + 1);
  const auto parsed = parse(ConstBytes(room).first(writer.written()));
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->distance, frame.distance);
  EXPECT_EQ(parsed->row, frame.row);
  EXPECT_EQ(parsed->members, frame.members);
  EXPECT_EQ(parsed->symbol.size(), 3U);
}

TEST_F(RepairFrames, MalformedOnesAreRefused) {
  //                      distance, row, span - 1, members, symbol
  EXPECT_TRUE(accepts({3, 0, 2, 0b101, 0, 1, 9}));
  EXPECT_FALSE(accepts({2, 0, 2, 0b101, 0, 1, 9})) << "stands for itself";
  EXPECT_FALSE(accepts({3, 24, 2, 0b101, 0, 1, 9})) << "no such row";
  EXPECT_FALSE(accepts({3, 0, 2, 0b100, 0, 1, 9})) << "the first is no member";
  EXPECT_FALSE(accepts({3, 0, 2, 0b001, 0, 1, 9})) << "the last is no member";
  EXPECT_FALSE(accepts({3, 0, 2, 0b1101, 0, 1, 9})) << "members beyond the span";
  EXPECT_FALSE(accepts({3, 0, 2, 0b101, 0, 1})) << "a symbol without bytes";
  EXPECT_FALSE(accepts({3, 0, 128, 0b101, 0, 1, 9})) << "too wide";
  EXPECT_FALSE(accepts({3, 0, 2})) << "short";
  std::vector<std::uint8_t> crowded = {0x40, 200, 0, 127};
  crowded.insert(crowded.end(), 16, 0xff);
  crowded.insert(crowded.end(), {0, 1, 9});
  EXPECT_FALSE(accepts(crowded)) << "more members than a block has";
}

}  // namespace
}  // namespace satrelay::stp
