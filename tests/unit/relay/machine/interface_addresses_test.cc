#include "relay/machine/interface_addresses.h"

#include <gtest/gtest.h>

namespace satrelay::machine::interface_addresses_test {
namespace {

TEST(InterfaceAddresses, LeaveOutLinkLocalOnes) {
  const InterfaceAddresses addresses = addresses_of_interfaces();
  for (const auto& [name, of] : addresses) {
    for (const std::string& address : of) EXPECT_FALSE(address.starts_with("fe80")) << name;
  }
}

}  // namespace
}  // namespace satrelay::machine::interface_addresses_test
