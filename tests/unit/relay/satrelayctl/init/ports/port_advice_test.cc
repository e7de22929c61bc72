#include "relay/satrelayctl/init/ports/port_advice.h"

#include <gtest/gtest.h>

#include "relay/text/table.h"
#include "tests/unit/relay/satrelayctl/init/sample_setting.h"

namespace satrelay::ctl::init::port_advice_test {
namespace {

TEST(PortAdvice, TakesTheSegmentWithMostHostsForTheLan) {
  Machine machine = sample_machine();
  machine.interfaces.pop_back();
  EXPECT_EQ(advise_ports(machine).reason, "");
  machine.interfaces[0].traffic = Traffic{.frames = 90, .near = 90};
  machine.interfaces[1].traffic = Traffic{.frames = 90, .near = 1};
  machine.interfaces[2].traffic = Traffic{.frames = 10, .near = 2};
  const PortAdvice advice = advise_ports(machine);
  EXPECT_EQ(advice.lan, "eth2");
  EXPECT_EQ(advice.wan, "eth1");
  EXPECT_EQ(advice.reason, "eth2 looks like the LAN: 2 hosts on its segment.");
  // Both have as many hosts.
  machine.interfaces[1].traffic->near = 2;
  EXPECT_EQ(advise_ports(machine).lan, "");
}

TEST(PortAdvice, TakesThePortOfAnotherGatewayForTheWan) {
  Machine machine = sample_machine();
  machine.interfaces[1].traffic = Traffic{.frames = 90, .stp = 4, .near = 9};
  machine.interfaces[2].traffic = Traffic{};
  const PortAdvice advice = advise_ports(machine);
  EXPECT_EQ(advice.wan, "eth1");
  EXPECT_EQ(advice.lan, "eth2");
  EXPECT_EQ(advice.reason, "eth1 looks like the WAN: packets of another gateway arrive there.");
}

TEST(PortTable, HasEachInterfaceAndCard) {
  Machine machine = sample_machine();
  machine.interfaces[1].traffic = Traffic{.frames = 90, .tcp = 7, .stp = 4, .near = 9, .far = 3};
  machine.interfaces[2].state = "lowerlayerdown";
  machine.interfaces[2].master = "br0";
  machine.interfaces[2].driver = "-";
  const std::string table = port_table(machine, text::kAnyWidth);
  EXPECT_EQ(
      table,
      "interface  link        frames  near  far  TCP  STP  used by\n"
      "eth0       up               -     -    -    -    -  the default route and an ssh session, "
      "10.0.0.5\n"
      "eth1       up              90     9    3    7    4  -\n"
      "eth2       no carrier       -     -    -    -    -  in br0\n"
      "eth3       up               -     -    -    -    -  -\n"
      "\n"
      "interface     Mbit/s   MTU  MAC                driver\n"
      "eth0           10000  1500  02:00:00:00:00:01  veth\n"
      "eth1           10000  1500  02:00:00:00:00:01  veth\n"
      "eth2           10000  1500  02:00:00:00:00:01  -\n"
      "eth3           10000   300  02:00:00:00:00:01  veth\n"
      "0000:01:00.0       -     -  -                  vfio-pci\n");
}

}  // namespace
}  // namespace satrelay::ctl::init::port_advice_test
