#include "relay/dpdk/large_send_kinds.h"

#include <gtest/gtest.h>

namespace satrelay::dpdk {
namespace {

using Kind = LargeSendKinds::Kind;
constexpr Kind kTcp{.is_tcp = true, .is_v4 = true, .tags = 0};
constexpr Kind kUdp{.is_tcp = false, .is_v4 = true, .tags = 0};

TEST(LargeSendKinds, AKernelWithoutAWordForItIsBelievedAtOnce) {
  LargeSendKinds kinds;
  EXPECT_TRUE(kinds.takes(kUdp));
  kinds.on_unknown(kUdp);
  EXPECT_FALSE(kinds.takes(kUdp));
  EXPECT_TRUE(kinds.takes(kTcp));
  EXPECT_TRUE(kinds.takes({.is_tcp = false, .is_v4 = false, .tags = 0}));
  EXPECT_TRUE(kinds.takes({.is_tcp = false, .is_v4 = true, .tags = 1}));
}

TEST(LargeSendKinds, ADeviceThatDropsEachIsBelievedAfterAWhile) {
  LargeSendKinds kinds;
  for (int i = 0; i < LargeSendKinds::kPatience; ++i) {
    EXPECT_TRUE(kinds.takes(kTcp));
    kinds.on_dropped(kTcp);
  }
  EXPECT_FALSE(kinds.takes(kTcp));
  // Another interface may be able to.
  kinds.forget();
  EXPECT_TRUE(kinds.takes(kTcp));
}

TEST(LargeSendKinds, OneThatTookOneIsMerelyBusy) {
  LargeSendKinds kinds;
  kinds.on_dropped(kTcp);
  kinds.on_taken(kTcp);
  for (int i = 0; i < 100; ++i) kinds.on_dropped(kTcp);
  EXPECT_TRUE(kinds.takes(kTcp));
  EXPECT_TRUE(kinds.is_proven(kTcp));
}

}  // namespace
}  // namespace satrelay::dpdk
