#include "relay/dpdk/socket/large_send_kinds.h"

#include <gtest/gtest.h>

namespace satrelay::dpdk::large_send_kinds_test {
namespace {

using Kind = LargeSendKinds::Kind;
constexpr Kind kTcp{.is_tcp = true, .is_v4 = true, .tags = 0};
constexpr Kind kUdp{.is_tcp = false, .is_v4 = true, .tags = 0};

TEST(LargeSendKinds, AKernelWithoutAWordForItIsBelievedAtOnce) {
  LargeSendKinds kinds;
  EXPECT_GE(kinds.most(kUdp), 64U);
  kinds.on_unknown(kUdp);
  EXPECT_EQ(kinds.most(kUdp), 1U);
  EXPECT_GE(kinds.most(kTcp), 64U);
  EXPECT_GE(kinds.most({.is_tcp = false, .is_v4 = false, .tags = 0}), 64U);
  EXPECT_GE(kinds.most({.is_tcp = false, .is_v4 = true, .tags = 1}), 64U);
  // A running kernel does not learn new kinds.
  for (int i = 0; i < 4; ++i) kinds.on_sent(kUdp, LargeSendKinds::kTrial);
  EXPECT_EQ(kinds.most(kUdp), 1U);
  kinds.forget();
  EXPECT_GE(kinds.most(kUdp), 64U);
}

TEST(LargeSendKinds, ARefusalHalvesAndTimeDoubles) {
  LargeSendKinds kinds;
  kinds.on_refused(kTcp, 32);
  EXPECT_EQ(kinds.most(kTcp), 16U);
  kinds.on_refused(kTcp, 5);
  EXPECT_EQ(kinds.most(kTcp), 2U);
  kinds.on_refused(kTcp, 2);
  kinds.on_refused(kTcp, 2);
  EXPECT_EQ(kinds.most(kTcp), 1U);
  kinds.on_sent(kTcp, LargeSendKinds::kTrial - 1);
  EXPECT_EQ(kinds.most(kTcp), 1U);
  kinds.on_sent(kTcp, 1);
  EXPECT_EQ(kinds.most(kTcp), 2U);
  for (int i = 0; i < 20; ++i) kinds.on_sent(kTcp, LargeSendKinds::kTrial);
  EXPECT_GE(kinds.most(kTcp), 64U);
}

}  // namespace
}  // namespace satrelay::dpdk::large_send_kinds_test
