// Warnings about values that are allowed but seldom meant, and notes. Each names its place in the
// file.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "config/readers/loader.h"
#include "tests/unit/temporary_folder.h"

namespace satrelay::config::validation_test {
namespace {

Gateway load(const std::string& more) {
  return parse_gateway(
      "ports: {lan: {interface: eth1}, wan: {interface: eth2}}\n"
      "gateway: {address: 192.0.2.1/30}\n"
      "links: {sat: {send_rate: 50Mbit, receive_rate: 50Mbit}}\n"
      "peers: [{address: 192.0.2.2, security: none}]\n" +
          more,
      "g.yaml");
}

// RFC 5382, REQ-5.
TEST(Warnings, AnIdleTimeoutThatResetsWhatHostsKeepAlive) {
  EXPECT_EQ(load("").limits.idle_timeout, Duration::seconds(124 * 60));
  EXPECT_TRUE(load("").remarks.warnings.empty());
  EXPECT_TRUE(load("limits: {idle_timeout: 124min}\n").remarks.warnings.empty());
  EXPECT_EQ(load("limits: {idle_timeout: 2h}\n").remarks.warnings,
            std::vector<std::string>{
                "g.yaml:5:24: limits.idle_timeout: is shorter than the two hours after which hosts "
                "ask for each other (keep-alive): silent connections that they keep are reset; "
                "write 124min or more unless that is wanted"});
}

TEST(Warnings, AFileOfRecordsThatCannotBeMade) {
  const TemporaryFolder folder;
  const auto told = [&](const std::string& file) {
    return load("records: {file: " + folder.file(file) + "}\n").remarks.warnings;
  };
  EXPECT_TRUE(told("flows").empty());
  EXPECT_EQ(
      told("later/flows"),
      std::vector<std::string>{"g.yaml:5:17: records.file: there is no folder " +
                               folder.file("later") + " now; records are lost until there is one"});
  std::filesystem::create_directory(folder.file("later"));
  EXPECT_EQ(told("later"), std::vector<std::string>{
                               "g.yaml:5:17: records.file: is a folder; write the path of a file"});
}

TEST(Warnings, ReportsThatTakeMuchOfTheLink) {
  EXPECT_TRUE(load("stp: {feedback: {budget: 2500kbit}}\n").remarks.warnings.empty());
  EXPECT_EQ(load("stp: {feedback: {budget: 3Mbit}}\n").remarks.warnings,
            std::vector<std::string>{
                "g.yaml:5:26: stp.feedback.budget: is more than 5% of what links.sat sends: "
                "reports may take what its hosts need; write 2500kbit or less, or leave it out"});
}

TEST(Notes, SayWhatAGatewayFindsAndPlansFor) {
  EXPECT_TRUE(load("").remarks.notes.empty());
  const auto notes = [](const std::string& link) {
    return parse_gateway(
               "ports: {lan: {interface: eth1}, wan: {interface: eth2}}\n"
               "gateway: {address: 192.0.2.1/30}\n"
               "links: {sat: " +
                   link + "}\npeers: [{address: 192.0.2.2, security: none}]\n",
               "g.yaml")
        .remarks.notes;
  };
  EXPECT_EQ(notes("{capacity: find}"),
            std::vector<std::string>{
                "g.yaml:3:25: links.sat.capacity: the gateway finds what it can send here, without "
                "a ceiling (send_rate); memory is planned for 500Mbit out and 500Mbit in: "
                "send_rate, receive_rate or limits.memory change that"});
  EXPECT_EQ(notes("{capacity: find, send_rate: 60Mbit, receive_rate: 8Mbit}"),
            std::vector<std::string>{
                "g.yaml:3:25: links.sat.capacity: the gateway finds what it can send here, up to "
                "60Mbit; memory is planned for 60Mbit out and 8Mbit in: send_rate, receive_rate "
                "or limits.memory change that"});
}

TEST(Warnings, MoreFlowsThanTheMemoryServes) {
  EXPECT_EQ(load("").limits.flows, 65'536U);
  EXPECT_EQ(load("limits: {memory: 64MiB}\n").limits.flows, 16'384U);
  EXPECT_EQ(load("limits: {memory: 10GiB}\n").limits.flows, 65'536U);
  EXPECT_TRUE(load("limits: {memory: 64MiB}\n").remarks.warnings.empty());
  EXPECT_TRUE(load("limits: {memory: 64MiB, flows: 16384}\n").remarks.warnings.empty());
  EXPECT_EQ(load("limits: {memory: 64MiB, flows: 16385}\n").remarks.warnings,
            std::vector<std::string>{
                "g.yaml:5:32: limits.flows: is more than limits.memory serves: with 64MiB some "
                "16384 flows, at 4KiB each; the rest are bridged"});
}

}  // namespace
}  // namespace satrelay::config::validation_test
