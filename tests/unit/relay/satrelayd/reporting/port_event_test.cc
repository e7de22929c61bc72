#include "relay/satrelayd/reporting/port_event.h"

#include <gtest/gtest.h>

namespace satrelay::satrelayd::port_event_test {
namespace {

using dpdk::PortChangeKind;

TEST(PortEvent, EachChangeOfADeviceIsOne) {
  EXPECT_EQ(ops::to_line(event_of("lan", {PortChangeKind::kDown, "lan0 has no carrier"})),
            "port lan: link down, nothing passes (lan0 has no carrier); check the cable and the "
            "device at its other end [port_down]");
  EXPECT_EQ(ops::to_line(event_of("wan", {PortChangeKind::kReturned, "wan0"})),
            "port wan: its device is back (wan0) [port_returned]");
  for (const auto& [kind, name] : {std::pair{PortChangeKind::kUp, "port_up"},
                                   {PortChangeKind::kGone, "port_gone"},
                                   {PortChangeKind::kRenamed, "port_renamed"},
                                   {PortChangeKind::kUnfit, "port_unfit"}}) {
    EXPECT_EQ(ops::describe(event_of("lan", {kind, ""}).kind).name, name);
  }
}

}  // namespace
}  // namespace satrelay::satrelayd::port_event_test
