#include "relay/satpanel/http/forwarding.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

namespace satrelay::panel::forwarding_test {
namespace {

using Texts = std::vector<std::string>;

// Returns the address, or "" if the headers are refused.
std::string address_of(const Texts& addresses) {
  const auto client = read_forwarding(addresses, {});
  return client ? client->address : "";
}

TEST(Forwarding, TakesTheAddressThatTheWebServerNames) {
  EXPECT_EQ(address_of({"192.0.2.7"}), "192.0.2.7");
  EXPECT_EQ(address_of({"2001:db8::7"}), "2001:db8::7");
  // The same address in another spelling is the same client.
  EXPECT_EQ(address_of({"2001:0DB8:0:0::7"}), "2001:db8::7");
}

TEST(Forwarding, TakesAMappedAddressAsIpv4) {
  EXPECT_EQ(address_of({"::ffff:192.0.2.7"}), "192.0.2.7");
  EXPECT_EQ(address_of({"::1"}), "::1");
}

TEST(Forwarding, WithoutHeadersAClientIsLocalAndItsConnectionIsPlain) {
  const auto client = read_forwarding({}, {});
  ASSERT_TRUE(client);
  EXPECT_EQ(client->address, kLocalClient);
  EXPECT_FALSE(client->is_https);
}

TEST(Forwarding, RefusesEverythingElseThanOneAddress) {
  for (const char* wrong :
       {"", " ", "192.0.2.7, 198.51.100.1", "192.0.2.7 ", "192.0.2", "192.0.2.256", "192.0.2.7:80",
        "[2001:db8::7]", "fe80::7%eth0", "unix:", "localhost", "192.0.2.7\r\nX: y"}) {
    EXPECT_EQ(address_of({wrong}), "") << wrong;
  }
  EXPECT_EQ(address_of({std::string("192.0.2.7\0.example", 18)}), "");
}

TEST(Forwarding, RefusesAHeaderThatIsThereTwice) {
  EXPECT_EQ(address_of({"192.0.2.7", "198.51.100.1"}), "");
  EXPECT_EQ(address_of({"192.0.2.7", "192.0.2.7"}), "") << "also if both say the same";
  EXPECT_FALSE(read_forwarding({}, Texts{"https", "https"}));
}

TEST(Forwarding, KnowsWhetherTheConnectionIsEncrypted) {
  const Texts address{"192.0.2.7"};
  EXPECT_TRUE(read_forwarding(address, Texts{"https"}).value().is_https);
  EXPECT_FALSE(read_forwarding(address, Texts{"http"}).value().is_https);
  for (const char* wrong : {"", "HTTPS", "https,http", "wss"}) {
    EXPECT_FALSE(read_forwarding(address, Texts{wrong})) << wrong;
  }
}

}  // namespace
}  // namespace satrelay::panel::forwarding_test
