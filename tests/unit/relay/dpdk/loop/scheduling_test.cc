#include "relay/dpdk/loop/scheduling.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace satrelay::dpdk::scheduling_test {
namespace {

TEST(Scheduling, AThreadRunsWhereItIsTold) {
  const std::vector<unsigned> before = own_cpus();
  ASSERT_FALSE(before.empty());
  std::vector<unsigned> told, refused;
  std::thread([&] {
    run_on({before.back()});
    told = own_cpus();
    run_on({});
    run_on({~0U});
    refused = own_cpus();
  }).join();
  EXPECT_EQ(told, std::vector{before.back()});
  EXPECT_EQ(refused, told) << "no CPU is among these";
  EXPECT_EQ(own_cpus(), before) << "that of another thread stays";
}

}  // namespace
}  // namespace satrelay::dpdk::scheduling_test
