// The accounts of each host of the LAN, however many addresses a host makes up.
#include "relay/gateway/flows/hosts/lan_hosts.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "pep/base/random.h"

namespace satrelay::gateway::lan_hosts_test {
namespace {

IpAddress address(std::uint64_t number) {
  const std::string text = std::to_string(number % 250 + 1);
  return *IpAddress::parse(number % 2 == 0 ? "10.0.0." + text : "2001:db8::" + text);
}

TEST(HalfOfRest, AHostNeverHasMoreThanHalfOfWhatTheOthersLeave) {
  EXPECT_EQ(half_of_rest(16, 0), 8U);
  EXPECT_EQ(half_of_rest(12, 4), 4U);
  EXPECT_EQ(half_of_rest(8, 8), 0U);
  EXPECT_EQ(half_of_rest(2, 12), 0U) << "what it has is not taken back";
  EXPECT_EQ(half_of_rest(1, 0), 1U) << "a host that has nothing gets the last one";
  EXPECT_EQ(half_of_rest(0, 0), 0U);
  // Each host in turn takes half of what is left.
  std::uint64_t free = 1000, before = 1000;
  for (int host = 0; host < 8; ++host) {
    const std::uint64_t taken = half_of_rest(free, 0);
    EXPECT_EQ(taken, (before + 1) / 2);
    before = free -= taken;
  }
}

TEST(LanHosts, ForgetsAHostWithItsLastFlow) {
  LanHosts hosts(4, HashKey{1, 2});
  const IpAddress one = address(2), other = address(3);
  EXPECT_EQ(hosts.find(one), LanHosts::kNone);
  EXPECT_EQ(hosts.stored(LanHosts::kNone), 0U);
  const LanHosts::Index at = hosts.add_flow(one);
  EXPECT_EQ(hosts.add_flow(one), at);
  hosts[at].stored = 7;
  hosts.add_flow(other);
  EXPECT_EQ(hosts.size(), 2U);
  hosts.remove_flow(at);
  EXPECT_EQ(hosts.find(one), at);
  EXPECT_EQ(hosts.stored(at), 7U);
  hosts.remove_flow(at);
  EXPECT_EQ(hosts.find(one), LanHosts::kNone);
  EXPECT_EQ(hosts.size(), 1U);
  EXPECT_EQ(hosts[hosts.add_flow(one)].stored, 0U);
}

TEST(LanHosts, CountsFlowsOfEachHost) {
  constexpr std::uint32_t kFlows = 64;
  LanHosts hosts(kFlows, HashKey{1, 2});
  Random random(1);
  std::vector<IpAddress> flows;
  std::map<IpAddress, std::uint32_t> counted;
  for (int step = 0; step < 20'000; ++step) {
    if (flows.size() < kFlows && random.chance(0.5)) {
      flows.push_back(address(random.below(500)));
      ++counted[flows.back()];
      hosts.add_flow(flows.back());
    } else if (!flows.empty()) {
      std::swap(flows[random.below(flows.size())], flows.back());
      hosts.remove_flow(hosts.find(flows.back()));
      if (--counted[flows.back()] == 0) counted.erase(flows.back());
      flows.pop_back();
    }
    ASSERT_EQ(hosts.size(), counted.size());
    const IpAddress any = address(random.below(500));
    const LanHosts::Index at = hosts.find(any);
    ASSERT_EQ(at != LanHosts::kNone, counted.contains(any));
    if (at != LanHosts::kNone) {
      ASSERT_EQ(hosts[at].flows, counted[any]);
    }
  }
}

}  // namespace
}  // namespace satrelay::gateway::lan_hosts_test
