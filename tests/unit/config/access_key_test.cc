// Who may use the sockets: `access`.
#include <gtest/gtest.h>

#include <string>

#include "config/error.h"
#include "config/loader.h"

namespace satrelay::config {
namespace {

std::string with_access(const std::string& access) {
  return "ports: {lan: {interface: eth1}, wan: {interface: eth2}}\n"
         "gateway: {address: 192.0.2.1/30}\n"
         "peers: [{address: 192.0.2.2, security: none}]\n"
         "links: {sat: {send_rate: 50Mbit, receive_rate: 10Mbit}}\n"
         "access: {" +
         access + "}\n";
}

std::string error_of(const std::string& access) {
  try {
    parse_gateway(with_access(access), "g.yaml");
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "no error";
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
}  // namespace satrelay::config
