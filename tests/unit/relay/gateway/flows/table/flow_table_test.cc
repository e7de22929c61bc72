#include "relay/gateway/flows/table/flow_table.h"

#include <gtest/gtest.h>

#include <map>

#include "pep/base/random.h"

namespace satrelay::gateway::flow_table_test {
namespace {

FlowKey flow_number(std::uint64_t n) {
  FlowKey key;
  key.local = IpAddress::v4({10, 0, 0, static_cast<std::uint8_t>(n)});
  key.remote = IpAddress::v4({10, 1, 0, 1});
  key.local_port = static_cast<std::uint16_t>(n >> 8);
  return key;
}

TEST(FlowTable, AgreesWithAMapThroughRandomInsertionsAndErasures) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    constexpr std::uint32_t kMax = 200;
    FlowTable table(kMax, {random.next(), random.next()});
    std::map<std::uint64_t, std::uint32_t> model;
    std::map<std::uint32_t, std::uint64_t> by_slot;
    const auto find = [&](std::uint64_t n) {
      return table.find(table.hash(flow_number(n)),
                        [&](std::uint32_t slot) { return by_slot.at(slot) == n; });
    };
    for (int step = 0; step < 5000; ++step) {
      const std::uint64_t n = random.below(400);
      if (const auto known = model.find(n); known != model.end()) {
        table.erase(flow_number(n), known->second);
        by_slot.erase(known->second);
        model.erase(known);
      } else if (model.size() < kMax) {
        table.insert(flow_number(n), static_cast<std::uint32_t>(step));
        model[n] = static_cast<std::uint32_t>(step);
        by_slot[static_cast<std::uint32_t>(step)] = n;
      }
      const std::uint64_t probe = random.below(400);
      const auto expected = model.find(probe);
      ASSERT_EQ(find(probe), expected == model.end() ? kNoSlot : expected->second)
          << "seed " << seed << " step " << step;
    }
    for (const auto& [n, slot] : model) ASSERT_EQ(find(n), slot);
  }
}

}  // namespace
}  // namespace satrelay::gateway::flow_table_test
