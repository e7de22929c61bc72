// Which keys a reload may change, and which need a restart.
#include "config/checks/changes.h"

#include <gtest/gtest.h>

namespace satrelay::config::changes_test {
namespace {

Gateway sample() {
  Gateway gateway;
  gateway.lan.interface = "lan0";
  gateway.links = {{.name = "sat",
                    .send_rate = BitRate::bits_per_second(50'000'000),
                    .receive_rate = BitRate::bits_per_second(50'000'000)}};
  gateway.peers = {
      {.name = "far", .address = *IpAddress::parse("192.0.2.2"), .prefixes = {}, .link = "sat"}};
  return gateway;
}

using Keys = std::vector<std::string>;

TEST(Changes, RulesTimeoutsLogTcpAndALowerRateAreTakenOver) {
  const Gateway started = sample();
  Gateway next = started;
  EXPECT_EQ(needs_restart(started, next), Keys{});
  next.rules.emplace_back().action = Action::kBridge;
  next.classes.push_back({.name = "bulk", .weight = 2});
  next.limits.idle_timeout = Duration::seconds(5);
  next.limits.half_close_timeout = Duration::seconds(5);
  next.limits.half_open = 7;
  next.stp.give_up_after = Duration::seconds(60);
  next.tcp.ecn = false;
  next.tcp.congestion = Congestion::kNewReno;
  next.log_level = LogLevel::kDebug;
  next.links[0].bridged_queue = Duration::seconds(1);
  next.links[0].send_rate = BitRate::bits_per_second(20'000'000);
  EXPECT_EQ(needs_restart(started, next), Keys{});
}

TEST(Changes, ACeilingMayComeAndGoAsLongAsMemoryWasPlannedForIt) {
  Gateway started = sample();
  started.links[0].control.controller = Controller::kFind;
  Gateway without = started;
  without.links[0].send_rate = kMostLinkRate;
  EXPECT_EQ(needs_restart(without, started), Keys{});
  EXPECT_EQ(needs_restart(started, without), Keys{"links.sat.send_rate (above the start's)"});
  EXPECT_EQ(needs_restart(sample(), started),
            Keys{"links.sat.capacity, controller and its parameters"});
}

TEST(Changes, AllElseIsNamed) {
  const Gateway started = sample();
  Gateway next = started;
  next.lan.interface = "lan1";
  next.links[0].send_rate = BitRate::bits_per_second(50'000'001);
  next.links[0].bridged_share = 0.2;
  next.peers[0].name = "other";
  next.stp.mtu = 1400;
  next.limits.flows = 1;
  next.limits.time_wait = 1;
  next.worker.cpus = {1};
  next.journal = "/var/lib/flows";
  next.records.keep = 3;
  EXPECT_EQ(needs_restart(started, next),
            (Keys{"ports.lan", "links.sat.send_rate (above the start's)", "links.sat.bridged_share",
                  "peers", "stp.mtu", "limits.flows", "limits.time_wait", "worker", "journal",
                  "records"}));
  next = started;
  next.wan.large_frames = false;
  EXPECT_EQ(needs_restart(started, next), Keys{"ports.wan"});
  next = started;
  next.links.clear();
  EXPECT_EQ(needs_restart(started, next), Keys{"links (one was added or removed)"});
}

TEST(Changes, WhatAReloadChangesIsNamed) {
  Gateway before = sample();
  before.peers[0].security.keys.emplace();
  before.classes = {{.name = "bulk", .dictionary = {std::byte{1}}}};
  before.rules.emplace_back().name = "web";
  before.rules[0].match.port = {{80, 80}, {8000, 8080}};
  using Changed = std::vector<ChangedKey>;
  EXPECT_EQ(Changeable(before).changes_since(Changeable(before)), Changed{});
  const auto changed = [&](const auto& change) {
    Gateway next = before;
    change(next);
    return Changeable(next).changes_since(Changeable(before));
  };
  EXPECT_EQ(changed([](Gateway& next) { next.rules.emplace_back().action = Action::kBridge; }),
            (Changed{{"rules", "1 rule", "2 rules: bridge"}}));
  EXPECT_EQ(changed([](Gateway& next) { next.rules.clear(); }),
            (Changed{{"rules", "1 rule: accelerate port=80,8000-8080", "0 rules"}}));
  EXPECT_EQ(changed([](Gateway& next) {
              next.rules[0].compress = Compress::kOff;
              next.rules[0].modes.ack = AckMode::kEndToEnd;
              next.rules[0].match.port.clear();
            }),
            (Changed{{"rules.web.match", "port=80,8000-8080", "any"},
                     {"rules.web.compress", "auto", "off"},
                     {"rules.web.ack", "local", "end-to-end"}}));
  EXPECT_EQ(
      changed([](Gateway& next) {
        next.classes[0].weight = 2;
        next.classes[0].maximum = BitRate::bits_per_second(5'000'000);
      }),
      (Changed{{"classes.bulk.weight", "1", "2"}, {"classes.bulk.maximum", "none", "5Mbit"}}));
  EXPECT_EQ(changed([](Gateway& next) { next.classes[0].name = "other"; }),
            (Changed{{"classes.bulk", "there", "none"}, {"classes.other", "none", "there"}}));
  EXPECT_EQ(changed([](Gateway& next) { next.classes[0].dictionary[0] = std::byte{2}; }),
            (Changed{{"classes.bulk.dictionary", "one of 1 bytes", "another of 1 bytes"}}));
  EXPECT_EQ(changed([](Gateway& next) { next.classes[0].dictionary.clear(); }),
            (Changed{{"classes.bulk.dictionary", "one of 1 bytes", "none"}}));
  const Changed secret{{"the keys of peer far", "secret ones", "other secret ones"}};
  EXPECT_EQ(changed([](Gateway& next) {
              next.peers[0].security.keys->current.bytes()[31] = std::byte{1};
            }),
            secret);
  EXPECT_EQ(changed([](Gateway& next) { next.peers[0].security.keys->other.emplace(); }), secret);
  EXPECT_EQ(changed([](Gateway& next) {
              next.links[0].send_rate = BitRate::bits_per_second(20'000'000);
              next.links[0].bridged_queue = Duration::seconds(1);
              next.limits.half_open = 7;
              next.limits.idle_timeout = Duration::seconds(5);
              next.limits.half_close_timeout = Duration::seconds(5);
              next.stp.give_up_after = Duration::seconds(60);
              next.tcp.ecn = false;
              next.tcp.congestion = Congestion::kNewReno;
              next.log_level = LogLevel::kDebug;
            }),
            (Changed{{"links.sat.send_rate", "50Mbit", "20Mbit"},
                     {"links.sat.bridged_queue", "100ms", "1s"},
                     {"limits.half_open", "4096", "7"},
                     {"limits.idle_timeout", "7440s", "5s"},
                     {"limits.half_close_timeout", "600s", "5s"},
                     {"stp.give_up_after", "900s", "60s"},
                     {"tcp.congestion", "cubic", "newreno"},
                     {"tcp.ecn", "on", "off"},
                     {"log", "info", "debug"}}));
}

}  // namespace
}  // namespace satrelay::config::changes_test
