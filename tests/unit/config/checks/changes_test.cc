// Which keys a reload may change, and which need a restart.
#include "config/checks/changes.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "config/keys/all_keys.h"

namespace satrelay::config::changes_test {
namespace {

Gateway sample() {
  Gateway gateway;
  gateway.lan.interface = "lan0";
  gateway.links = {{.name = "sat",
                    .send_rate = BitRate::bits_per_second(50'000'000),
                    .receive_rate = BitRate::bits_per_second(50'000'000)}};
  gateway.peers = {
      {.name = "far", .address = *IpAddress::parse("192.0.2.2"), .prefixes = {}, .links = {"sat"}}};
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

using Flip = void (*)(Gateway&);

// A change of each key. A key without one fails the test below.
const std::map<std::string, Flip>& flips() {
  static const std::map<std::string, Flip> kFlips{
      {"ports.lan.driver", [](Gateway& g) { g.lan.driver = Driver::kAfXdp; }},
      {"ports.lan.interface", [](Gateway& g) { g.lan.interface = "lan9"; }},
      {"ports.lan.pci", [](Gateway& g) { g.lan.pci = "0000:01:00.0"; }},
      {"ports.lan.socket", [](Gateway& g) { g.lan.socket = "/run/x"; }},
      {"ports.lan.role", [](Gateway& g) { g.lan.memif_server = true; }},
      {"ports.lan.mtu", [](Gateway& g) { g.lan.mtu = 9000; }},
      {"ports.lan.large_frames", [](Gateway& g) { g.lan.large_frames = false; }},
      {"ports.wan.driver", [](Gateway& g) { g.wan.driver = Driver::kAfXdp; }},
      {"ports.wan.interface", [](Gateway& g) { g.wan.interface = "wan9"; }},
      {"ports.wan.pci", [](Gateway& g) { g.wan.pci = "0000:01:00.0"; }},
      {"ports.wan.socket", [](Gateway& g) { g.wan.socket = "/run/x"; }},
      {"ports.wan.role", [](Gateway& g) { g.wan.memif_server = true; }},
      {"ports.wan.mtu", [](Gateway& g) { g.wan.mtu = 9000; }},
      {"ports.wan.large_frames", [](Gateway& g) { g.wan.large_frames = false; }},
      {"gateway.address", [](Gateway& g) { g.gateway.address.length = 24; }},
      {"gateway.vlan", [](Gateway& g) { g.gateway.vlan = 7; }},
      {"gateway.next_hop", [](Gateway& g) { g.gateway.next_hop = IpAddress::parse("192.0.2.9"); }},
      {"links.NAME.capacity",
       [](Gateway& g) { g.links[0].control.controller = Controller::kFind; }},
      {"links.NAME.controller",
       [](Gateway& g) { g.links[0].control.controller = Controller::kTps; }},
      {"links.NAME.target",
       [](Gateway& g) { g.links[0].control.target = BitRate::bits_per_second(9000); }},
      {"links.NAME.period", [](Gateway& g) { g.links[0].control.period = Duration::seconds(1); }},
      {"links.NAME.window", [](Gateway& g) { g.links[0].control.window = 9; }},
      {"links.NAME.initial_window", [](Gateway& g) { g.links[0].control.initial_window = 9; }},
      {"links.NAME.threshold", [](Gateway& g) { g.links[0].control.threshold = 9; }},
      {"links.NAME.growth", [](Gateway& g) { g.links[0].control.growth = 9; }},
      {"links.NAME.avoidance_growth", [](Gateway& g) { g.links[0].control.avoidance_growth = 9; }},
      {"links.NAME.buffer", [](Gateway& g) { g.links[0].control.buffer = ByteCount(9000); }},
      {"links.NAME.send_rate",
       [](Gateway& g) { g.links[0].send_rate = BitRate::bits_per_second(9'000'000); }},
      {"links.NAME.receive_rate",
       [](Gateway& g) { g.links[0].receive_rate = BitRate::bits_per_second(9'000'000); }},
      {"links.NAME.overhead", [](Gateway& g) { g.links[0].overhead = 9; }},
      {"links.NAME.bridged_share", [](Gateway& g) { g.links[0].bridged_share = 0.3; }},
      {"links.NAME.bridged_queue",
       [](Gateway& g) { g.links[0].bridged_queue = Duration::seconds(2); }},
      {"security.psk_file", [](Gateway& g) { g.peers[0].security.keys.emplace(); }},
      {"peers[].name", [](Gateway& g) { g.peers[0].name = "other"; }},
      {"peers[].address", [](Gateway& g) { g.peers[0].address = *IpAddress::parse("192.0.2.9"); }},
      {"peers[].prefixes",
       [](Gateway& g) { g.peers[0].prefixes = {*IpPrefix::parse("198.51.100.0/24")}; }},
      {"peers[].link", [](Gateway& g) { g.peers[0].links = {"other"}; }},
      {"peers[].workers", [](Gateway& g) { g.peers[0].workers = 4; }},
      {"peers[].security", [](Gateway& g) { g.peers[0].security.keys.emplace(); }},
      {"classes.NAME.weight", [](Gateway& g) { g.classes[0].weight = 9; }},
      {"classes.NAME.guaranteed",
       [](Gateway& g) { g.classes[0].guaranteed = BitRate::bits_per_second(9000); }},
      {"classes.NAME.maximum",
       [](Gateway& g) { g.classes[0].maximum = BitRate::bits_per_second(9000); }},
      {"classes.NAME.dictionary", [](Gateway& g) { g.classes[0].dictionary = {std::byte{1}}; }},
      {"rules[].name", [](Gateway& g) { g.rules[0].name = "other"; }},
      {"rules[].match",
       [](Gateway& g) {
         g.rules[0].match.port = {{80, 80}};
       }},
      {"rules[].action", [](Gateway& g) { g.rules[0].action = Action::kDrop; }},
      {"rules[].compress", [](Gateway& g) { g.rules[0].compress = Compress::kOff; }},
      {"rules[].class", [](Gateway& g) { g.rules[0].traffic_class = "bulk"; }},
      {"rules[].handshake",
       [](Gateway& g) { g.rules[0].modes.handshake = HandshakeMode::kRemote; }},
      {"rules[].ack", [](Gateway& g) { g.rules[0].modes.ack = AckMode::kEndToEnd; }},
      {"rules[].close", [](Gateway& g) { g.rules[0].modes.close = CloseMode::kConfirmed; }},
      {"rules[].window", [](Gateway& g) { g.rules[0].modes.window = WindowMode::kMirror; }},
      {"rules[].delivery", [](Gateway& g) { g.rules[0].modes.delivery = DeliveryMode::kPrompt; }},
      {"rules[].ttl", [](Gateway& g) { g.rules[0].ttl = TtlMode::kPreserve; }},
      {"rules[].mptcp", [](Gateway& g) { g.rules[0].mptcp = MptcpMode::kBridge; }},
      {"rules[].match.source",
       [](Gateway& g) { g.rules[0].match.source = {*IpPrefix::parse("198.51.100.0/24")}; }},
      {"rules[].match.destination",
       [](Gateway& g) { g.rules[0].match.destination = {*IpPrefix::parse("198.51.100.0/24")}; }},
      {"rules[].match.port",
       [](Gateway& g) {
         g.rules[0].match.port = {{80, 80}};
       }},
      {"rules[].match.protocol", [](Gateway& g) { g.rules[0].match.protocol = {kProtocolUdp}; }},
      {"rules[].match.vlan", [](Gateway& g) { g.rules[0].match.vlan = {7}; }},
      {"rules[].match.dscp", [](Gateway& g) { g.rules[0].match.dscp = {46}; }},
      {"rules[].match.direction",
       [](Gateway& g) { g.rules[0].match.direction = Direction::kInbound; }},
      {"rules[].match.peer", [](Gateway& g) { g.rules[0].match.peer = {"far"}; }},
      {"stp.port", [](Gateway& g) { g.stp.port = 9; }},
      {"stp.mtu", [](Gateway& g) { g.stp.mtu = 1400; }},
      {"stp.path_mtu", [](Gateway& g) { g.stp.path_mtu = PathMtu::kKnown; }},
      {"stp.ping_after", [](Gateway& g) { g.stp.ping_after = Duration::seconds(2); }},
      {"stp.suspect_after", [](Gateway& g) { g.stp.suspect_after = Duration::seconds(9); }},
      {"stp.give_up_after", [](Gateway& g) { g.stp.give_up_after = Duration::seconds(9); }},
      {"stp.fec", [](Gateway& g) { g.stp.fec = Fec::kOff; }},
      {"stp.prompt_overhead", [](Gateway& g) { g.stp.prompt_overhead = 0.5; }},
      {"stp.feedback.mode", [](Gateway& g) { g.stp.feedback.mode = FeedbackMode::kHpfp; }},
      {"stp.feedback.budget",
       [](Gateway& g) { g.stp.feedback.budget = BitRate::bits_per_second(9000); }},
      {"limits.flows", [](Gateway& g) { g.limits.flows = 9; }},
      {"limits.half_open", [](Gateway& g) { g.limits.half_open = 9; }},
      {"limits.time_wait", [](Gateway& g) { g.limits.time_wait = 9; }},
      {"limits.memory", [](Gateway& g) { g.limits.memory = ByteCount(1ULL << 30); }},
      {"limits.flow_memory", [](Gateway& g) { g.limits.flow_memory = ByteCount(1ULL << 20); }},
      {"limits.host_window", [](Gateway& g) { g.limits.host_window = ByteCount(1ULL << 20); }},
      {"limits.idle_timeout", [](Gateway& g) { g.limits.idle_timeout = Duration::seconds(9); }},
      {"limits.half_close_timeout",
       [](Gateway& g) { g.limits.half_close_timeout = Duration::seconds(9); }},
      {"tcp.congestion", [](Gateway& g) { g.tcp.congestion = Congestion::kNewReno; }},
      {"tcp.ecn", [](Gateway& g) { g.tcp.ecn = false; }},
      {"worker.count", [](Gateway& g) { g.worker.count = 4; }},
      {"worker.polling", [](Gateway& g) { g.worker.polling = Polling::kBusy; }},
      {"worker.cpu", [](Gateway& g) { g.worker.cpus = {3}; }},
      {"worker.cpus",
       [](Gateway& g) {
         g.worker.cpus = {3, 4};
       }},
      {"access.user", [](Gateway& g) { g.user = "other"; }},
      {"access.stats", [](Gateway& g) { g.stats_access.mode = 0666; }},
      {"access.control",
       [](Gateway& g) {
         g.control_access = {"staff", 0660};
       }},
      {"access.stats.group", [](Gateway& g) { g.stats_access.group = "staff"; }},
      {"access.stats.mode", [](Gateway& g) { g.stats_access.mode = 0666; }},
      {"access.control.group", [](Gateway& g) { g.control_access.group = "staff"; }},
      {"access.control.mode", [](Gateway& g) { g.control_access.mode = 0660; }},
      {"records.file", [](Gateway& g) { g.records.file = "/var/log/x"; }},
      {"records.rotate_size", [](Gateway& g) { g.records.rotate_size = ByteCount(64'000); }},
      {"records.keep", [](Gateway& g) { g.records.keep = 3; }},
      {"records.ipfix", [](Gateway& g) { g.records.ipfix.emplace(); }},
      {"records.ipfix.collector", [](Gateway& g) { g.records.ipfix.emplace().port = 9; }},
      {"records.ipfix.transport",
       [](Gateway& g) { g.records.ipfix.emplace().transport = IpfixTransport::kTcp; }},
      {"records.ipfix.observation_domain",
       [](Gateway& g) { g.records.ipfix.emplace().observation_domain = 9; }},
      {"fair_hosts", [](Gateway& g) { g.fair_hosts = FairHosts::kRemote; }},
      {"lan_follows_wan", [](Gateway& g) { g.lan_follows_wan = true; }},
      {"compress_level", [](Gateway& g) { g.compress_level = 3; }},
      {"stats_socket_prefix", [](Gateway& g) { g.stats_socket_prefix = "other"; }},
      {"control_socket", [](Gateway& g) { g.control_socket = "/run/x"; }},
      {"journal", [](Gateway& g) { g.journal = "/var/x"; }},
      {"log", [](Gateway& g) { g.log_level = LogLevel::kDebug; }},
  };
  return kFlips;
}

TEST(Changes, EachKeyIsTakenOverOrNamedAsItsRowSays) {
  Gateway started = sample();
  started.classes = {{.name = "bulk"}};
  started.rules.emplace_back();
  for (const ListedKey& key : gateway_key_list()) {
    const auto flip = flips().find(key.path);
    ASSERT_NE(flip, flips().end()) << key.path << ": no change of it is tested";
    Gateway next = started;
    flip->second(next);
    const bool live = key.reload == Reload::kLive;
    EXPECT_EQ(needs_restart(started, next).empty(), live) << key.path;
    if (!live) continue;
    EXPECT_EQ(Changeable(next).changes_since(Changeable(started)).size(), 1U) << key.path;
  }
  EXPECT_EQ(flips().size(), gateway_key_list().size());
}

}  // namespace
}  // namespace satrelay::config::changes_test
