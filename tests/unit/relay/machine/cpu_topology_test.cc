#include "relay/machine/cpu_topology.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace satrelay::machine::cpu_topology_test {
namespace {

using Cpus = std::set<unsigned>;

TEST(CpuTopology, ReadsTheKernelsLists) {
  EXPECT_EQ(parse_cpu_list("0-3,8"), (Cpus{0, 1, 2, 3, 8}));
  EXPECT_EQ(parse_cpu_list("5"), Cpus{5});
  EXPECT_EQ(parse_cpu_list(""), Cpus{});
}

TEST(CpuTopology, LeavesOutWhatIsNoList) {
  EXPECT_EQ(parse_cpu_list("(null)"), Cpus{});
  EXPECT_EQ(parse_cpu_list("1,,x,3-,-4,7-6,9"), (Cpus{1, 9}));
  EXPECT_EQ(parse_cpu_list("0-4294967295"), Cpus{}) << "no machine has so many";
}

class SysTest : public testing::Test {
 protected:
  SysTest() {
    std::string name = testing::TempDir() + "cpu-topology-XXXXXX";
    root_ = ::mkdtemp(name.data());
  }
  ~SysTest() override { std::filesystem::remove_all(root_); }
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text << '\n';
  }
  std::filesystem::path root_;
};

TEST_F(SysTest, KnowsNodesAndIsolation) {
  write("cpu/isolated", "2-3");
  write("cpu/nohz_full", "3");
  write("node/node0/cpulist", "0-1");
  write("node/node1/cpulist", "2-3");
  write("node/possible", "0-1");
  const CpuTopology topology = read_cpu_topology(root_);
  EXPECT_EQ(topology.node_of(1), 0);
  EXPECT_EQ(topology.node_of(3), 1);
  EXPECT_EQ(topology.node_of(4), -1);
  EXPECT_EQ(topology.cpus_of(1), (Cpus{2, 3}));
  EXPECT_TRUE(topology.has_several_nodes());
  EXPECT_EQ(topology.isolated, (Cpus{2, 3}));
  EXPECT_EQ(topology.tickless, Cpus{3});
}

TEST_F(SysTest, AMachineThatTellsNothingIsUnknown) {
  const CpuTopology topology = read_cpu_topology(root_);
  EXPECT_EQ(topology.node_of(0), -1);
  EXPECT_FALSE(topology.has_several_nodes());
  EXPECT_TRUE(topology.isolated.empty());
}

}  // namespace
}  // namespace satrelay::machine::cpu_topology_test
