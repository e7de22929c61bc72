// Real interfaces in a network namespace of their own. Without the right to one, the tests are
// skipped.
#include "relay/machine/interface_facts.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>
#include <functional>
#include <thread>

namespace satrelay::machine::interface_facts_test {
namespace {

// Runs in a thread, whose namespace ends with it.
void with_a_cable(const std::function<void()>& run) {
  bool allowed = false;
  std::thread([&] {
    allowed = ::unshare(CLONE_NEWNET) == 0;
    if (!allowed) return;
    ASSERT_EQ(std::system("ip link add near type veth peer name far && ip link set near up"), 0);
    run();
  }).join();
  if (!allowed) GTEST_SKIP() << "no right to a network namespace";
}

TEST(InterfaceFacts, SeesACarrierAndAnMtu) {
  with_a_cable([] {
    const InterfaceFacts before = read_interface("near");
    EXPECT_TRUE(before.exists);
    EXPECT_TRUE(before.is_enabled);
    EXPECT_FALSE(before.is_running) << "the other end is off";
    ASSERT_EQ(std::system("ip link set far up && ip link set near mtu 1400"), 0);
    const InterfaceFacts after = read_interface("near");
    EXPECT_TRUE(after.is_running);
    EXPECT_EQ(after.mtu, 1400U);
    EXPECT_GT(after.megabits, 0U);
    EXPECT_FALSE(after.is_half_duplex);
    EXPECT_EQ(after.foreign_master, "");
    EXPECT_FALSE(after.is_in_wire_bridge);
  });
}

TEST(InterfaceFacts, NamesTheBridgeOfAnotherProgram) {
  with_a_cable([] {
    ASSERT_EQ(std::system("ip link add br0 type bridge && ip link set near master br0"), 0);
    EXPECT_EQ(read_interface("near").foreign_master, "bridge br0");
    EXPECT_FALSE(read_interface("near").is_in_wire_bridge);
  });
}

TEST(InterfaceFacts, SayThatAnInterfaceIsNotThere) {
  EXPECT_FALSE(read_interface("no-such-if0").exists);
}

}  // namespace
}  // namespace satrelay::machine::interface_facts_test
