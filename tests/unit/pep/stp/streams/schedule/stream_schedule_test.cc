// The order of streams: turns of hosts and of their streams, young streams before older ones, and
// lost bytes within their share.
#include "pep/stp/streams/schedule/stream_schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <vector>

#include "pep/base/random.h"

namespace satrelay::stp::stream_schedule_test {
namespace {

constexpr std::uint32_t kPacket = 1'400;

class StreamScheduleTest : public ::testing::Test {
 protected:
  StreamScheduleTest()
      : memory_(64 << 20), arena_(memory_, 4096), schedule_(2 * kPacket, &shares_) {}

  // A stream that has sent `sent` bytes and has 2,500,000 more to send.
  Stream& add(std::uint64_t sent, std::uint64_t host = 0, schedule::ClassId stream_class = 0) {
    Stream& stream = streams_.emplace_back(arena_);
    schedule_.join(stream, stream_class, host);
    const std::vector<std::byte> bytes(sent + 2'500'000);
    EXPECT_EQ(stream.send.write(bytes, bytes.size(), 0), bytes.size());
    std::vector<std::byte> out(sent);
    stream.send.take(0, out);
    schedule_.set_new(stream, true);
    return stream;
  }
  void send_new(Stream& stream, std::size_t bytes = kPacket) {
    std::vector<std::byte> out(bytes);
    stream.send.take(stream.send.sent(), out);
    sent_[&stream] += bytes;
    schedule_.on_new_sent(stream, bytes, loss_);
  }
  // Sends a packet as the session does: lost bytes first if they have the turn.
  void send_packet() {
    if (Stream* lost = schedule_.next_lost(0)) {
      const bool capped = schedule_.whole_ones_wait(*lost);
      if (!capped || schedule_.repair_has_turn(0)) {
        std::vector<std::byte> out(kPacket);
        lost->send.take(lost->send.first_lost().range.begin, out);
        repaired_ += kPacket;
        if (capped) schedule_.on_repaired(*lost, kPacket, loss_);
        schedule_.update_lost(*lost);
        if (lost->send.has_lost()) schedule_.rotate_lost(*lost);
        return;
      }
    }
    send_new(*schedule_.next_new(0));
  }
  // A stream of `flapping` leaves after a turn of two packets, and the next one comes. Returns the
  // bytes of all streams.
  std::uint64_t send_while_they_come_and_go(const std::vector<Stream*>& flapping) {
    constexpr std::uint64_t kPackets = 4'000;
    std::size_t comes = 0;
    for (std::uint64_t i = 0; i < kPackets; ++i) {
      Stream& next = *schedule_.next_new(0);
      send_new(next);
      const bool is_steady = std::ranges::find(flapping, &next) == flapping.end();
      if (is_steady || sent_[&next] % (2 * kPacket) != 0) continue;
      schedule_.set_new(next, false);
      comes = (comes + 1) % flapping.size();
      schedule_.set_new(*flapping[comes], true);
    }
    return kPackets * kPacket;
  }
  void lose(Stream& stream, std::uint64_t begin, std::uint64_t length) {
    stream.send.on_lost(begin, length, false, 1);
    schedule_.update_lost(stream);
  }

  WorkCount work_;
  std::vector<std::byte> memory_;
  Arena arena_;
  schedule::HostShares shares_{100};
  StreamSchedule schedule_;
  std::deque<Stream> streams_;
  std::map<const Stream*, std::uint64_t> sent_;
  std::uint64_t repaired_ = 0;
  double loss_ = 0;
};

TEST_F(StreamScheduleTest, HostsShareAlikeHoweverManyStreamsTheyHave) {
  Stream& alone = add(100'000, 1);
  std::array<Stream*, 8> many{};
  for (Stream*& stream : many) stream = &add(100'000, 2);
  for (int i = 0; i < 1'600; ++i) send_new(*schedule_.next_new(0));
  EXPECT_EQ(sent_[&alone], 800U * kPacket);
  for (const Stream* stream : many) EXPECT_EQ(sent_[stream], 100U * kPacket);
  EXPECT_EQ(schedule_.hosts(0), 2U);
}

TEST_F(StreamScheduleTest, AHostThatWaitsElsewhereTooHasHalfATurn) {
  schedule::HostShare* const both = shares_.join(0, 1);
  Stream& shared = add(100'000, 1);
  Stream& young = add(0, 1);
  Stream& other = add(100'000, 2);
  EXPECT_EQ(both->places, 1U) << "here, on either level";
  schedule_.set_new(young, false);
  EXPECT_EQ(both->places, 1U);
  ++both->places;
  for (int i = 0; i < 900; ++i) send_new(*schedule_.next_new(0));
  EXPECT_NEAR(static_cast<double>(sent_[&shared]), 300 * kPacket, 4 * kPacket);
  EXPECT_NEAR(static_cast<double>(sent_[&other]), 600 * kPacket, 4 * kPacket);
  --both->places;
  sent_.clear();
  for (int i = 0; i < 900; ++i) send_new(*schedule_.next_new(0));
  EXPECT_NEAR(static_cast<double>(sent_[&shared]), 450 * kPacket, 4 * kPacket);
  schedule_.set_new(shared, false);
  EXPECT_EQ(both->places, 0U);
  schedule_.leave(shared);
  schedule_.leave(young);
  EXPECT_EQ(both->users, 1U);
  shares_.leave(both);
}

TEST_F(StreamScheduleTest, APromotedStreamIsNextWhateverItsHostHasOverdrawn) {
  schedule::HostShare* const both = shares_.join(0, 1);
  both->places += 4;
  Stream& other = add(0, 2);
  for (int i = 0; i < 20; ++i) {
    Stream& opened = add(0, 1);
    schedule_.promote(opened);
    EXPECT_EQ(schedule_.next_new(0), &opened) << i;
    send_new(opened);
    schedule_.set_new(opened, false);
  }
  EXPECT_EQ(schedule_.next_new(0), &other);
}

TEST_F(StreamScheduleTest, WhatCannotBeSentDoesNotCount) {
  schedule::HostShare* const host = shares_.join(0, 1);
  Stream& stream = add(100'000, 1);
  Stream& later = add(100'000, 1);
  schedule_.pause(true);
  schedule_.go_on(work_);
  EXPECT_EQ(host->places, 0U);
  schedule_.set_new(stream, false);
  schedule_.set_new(later, false);
  schedule_.set_new(later, true);
  EXPECT_EQ(host->places, 0U);
  schedule_.pause(false);
  schedule_.go_on(work_);
  EXPECT_EQ(host->places, 1U);
  schedule_.set_new(later, false);
  EXPECT_EQ(host->places, 0U);
}

TEST_F(StreamScheduleTest, AClassKnowsNothingOfTheOthers) {
  Stream& here = add(100'000, 1);
  Stream& there = add(100'000, 1, 5);
  EXPECT_EQ(schedule_.has_new(), schedule::class_bit(0) | schedule::class_bit(5));
  EXPECT_EQ(schedule_.only_new(), nullptr);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(schedule_.next_new(5), &there);
  lose(there, 0, 1'400);
  EXPECT_EQ(schedule_.has_lost(), schedule::class_bit(5));
  EXPECT_EQ(schedule_.next_lost(0), nullptr);
  EXPECT_FALSE(schedule_.others_wait(there));  // only streams of the same class count
  schedule_.set_new(there, false);
  EXPECT_EQ(schedule_.only_new(), &here);
}

// The stream takes along all that it has to send, and what it has overdrawn.
TEST_F(StreamScheduleTest, AStreamMovesToAnotherClass) {
  Stream& stays = add(100'000, 1);
  Stream& moves = add(100'000, 1);
  lose(moves, 0, 1'400);
  schedule_.join(moves, 3, 7);
  EXPECT_EQ(schedule_.has_new(), schedule::class_bit(0) | schedule::class_bit(3));
  EXPECT_EQ(schedule_.next_new(3), &moves);
  EXPECT_EQ(schedule_.next_lost(3), &moves);
  EXPECT_EQ(schedule_.next_lost(0), nullptr);
  EXPECT_EQ(schedule_.next_new(0), &stays);
}

TEST_F(StreamScheduleTest, PacketsOfAnySizeGiveEqualShares) {
  Stream& large = add(100'000);
  Stream& small = add(100'000);
  for (int i = 0; i < 3'000; ++i) {
    Stream& next = *schedule_.next_new(0);
    send_new(next, &next == &large ? 1'399 : 611);
  }
  EXPECT_NEAR(static_cast<double>(sent_[&large]) / static_cast<double>(sent_[&small]), 1, 0.01);
}

// A source that gives its bytes one at a time leaves the list after each; that must not renew its
// turn.
TEST_F(StreamScheduleTest, LeavingAndComingBackGainsNothing) {
  Stream& steady = add(100'000);
  Stream& flapping = add(100'000);
  for (int i = 0; i < 2'000; ++i) {
    Stream& next = *schedule_.next_new(0);
    send_new(next);
    if (&next == &flapping) {
      schedule_.set_new(flapping, false);
      schedule_.set_new(flapping, true);
    }
  }
  EXPECT_LE(sent_[&flapping], sent_[&steady] + 2 * kPacket);
}

// A key stroke, beside hosts that send without end.
TEST_F(StreamScheduleTest, AHostThatHasMissedARoundIsNext) {
  Stream& sparse = add(100'000, 1);
  for (std::uint64_t host = 2; host < 12; ++host) add(100'000, host);
  while (sent_[&sparse] == 0) send_packet();
  schedule_.set_new(sparse, false);
  for (int i = 0; i < 21; ++i) send_packet();
  schedule_.set_new(sparse, true);
  EXPECT_EQ(schedule_.next_new(0), &sparse);
}

TEST_F(StreamScheduleTest, AHostThatComesBackSoonerWaitsItsTurn) {
  Stream& sparse = add(100'000, 1);
  for (std::uint64_t host = 2; host < 12; ++host) add(100'000, host);
  while (sent_[&sparse] == 0) send_packet();
  schedule_.set_new(sparse, false);
  for (int i = 0; i < 18; ++i) send_packet();
  schedule_.set_new(sparse, true);
  EXPECT_NE(schedule_.next_new(0), &sparse);
}

TEST_F(StreamScheduleTest, AStreamThatHasMissedARoundOfItsHostIsNext) {
  Stream& sparse = add(100'000);
  for (int i = 0; i < 10; ++i) add(100'000);
  while (sent_[&sparse] == 0) send_packet();
  schedule_.set_new(sparse, false);
  for (int i = 0; i < 21; ++i) send_packet();
  schedule_.set_new(sparse, true);
  EXPECT_EQ(schedule_.next_new(0), &sparse);
}

// The stream leaves after each packet and comes back, so that it goes first as often as it can.
TEST_F(StreamScheduleTest, MissingRoundsGainsNothing) {
  Stream& flapping = add(100'000, 1);
  std::vector<Stream*> steady;
  for (std::uint64_t host = 2; host < 7; ++host) steady.push_back(&add(100'000, host));
  for (int i = 0; i < 3'000; ++i) {
    Stream& next = *schedule_.next_new(0);
    send_new(next);
    if (&next == &flapping) schedule_.set_new(flapping, false);
    if (i % 3 == 0) schedule_.set_new(flapping, true);
  }
  for (const Stream* one : steady) EXPECT_LE(sent_[&flapping], sent_[one] + 2 * kPacket);
}

// Hosts that go ahead must not end a round for each other.
TEST_F(StreamScheduleTest, HostsThatTakeTurnsInMissingRoundsLeaveTheOthersTheirs) {
  std::vector<Stream*> flapping;
  for (std::uint64_t host = 1; host <= 4; ++host) flapping.push_back(&add(100'000, host));
  const Stream& steady = add(100'000, 9);
  const std::uint64_t all = send_while_they_come_and_go(flapping);
  EXPECT_GE(sent_[&steady], all / 6);
}

TEST_F(StreamScheduleTest, StreamsThatTakeTurnsInMissingRoundsLeaveTheOthersTheirs) {
  std::vector<Stream*> flapping;
  for (int i = 0; i < 4; ++i) flapping.push_back(&add(100'000));
  const Stream& steady = add(100'000);
  const std::uint64_t all = send_while_they_come_and_go(flapping);
  EXPECT_GE(sent_[&steady], all / 6);
}

TEST_F(StreamScheduleTest, ThoseAheadHaveTheirTurnsAsTheyCame) {
  std::array<Stream*, 3> sparse{};
  for (std::uint64_t host = 0; host < sparse.size(); ++host) {
    sparse[host] = &add(100'000, 1 + host);
  }
  for (std::uint64_t host = 10; host < 14; ++host) add(100'000, host);
  for (int i = 0; i < 14; ++i) send_packet();
  for (Stream* one : sparse) schedule_.set_new(*one, false);
  for (int i = 0; i < 40; ++i) send_packet();
  for (Stream* one : sparse) schedule_.set_new(*one, true);
  for (Stream* one : sparse) {
    EXPECT_EQ(schedule_.next_new(0), one);
    schedule_.set_new(*one, false);
  }
}

// The first bytes follow an OPEN in its packet. The turn is no longer than usual for that.
TEST_F(StreamScheduleTest, APromotedStreamHasNoLongerTurnForTheRate) {
  schedule_.set_rate(BitRate::bits_per_second(10'000'000'000));
  add(100'000, 1);
  Stream& opened = add(100'000, 2);
  schedule_.promote(opened);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(schedule_.next_new(0), &opened);
    send_packet();
  }
  EXPECT_NE(schedule_.next_new(0), &opened);
}

// A host that has just joined may be one that was there before, under the same key. So it does not
// go first.
TEST_F(StreamScheduleTest, ANewHostWaitsItsTurn) {
  for (std::uint64_t host = 2; host < 12; ++host) add(100'000, host);
  for (int i = 0; i < 100; ++i) send_packet();
  Stream& late = add(100'000, 1);
  EXPECT_NE(schedule_.next_new(0), &late);
}

TEST_F(StreamScheduleTest, ATurnIsLongerWhereItTakesNoTime) {
  const auto packets_in_a_row = [&](BitRate rate) {
    schedule_.set_rate(rate);
    for (int i = 0; i < 100; ++i) send_packet();  // turns that began at the rate before
    const Stream* const first = schedule_.next_new(0);
    while (schedule_.next_new(0) == first) send_packet();
    const Stream* const second = schedule_.next_new(0);
    int count = 0;
    for (; schedule_.next_new(0) == second; ++count) send_packet();
    return count;
  };
  add(100'000, 1);
  add(100'000, 2);
  EXPECT_LE(packets_in_a_row(BitRate::bits_per_second(50'000'000)), 2);
  EXPECT_NEAR(packets_in_a_row(BitRate::bits_per_second(500'000'000)), 7'812.0 / kPacket, 1);
  EXPECT_NEAR(packets_in_a_row(BitRate::bits_per_second(10'000'000'000)),
              StreamSchedule::kLongestTurn * 1.0 / kPacket, 1);
  EXPECT_LE(packets_in_a_row(BitRate::bits_per_second(50'000'000)), 2);
}

TEST_F(StreamScheduleTest, ATurnLasts) {
  schedule_.set_rate(BitRate::bits_per_second(10'000'000'000));
  const auto left = [&] { return schedule_.turn_left(*schedule_.next_new(0)); };
  Stream& alone = add(100'000, 1);
  EXPECT_EQ(left(), StreamSchedule::kNoLimit);
  send_new(alone);
  // Two streams of a host, and then two hosts. The answer holds all through a turn.
  for (const std::uint64_t host : {1, 2}) {
    Stream& other = add(100'000, host);
    for (int i = 0; i < 100; ++i) send_packet();
    for (int turns = 0; turns < 4; ++turns) {
      const Stream* const now = schedule_.next_new(0);
      const std::uint64_t told = left();
      std::uint64_t sent = 0;
      for (; schedule_.next_new(0) == now; sent += kPacket) {
        if (sent > 0) {
          EXPECT_EQ(left(), told - sent);
        }
        send_packet();
      }
      EXPECT_GE(sent, told);
      EXPECT_LT(sent, told + kPacket);
    }
    schedule_.set_new(other, false);
    EXPECT_EQ(left(), StreamSchedule::kNoLimit);
  }
}

TEST_F(StreamScheduleTest, TheFirstBytesOfAStreamGoAhead) {
  for (int i = 0; i < 20; ++i) add(100'000);
  send_new(*schedule_.next_new(0));
  Stream& young = add(0);
  std::uint64_t packets = 0;
  for (; young.send.sent() < StreamSchedule::kYoungBytes; ++packets) send_packet();
  EXPECT_LE(packets * kPacket, StreamSchedule::kYoungBytes * 8 / 7 + 2 * kPacket);
  // From then on it is one of 21 equal streams.
  const std::uint64_t before = sent_[&young];
  for (int i = 0; i < 42 * 10; ++i) send_packet();
  EXPECT_NEAR(static_cast<double>(sent_[&young] - before), 20.0 * kPacket, 2.0 * kPacket);
}

TEST_F(StreamScheduleTest, ShortFlowsWithoutEndLeaveAnEighth) {
  Stream& old = add(100'000);
  add(0);
  for (int i = 0; i < 8'000; ++i) {
    Stream& next = *schedule_.next_new(0);
    send_new(next);
    if (&next != &old && next.send.sent() >= StreamSchedule::kYoungBytes) {
      schedule_.remove(next);
      if (streams_.size() == 2) {
        next.send.reset();
        schedule_.leave(streams_.back());
        streams_.pop_back();
      }
      add(0);
    }
  }
  EXPECT_NEAR(static_cast<double>(sent_[&old]), 1'000.0 * kPacket, 10.0 * kPacket);
}

TEST_F(StreamScheduleTest, WhatWasLostHasItsShareWhileOthersWait) {
  loss_ = 0.10;
  Stream& bulk = add(3'000'000);
  add(100'000);
  lose(bulk, 200'000, 2'500'000);
  for (int i = 0; i < 1'000; ++i) send_packet();
  EXPECT_EQ(StreamSchedule::repair_share(loss_), 200);
  EXPECT_NEAR(static_cast<double>(repaired_), 200.0 * kPacket, 5.0 * kPacket);
}

TEST_F(StreamScheduleTest, WhatWasLostComesFirstWhenNobodyElseWaits) {
  Stream& bulk = add(3'000'000);
  lose(bulk, 200'000, 1'400'000);
  for (int i = 0; i < 1'000; ++i) send_packet();
  EXPECT_EQ(repaired_, 1'400'000U);  // the new bytes of the stream wait
  EXPECT_EQ(schedule_.has_lost(), 0U);
}

// As after an outage: the new bytes of each stream would wait for its own lost ones anyway.
TEST_F(StreamScheduleTest, WhatAllHaveLostComesFirst) {
  Stream& one = add(3'000'000);
  Stream& other = add(3'000'000);
  lose(one, 200'000, 700'000);
  EXPECT_TRUE(schedule_.whole_ones_wait(one));
  lose(other, 200'000, 700'000);
  EXPECT_FALSE(schedule_.whole_ones_wait(one));
  for (int i = 0; i < 1'030; ++i) send_packet();
  EXPECT_EQ(repaired_, 1'400'000U);
  EXPECT_EQ(sent_[&one] + sent_[&other], 30U * kPacket);
  EXPECT_TRUE(schedule_.whole_ones_wait(one));
}

TEST_F(StreamScheduleTest, WhoHasLostNothingIsKnownWhateverComesFirst) {
  Stream& one = add(3'000'000);
  Stream& other = add(3'000'000);
  Random random(1);
  std::vector<std::byte> out(kPacket);
  for (int i = 0; i < 10'000; ++i) {
    Stream& stream = random.chance(0.5) ? one : other;
    switch (random.below(4)) {
      case 0:
        schedule_.set_new(stream, random.chance(0.5));
        break;
      case 1:
        if (!stream.send.has_lost()) lose(stream, 200'000 + random.below(2) * 100'000, kPacket);
        break;
      case 2:
        if (!stream.send.has_lost()) break;
        stream.send.take(stream.send.first_lost().range.begin, out);
        schedule_.update_lost(stream);
        break;
      default:
        schedule_.join(stream, static_cast<schedule::ClassId>(random.below(2)), 1);
    }
    for (const Stream* each : {&one, &other}) {
      const auto is_whole = [&](const Stream& of) {
        return of.stream_class == each->stream_class && NewList::contains(of) &&
               !of.send.has_lost();
      };
      ASSERT_EQ(schedule_.whole_ones_wait(*each), is_whole(one) || is_whole(other)) << i;
    }
  }
}

TEST_F(StreamScheduleTest, LostFirstBytesComeBeforeOtherLostOnes) {
  Stream& bulk = add(3'000'000);
  Stream& other = add(200'000);
  lose(bulk, 200'000, 100'000);
  EXPECT_EQ(schedule_.next_lost(0), &bulk);
  lose(other, 1'400, 1'400);
  EXPECT_EQ(schedule_.next_lost(0), &other);
  lose(bulk, 0, 1'400);  // moves up, behind the other stream
  EXPECT_EQ(schedule_.next_lost(0), &other);
  send_packet();
  EXPECT_EQ(schedule_.next_lost(0), &bulk);
}

TEST_F(StreamScheduleTest, ShareFollowsTheLoss) {
  EXPECT_EQ(StreamSchedule::repair_share(0), 50);
  EXPECT_EQ(StreamSchedule::repair_share(0.01), 65);
  EXPECT_EQ(StreamSchedule::repair_share(0.9), 800);
}

TEST_F(StreamScheduleTest, ARemovedStreamIsNowhere) {
  Stream& stream = add(100'000);
  lose(stream, 0, 1'400);
  schedule_.remove(stream);
  EXPECT_EQ(schedule_.has_new(), 0U);
  EXPECT_EQ(schedule_.has_lost(), 0U);
  EXPECT_EQ(schedule_.next_new(0), nullptr);
}

}  // namespace
}  // namespace satrelay::stp::stream_schedule_test
