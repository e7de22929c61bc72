// Flows that wait for their host, found by the host's address.
#include "relay/gateway/flows/hosts/unconfirmed_flows.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/unit/relay/gateway/frame_builder.h"

namespace satrelay::gateway::unconfirmed_flows_test {
namespace {

class UnconfirmedFlowsTest : public testing::Test {
 protected:
  // The slots of the flows that wait for the host.
  std::set<std::uint32_t> found(const IpAddress& host) const {
    std::set<std::uint32_t> slots;
    for (std::uint32_t slot = flows_.first(host, header_); slot != kNoSlot;
         slot = flows_.next(slot)) {
      slots.insert(slot);
    }
    return slots;
  }
  const IpAddress one_ = ip_of("203.0.113.5");
  const IpAddress other_ = ip_of("203.0.113.6");
  const wire::EthernetHeader header_ = host_to_server();
  UnconfirmedFlows flows_{8, HashKey{1, 2}};
};

TEST_F(UnconfirmedFlowsTest, AllOfAHostAreFoundUntilTheyAreRemoved) {
  EXPECT_TRUE(found(one_).empty());
  flows_.add(3, one_, header_);
  flows_.add(5, one_, header_);
  EXPECT_EQ(found(one_), (std::set<std::uint32_t>{3, 5}));
  flows_.remove(3);
  flows_.remove(3);
  flows_.remove(7);
  EXPECT_EQ(found(one_), (std::set<std::uint32_t>{5}));
}

TEST_F(UnconfirmedFlowsTest, TheMacsOfTheHeaderDoNotMatter) {
  wire::EthernetHeader towards = header_.reversed();
  flows_.add(3, one_, towards);
  EXPECT_EQ(found(one_), (std::set<std::uint32_t>{3}));
}

TEST_F(UnconfirmedFlowsTest, AHostIsPutOffOnceAndInItsOrder) {
  using Deferred = UnconfirmedFlows::Deferred;
  EXPECT_FALSE(flows_.any_deferred());
  EXPECT_FALSE(flows_.take_deferred());
  flows_.defer(one_, 3);
  flows_.defer(other_, 4);
  flows_.defer(one_, 5);
  EXPECT_TRUE(flows_.any_deferred());
  EXPECT_EQ(flows_.take_deferred(), (Deferred{one_, 3}));
  EXPECT_EQ(flows_.take_deferred(), (Deferred{other_, 4}));
  EXPECT_FALSE(flows_.any_deferred());
}

TEST_F(UnconfirmedFlowsTest, WhatWasPutOffGoesOnWhereItWasLeft) {
  for (const std::uint32_t slot : {1U, 2U, 3U}) flows_.add(slot, one_, header_);
  EXPECT_EQ(flows_.first(one_, header_), 3U);
  EXPECT_EQ(flows_.go_on(1, one_, header_), 1U) << "not from the first";
  flows_.remove(1);
  EXPECT_EQ(flows_.go_on(1, one_, header_), 3U) << "there no more";
  // A flow of another host has the slot now, in another chain.
  IpAddress elsewhere = other_;
  for (int i = 7; flows_.first(elsewhere, header_) != kNoSlot; ++i) {
    elsewhere = ip_of("203.0.113." + std::to_string(i));
  }
  flows_.add(1, elsewhere, header_);
  EXPECT_EQ(flows_.go_on(1, one_, header_), 3U);
}

}  // namespace
}  // namespace satrelay::gateway::unconfirmed_flows_test
