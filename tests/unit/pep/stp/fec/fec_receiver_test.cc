// What repairs give back.
#include "pep/stp/fec/fec_receiver.h"

#include "tests/unit/pep/stp/fec/blocks.h"

namespace satrelay::stp::test {
namespace {

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

}  // namespace
}  // namespace satrelay::stp::test
