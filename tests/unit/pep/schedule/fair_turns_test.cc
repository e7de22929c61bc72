#include "pep/schedule/fair_turns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>

namespace satrelay::schedule::fair_turns_test {
namespace {

constexpr std::int64_t kQuantum = 1'500;

struct One {
  char name = ' ';
  int packets = 0;  // waiting, each of `size` bytes
  std::int64_t size = kQuantum;
  std::int64_t deficit = 0;
  bool is_fresh = true;
  ListHook<One> hook;
  bool empty() const { return packets == 0; }
};

One named(char name) {
  One one;
  one.name = name;
  return one;
}

class FairTurnsTest : public testing::Test {
 protected:
  void add(One& one, int packets) {
    one.packets += packets;
    if (!FairTurns<One, &One::hook>::contains(one)) turns_.add(one, kQuantum);
  }
  // The names of the senders, one letter for each packet.
  std::string send(int packets) {
    std::string order;
    for (int i = 0; i < packets; ++i) {
      One* const one = turns_.next(kQuantum, [&](One& over) { forgotten_ += over.name; });
      if (one == nullptr) break;
      --one->packets;
      one->deficit -= one->size;
      order += one->name;
    }
    return order;
  }

  One a_ = named('a'), b_ = named('b'), c_ = named('c');
  FairTurns<One, &One::hook> turns_;
  std::string forgotten_;
};

TEST_F(FairTurnsTest, ThoseThatWaitTakeTurns) {
  add(a_, 3);
  add(b_, 3);
  EXPECT_EQ(send(6), "ababab");
}

TEST_F(FairTurnsTest, WhoBeginsGoesFirstOnce) {
  add(a_, 100);
  EXPECT_EQ(send(3), "aaa");
  add(c_, 50);
  EXPECT_EQ(send(1), "c");
  const std::string order = send(20);
  EXPECT_EQ(std::count(order.begin(), order.end(), 'a'), 10) << order;
}

TEST_F(FairTurnsTest, WhoIsNotFreshComesAfterAllOthers) {
  add(a_, 3);
  add(b_, 3);
  c_.packets = 3;
  turns_.add(c_, kQuantum, false);
  EXPECT_EQ(turns_.front(), &a_);
  EXPECT_EQ(send(6), "abcabc");
}

TEST_F(FairTurnsTest, WhoIsRemovedHasNoTurn) {
  add(a_, 3);
  add(b_, 2);
  turns_.remove(a_);
  EXPECT_EQ(send(3), "bb");
  EXPECT_EQ(turns_.front(), nullptr);
}

TEST_F(FairTurnsTest, TurnsAreOfBytesNotOfPackets) {
  a_.size = kQuantum / 3;
  add(a_, 30);
  add(b_, 10);
  const std::string order = send(20);
  EXPECT_EQ(std::count(order.begin(), order.end(), 'a'), 15);
}

TEST_F(FairTurnsTest, WhoHasNothingAnyMoreIsForgottenWhenItsTurnComes) {
  add(a_, 1);
  EXPECT_EQ(send(2), "a");
  EXPECT_EQ(forgotten_, "a");
  EXPECT_TRUE(turns_.empty());
}

// A sender that keeps running out of packets would otherwise always count as new, and so always
// send first.
TEST_F(FairTurnsTest, WhoRunsDryAgainAndAgainGetsNoMoreThanTheOthers) {
  add(b_, 1'000);
  int of_a = 0;
  for (int i = 0; i < 300; ++i) {
    if (a_.empty()) add(a_, 1);
    of_a += send(1) == "a" ? 1 : 0;
  }
  EXPECT_LE(of_a, 151);
  EXPECT_GE(of_a, 149);
}

}  // namespace
}  // namespace satrelay::schedule::fair_turns_test
