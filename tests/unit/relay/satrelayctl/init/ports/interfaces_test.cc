#include "relay/satrelayctl/init/ports/interfaces.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "tests/unit/temporary_folder.h"

namespace satrelay::ctl::init::interfaces_test {
namespace {

namespace fs = std::filesystem;

class Interfaces : public ::testing::Test {
 protected:
  void write(const std::string& file, const std::string& text) const {
    const fs::path path = root_.path() / file;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  void link(const std::string& file, const std::string& target) const {
    const fs::path path = root_.path() / file;
    fs::create_directories(path.parent_path());
    fs::create_symlink(target, path);
  }
  void add_interface(const std::string& name) const {
    const std::string folder = "sys/class/net/" + name + "/";
    write(folder + "mtu", "1500\n");
    write(folder + "operstate", "up\n");
    write(folder + "address", "02:00:00:00:00:01\n");
    write(folder + "speed", "-1\n");
  }

  TemporaryFolder root_;
};

TEST_F(Interfaces, AreReadFromTheKernel) {
  for (const char* name : {"lo", "eth0", "eth1"}) add_interface(name);
  write("proc/sys/kernel/hostname", "station\n");
  write("sys/class/net/eth1/speed", "10000\n");
  link("sys/class/net/eth1/master", "../br0");
  fs::create_directories(root_.path() / "sys/devices/0000:01:00.1");
  link("sys/class/net/eth1/device", "../../../devices/0000:01:00.1");
  link("sys/devices/0000:01:00.1/driver", "../ixgbe");
  write("sys/bus/pci/devices/0000:01:00.1/class", "0x020000\n");
  link("sys/bus/pci/devices/0000:01:00.1/driver", "../ixgbe");
  write("sys/bus/pci/devices/0000:02:00.0/class", "0x020000\n");
  link("sys/bus/pci/devices/0000:02:00.0/driver", "../vfio-pci");
  write("sys/bus/pci/devices/0000:03:00.0/class", "0x010000\n");
  const Machine machine = read_machine(root_.path(), {{"eth0", {"10.0.0.5"}}});
  EXPECT_EQ(machine.host_name, "station");
  ASSERT_EQ(machine.interfaces.size(), 2U);
  const Interface* const eth1 = machine.find("eth1");
  ASSERT_NE(eth1, nullptr);
  EXPECT_EQ(eth1->driver, "ixgbe");
  EXPECT_EQ(eth1->device, "0000:01:00.1");
  EXPECT_EQ(eth1->speed, "10000");
  EXPECT_EQ(eth1->master, "br0");
  EXPECT_EQ(eth1->mtu, 1500U);
  EXPECT_EQ(machine.find("eth0")->speed, "-");
  EXPECT_EQ(machine.find("eth0")->addresses, std::vector<std::string>{"10.0.0.5"});
  EXPECT_EQ(machine.find("lo"), nullptr);
  ASSERT_EQ(machine.cards.size(), 1U);
  EXPECT_TRUE(machine.has_card("0000:02:00.0"));
  EXPECT_EQ(machine.cards[0].driver, "vfio-pci");
}

TEST_F(Interfaces, ShowWhichOfThemTheMachineUses) {
  for (const char* name : {"eth0", "eth1", "eth2", "eth3", "eth4"}) add_interface(name);
  write("proc/net/route",
        "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\n"
        "eth0\t00000000\t0100000A\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"
        "eth1\t0000000A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n");
  const std::string zeros(32, '0');
  write("proc/net/ipv6_route", zeros + " 00 " + zeros + " 00 " + zeros +
                                   " 00000400 1 0 00000001 eth2\n" + zeros + " 00 " + zeros +
                                   " 00 " + zeros + " ffffffff 1 0 00200200 lo\n");
  // A session to 10.0.0.5, a listening socket, a session of another service, and a session to
  // 10.0.1.5 on a socket of IPv6.
  const std::string title = "  sl  local_address rem_address   st\n";
  write("proc/net/tcp", title +
                            "   0: 0500000A:0016 0100000A:C001 01\n"
                            "   1: 00000000:0016 00000000:0000 0A\n"
                            "   2: 0500020A:0050 0100000A:C001 01\n");
  write("proc/net/tcp6", title + "   0: 0000000000000000FFFF00000501000A:0016 0:C001 01\n");
  const Machine machine = read_machine(
      root_.path(), {{"eth0", {"10.0.0.5"}}, {"eth3", {"10.0.1.5"}}, {"eth4", {"10.0.2.5"}}});
  EXPECT_EQ(machine.find("eth0")->use(), "the default route and an ssh session");
  EXPECT_EQ(machine.find("eth1")->use(), "");
  EXPECT_EQ(machine.find("eth2")->use(), "the default route");
  EXPECT_EQ(machine.find("eth3")->use(), "an ssh session");
  EXPECT_FALSE(machine.find("eth4")->is_used());
}

TEST_F(Interfaces, AreUsedBelowABridgeThatIs) {
  for (const char* name : {"br0", "bond0", "eth0", "eth1", "eth2"}) add_interface(name);
  link("sys/class/net/eth0/upper_bond0", "../bond0");
  link("sys/class/net/bond0/upper_br0", "../br0");
  link("sys/class/net/eth1/upper_br1", "../br1");
  write("proc/net/route", "title\nbr0 00000000 0100000A 0003 0 0 0 00000000 0 0 0\n");
  const Machine machine = read_machine(root_.path(), {});
  for (const char* name : {"br0", "bond0", "eth0"}) {
    EXPECT_EQ(machine.find(name)->use(), "the default route") << name;
  }
  EXPECT_FALSE(machine.find("eth1")->is_used());
  EXPECT_FALSE(machine.find("eth2")->is_used());
}

TEST_F(Interfaces, MayBeMissing) {
  const Machine machine = read_machine(root_.path(), {});
  EXPECT_TRUE(machine.interfaces.empty());
  EXPECT_TRUE(machine.cards.empty());
}

}  // namespace
}  // namespace satrelay::ctl::init::interfaces_test
