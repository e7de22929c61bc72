// An interface that goes down, is renamed, vanishes and comes back.
#include "relay/dpdk/socket/interface_watch.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace satrelay::dpdk::interface_watch_test {
namespace {

using Next = InterfaceWatch::Next;

InterfaceView present(const std::string& name = "lan0") {
  InterfaceView view;
  view.name = name;
  return view;
}
InterfaceView absent() {
  InterfaceView view;
  view.is_there = view.is_enabled = view.is_running = false;
  return view;
}
InterfaceView successor(std::vector<std::string> objections = {}) {
  InterfaceView view = absent();
  view.has_successor = true;
  view.objections = std::move(objections);
  return view;
}

class InterfaceWatchTest : public ::testing::Test {
 protected:
  Next look(const InterfaceView& view) { return watch_.look(view, now_); }
  void wait(Duration length) { now_ += length; }
  // The changes since the last call, in words: "down lan0 has no carrier".
  std::string told() {
    constexpr const char* kWords[] = {"up", "down", "gone", "returned", "renamed", "unfit"};
    std::string text;
    for (const PortChange& change : watch_.take_changes()) {
      text += (text.empty() ? "" : "; ") +
              std::string(kWords[static_cast<std::size_t>(change.kind)]) + ' ' + change.detail;
    }
    return text;
  }
  Instant now_ = Instant() + Duration::seconds(100);
  InterfaceWatch watch_{"lan0"};
};

TEST_F(InterfaceWatchTest, TellsOfItsCarrierOnce) {
  look(present());
  EXPECT_EQ(told(), "");
  InterfaceView view = present();
  view.is_running = false;
  look(view);
  look(view);
  EXPECT_EQ(told(), "down lan0 has no carrier");
  look(present());
  EXPECT_EQ(told(), "up lan0");
  view.is_enabled = false;
  look(view);
  EXPECT_EQ(told(), "down lan0 is switched off");
  EXPECT_FALSE(watch_.is_gone());
}

TEST_F(InterfaceWatchTest, AnInterfaceThatIsDownFromTheStartIsTold) {
  InterfaceView view = present();
  view.is_running = false;
  look(view);
  EXPECT_EQ(told(), "down lan0 has no carrier");
}

TEST_F(InterfaceWatchTest, ARenamedOneStaysTheSame) {
  look(present());
  EXPECT_EQ(look(present("lan9")), Next::kNothing);
  EXPECT_EQ(told(), "renamed lan0 is now lan9");
  look(present("lan9"));
  EXPECT_EQ(told(), "");
}

TEST_F(InterfaceWatchTest, ASuccessorIsBound) {
  look(present());
  EXPECT_EQ(look(absent()), Next::kNothing);
  EXPECT_EQ(told(), "gone lan0");
  EXPECT_TRUE(watch_.is_gone());
  wait(Duration::seconds(1000));
  EXPECT_EQ(look(absent()), Next::kNothing);
  EXPECT_FALSE(watch_.needs_new_start());
  EXPECT_EQ(look(successor()), Next::kBind);
  watch_.bound();
  EXPECT_FALSE(watch_.is_gone());
  look(present());
  EXPECT_EQ(told(), "returned lan0; up lan0");
}

TEST_F(InterfaceWatchTest, OneThatVanishesAgainIsToldAgain) {
  look(present());
  look(successor());
  watch_.bound();
  look(absent());
  EXPECT_EQ(told(), "gone lan0; returned lan0; gone lan0");
}

TEST_F(InterfaceWatchTest, ASuccessorMayTakeItsTimeToBecomeFit) {
  look(present());
  EXPECT_EQ(look(successor({"is down"})), Next::kNothing);
  wait(InterfaceWatch::kPatience - Duration::milliseconds(1));
  EXPECT_EQ(look(successor({"is down"})), Next::kNothing);
  EXPECT_FALSE(watch_.needs_new_start());
  EXPECT_EQ(look(successor()), Next::kBind);
}

TEST_F(InterfaceWatchTest, ASuccessorThatStaysUnfitNeedsANewStart) {
  look(present());
  look(successor({"is down", "has an MTU of 1400"}));
  wait(InterfaceWatch::kPatience);
  EXPECT_EQ(look(successor({"is down", "has an MTU of 1400"})), Next::kNothing);
  EXPECT_EQ(told(), "gone lan0; unfit lan0 is down, has an MTU of 1400");
  EXPECT_TRUE(watch_.needs_new_start());
  EXPECT_TRUE(watch_.is_gone());
  EXPECT_EQ(look(successor()), Next::kNothing);
  EXPECT_EQ(told(), "");
}

TEST_F(InterfaceWatchTest, ASuccessorThatVanishesTooIsForgotten) {
  look(present());
  look(successor({"is down"}));
  wait(Duration::seconds(2));
  look(absent());
  wait(Duration::seconds(2));
  look(successor({"is down"}));
  EXPECT_FALSE(watch_.needs_new_start());
}

TEST_F(InterfaceWatchTest, WhatCannotBeBoundNeedsANewStart) {
  look(present());
  for (int second = 0; second <= 3; ++second) {
    EXPECT_FALSE(watch_.needs_new_start());
    EXPECT_EQ(look(successor()), Next::kBind);
    watch_.could_not_bind("cannot be bound: No such device", now_);
    wait(Duration::seconds(1));
  }
  EXPECT_TRUE(watch_.needs_new_start());
}

}  // namespace
}  // namespace satrelay::dpdk::interface_watch_test
