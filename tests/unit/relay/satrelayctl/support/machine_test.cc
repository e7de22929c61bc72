#include "relay/satrelayctl/support/machine.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/unit/temporary_folder.h"

namespace satrelay::ctl::machine_test {
namespace {

namespace fs = std::filesystem;

class MachineTest : public testing::Test {
 protected:
  void put(const std::string& path, const std::string& text) const {
    fs::create_directories((root() / path).parent_path());
    std::ofstream(root() / path) << text;
  }
  const fs::path& root() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(MachineTest, DescribesProcessorNodesAndHugepages) {
  put("proc/cpuinfo",
      "processor\t: 0\nmodel name\t: Some CPU\nflags\t\t: fpu aes avx2 vme\n\n"
      "processor\t: 1\nmodel name\t: Other CPU\n");
  for (const char* cpu : {"0", "1", "2", "3"}) {
    const std::string topology = std::string("sys/devices/system/cpu/cpu") + cpu + "/topology/";
    put(topology + "physical_package_id", "0\n");
    put(topology + "core_id", *cpu < '2' ? "0\n" : "1\n");
  }
  fs::create_directories(root() / "sys/devices/system/cpu/cpufreq");
  put("sys/devices/system/cpu/isolated", "2-3\n");
  put("sys/devices/system/node/node0/cpulist", "0-3\n");
  put("sys/devices/system/node/node0/distance", "10\n");
  put("sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages", "512\n");
  put("sys/devices/system/node/node0/hugepages/hugepages-2048kB/free_hugepages", "500\n");
  put("proc/meminfo", "MemTotal:       24684092 kB\n");
  put("proc/cmdline", "quiet isolcpus=2-3 password=hello nohz_full=2-3\n");
  const std::string text = describe_machine(root());
  EXPECT_TRUE(has(text, "Some CPU") && !has(text, "Other CPU")) << text;
  EXPECT_TRUE(has(text, "sockets, cores, threads     1, 2, 4\n")) << text;
  EXPECT_TRUE(has(text, "isolated                    2-3\n")) << text;
  EXPECT_TRUE(has(text, "instructions                aes avx2\n")) << text;
  EXPECT_TRUE(has(text, "node0  cpus 0-3; distances 10\n")) << text;
  EXPECT_TRUE(has(text, "node0, 2048kB  512 pages, 500 free\n")) << text;
  EXPECT_TRUE(has(text, "24684092 kB")) << text;
  // Other kernel parameters may be secret, so the archive leaves them out.
  EXPECT_TRUE(has(text, "isolcpus=2-3 nohz_full=2-3\n") && !has(text, "hello")) << text;
}

TEST_F(MachineTest, DescribesInterfacesAndCards) {
  put("sys/class/net/lo/mtu", "65536\n");
  put("sys/class/net/bonding_masters", "\n");
  put("sys/class/net/eth10/mtu", "9000\n");
  put("sys/class/net/eth2/queues/rx-0/x", "");
  EXPECT_EQ(network_interfaces(root()), (std::vector<std::string>{"eth2", "eth10"}));
  EXPECT_TRUE(has(describe_interface(root(), "eth10"), "MTU             9000\n"));
  EXPECT_TRUE(has(describe_interface(root(), "eth2"), "queues in, out  1, 0\n"));
  put("sys/bus/pci/devices/0000:01:00.0/class", "0x020000\n");
  put("sys/bus/pci/devices/0000:01:00.0/vendor", "0x8086\n");
  fs::create_directory_symlink("../../drivers/vfio-pci",
                               root() / "sys/bus/pci/devices/0000:01:00.0/driver");
  put("sys/bus/pci/devices/0000:02:00.0/class", "0x010802\n");
  const std::string cards = describe_cards(root());
  EXPECT_TRUE(has(cards, "0000:01:00.0  vendor 0x8086, device -, driver vfio-pci, ")) << cards;
  EXPECT_FALSE(has(cards, "0000:02")) << "no network card: " << cards;
}

TEST_F(MachineTest, SaysWhichSystem) {
  EXPECT_EQ(operating_system(root()), "-");
  put("etc/os-release", "ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n");
  EXPECT_EQ(operating_system(root()), "Debian GNU/Linux 12 (bookworm)");
}

TEST_F(MachineTest, OneThatShowsNothingIsShown) {
  EXPECT_TRUE(has(describe_machine(root()), "model                       -\n"));
  EXPECT_TRUE(network_interfaces(root()).empty());
}

}  // namespace
}  // namespace satrelay::ctl::machine_test
