// The key `journal`.
#include <gtest/gtest.h>

#include <string>

#include "config/readers/loader.h"
#include "config/text/error.h"

namespace satrelay::config::read_gateway_test {
namespace {

Gateway with_journal(const std::string& value) {
  return parse_gateway(
      "ports: {lan: {interface: eth1}, wan: {interface: eth2}}\n"
      "gateway: {address: 192.0.2.1/30}\n"
      "links: {sat: {send_rate: 50Mbit, receive_rate: 10Mbit}}\n"
      "peers: [{address: 192.0.2.2, security: none}]\n"
      "journal: " +
          value + "\n",
      "g.yaml");
}

TEST(JournalKey, IsAFileOrNone) {
  EXPECT_EQ(with_journal("/var/lib/satrelay/flows").journal, "/var/lib/satrelay/flows");
  EXPECT_EQ(with_journal("none").journal, kNoJournal);
  for (const char* path : {"flows", "/var/lib/satrelay/"}) {
    try {
      with_journal(path);
      ADD_FAILURE() << path;
    } catch (const ConfigError& error) {
      EXPECT_EQ(error.what(), "g.yaml:5:10: journal: \"" + std::string(path) +
                                  "\" is not the path of a file; write the absolute path of a file "
                                  "on a disk, like /var/lib/satrelay/flows, or none");
    }
  }
}

}  // namespace
}  // namespace satrelay::config::read_gateway_test
