// `access`: which users and groups may use the sockets.
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/config/one_key.h"

namespace satrelay::config::read_access_test {
namespace {

std::string with_access(const std::string& access) { return with_line("access: {" + access + "}"); }

std::string error_of(const std::string& access) {
  return error_with_line("access: {" + access + "}");
}

TEST(AccessKey, IsTheOwnersUnlessSaid) {
  const Gateway config = parse_gateway(with_access(""), "g.yaml");
  EXPECT_EQ(config.stats_access.mode, 0600);
  EXPECT_EQ(config.control_access.mode, 0600);
  EXPECT_EQ(config.control_access.group, "");
}

TEST(AccessKey, AGroupMayBeLetInAndForFiguresEverybody) {
  const Gateway config =
      parse_gateway(with_access("stats: {mode: 0666}, control: {group: satops}"), "g.yaml");
  EXPECT_EQ(config.stats_access.mode, 0666);
  EXPECT_EQ(config.control_access.mode, 0660);
  EXPECT_EQ(config.control_access.group, "satops");
}

TEST(AccessKey, TheUserIsOneOfTheMachine) {
  EXPECT_EQ(parse_gateway(with_access(""), "g.yaml").user, "");
  EXPECT_EQ(parse_gateway(with_access("user: relay"), "g.yaml").user, "relay");
  EXPECT_EQ(error_of("user: [a]"),
            "g.yaml:5:16: access.user: is a list; write the name of a user of this machine, like "
            "satrelay");
}

TEST(AccessKey, WhatMakesNoSenseIsRefused) {
  EXPECT_EQ(error_of("control: {group: a, mode: 0666}"),
            "g.yaml:5:36: access.control.mode: \"0666\" is not a mode that makes sense here; write "
            "0600 or 0660");
  EXPECT_EQ(error_of("stats: {group: a, mode: 0600}"),
            "g.yaml:5:34: access.stats.mode: contradicts group, which could not use the socket; "
            "write 0660, or remove group");
  EXPECT_EQ(error_of("stats: {mode: 0660}"),
            "g.yaml:5:24: access.stats.mode: lets a group in; write which: group: NAME");
  EXPECT_NE(error_of("stats: {mode: 0777}"), "no error");
  EXPECT_NE(error_of("stats: {users: a}"), "no error");
}

}  // namespace
}  // namespace satrelay::config::read_access_test
