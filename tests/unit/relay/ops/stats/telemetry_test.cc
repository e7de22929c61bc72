// The commands as a collector sees them: DPDK's own telemetry thread and socket, and satrelayctl's
// client at the other end.
#include "relay/ops/stats/telemetry.h"

#include <gtest/gtest.h>
#include <rte_eal.h>
#include <rte_version.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>

#include "config/model/traffic_class.h"
#include "relay/client/reply.h"
#include "relay/client/stats_client.h"
#include "relay/ops/stats/telemetry_replies.h"
#include "tests/unit/relay/ops/telemetry_fixture.h"

namespace satrelay::ops::telemetry_test {
namespace {

TEST(ParsePage, TakesFirstAndCount) {
  EXPECT_EQ(parse_page("", 12)->first, 0U);
  EXPECT_EQ(parse_page("", 12)->count, 12U);
  EXPECT_EQ(parse_page("7", 12)->first, 7U);
  EXPECT_EQ(parse_page("7", 12)->count, 12U);
  EXPECT_EQ(parse_page("7,3", 12)->count, 3U);
  EXPECT_EQ(parse_page("7,1000", 12)->count, 12U);
  for (const char* text : {",", "a", "1,", "1,b", "-1", "1,2,3", " 1", "99999999999999999999999"}) {
    EXPECT_FALSE(parse_page(text, 12).has_value()) << text;
  }
}

stp::Counters largest_stp_counters() {
  stp::Counters counters;
  for (const auto& field : stp::Counters::kFields) counters.*field.member = kMost;
  return counters;
}

gateway::PeerSnapshot largest_peer() {
  gateway::PeerSnapshot peer;
  peer.name = std::string(32, 'p');
  peer.address = *IpAddress::parse("2001:db8:1111:2222:3333:4444:5555:6666");
  peer.state = stp::PeerState::kConnecting;
  peer.link = std::string(32, 'l');
  peer.send_rate = BitRate::bits_per_second(kMost);
  peer.path_mtu = 65535;
  peer.rtt = Duration::seconds(3600);
  peer.loss_ratio = 1;
  peer.streams = std::numeric_limits<std::uint32_t>::max();
  peer.packets_in_flight = peer.bytes_stored = kMost;
  peer.flows = peer.flows_refused = peer.arena_used = kMost;
  peer.counters = largest_stp_counters();
  return peer;
}

gateway::FlowSnapshot largest_flow() {
  gateway::FlowSnapshot flow;
  flow.id = kMost;
  flow.client = flow.server = *IpAddress::parse("2001:db8:1111:2222:3333:4444:5555:6666");
  flow.client_port = flow.server_port = 65535;
  flow.peer = std::string(32, 'p');
  flow.from_lan = false;
  flow.tcp_state = tcp::State::kSynReceived;
  flow.age = flow.idle = Duration::seconds(1'000'000'000);
  flow.lan_rtt = flow.age;
  flow.bytes_from_lan = flow.bytes_to_lan = flow.lan_stored = flow.stp_unacknowledged = kMost;
  flow.stp_stored = flow.lan_unacknowledged = flow.lan_window = flow.host_window = kMost;
  return flow;
}

TEST_F(TelemetryTest, AnswersNullUntilTheWorkerHasPublished) {
  const Telemetry telemetry(board_, events_, history_);
  EXPECT_THROW(query("/satrelay/status"), ctl::StatsError);
  EXPECT_THROW(query("/satrelay/counters"), ctl::StatsError);
}

TEST_F(TelemetryTest, ListsItsCommands) {
  const Telemetry telemetry(board_, events_, history_);
  const Json commands = query("/");
  for (const char* command :
       {"status", "ports", "peers", "links", "rules", "classes", "flows", "flow", "explain",
        "counters", "histograms", "bridged", "history", "records"}) {
    const std::string name = std::string("/satrelay/") + command;
    EXPECT_NE(std::find(commands.begin(), commands.end(), name), commands.end()) << name;
  }
}

TEST_F(TelemetryTest, TellsHowRecordsFare) {
  Snapshot snapshot;
  snapshot.workers.resize(2);
  snapshot.workers[0].counters.records_lost = 3;
  snapshot.workers[1].counters.records_lost = 4;
  publish(snapshot);
  {
    const Telemetry telemetry(board_, events_, history_);
    EXPECT_EQ(query("/satrelay/records").at("file"), "off");
  }
  records::RecordsReport report{
      .file_state = "ok", .ipfix_state = "away", .waiting = 5, .counters = {}};
  report.file_trouble = "/var/flows: Permission denied";
  report.collector_trouble = "connect: Connection refused";
  report.counters.written = 6;
  const Telemetry telemetry(board_, events_, history_, [&] { return report; });
  const Json told = query("/satrelay/records");
  EXPECT_EQ(told.at("file"), "ok");
  EXPECT_EQ(told.at("ipfix"), "away");
  EXPECT_EQ(told.at("file_trouble"), "/var/flows: Permission denied");
  EXPECT_EQ(told.at("ipfix_trouble"), "connect: Connection refused");
  EXPECT_EQ(told.at("waiting"), 5);
  EXPECT_EQ(told.at("lost"), 7) << "by both workers";
  EXPECT_EQ(told.at("written"), 6);
}

TEST_F(TelemetryTest, Status) {
  const Telemetry telemetry(board_, events_, history_, nullptr,
                            {.version = "9.9", .commit = "93cef0d2"});
  Snapshot snapshot;
  snapshot.status.uptime = Duration::milliseconds(12'345);
  snapshot.status.boot_epoch = 1'700'000'000'000'000'000;
  snapshot.status.flows = 7;
  snapshot.status.half_open = 2;
  snapshot.status.arena_bytes = 1 << 28;
  snapshot.status.arena_used = 4096;
  snapshot.status.tcp.retransmitted_segments = 5;
  snapshot.status.codec.plain_bytes = 99;
  publish(snapshot);
  const Json status = query("/satrelay/status");
  EXPECT_EQ(status.at("version"), "9.9");
  EXPECT_EQ(status.at("commit"), "93cef0d2");
  EXPECT_EQ(status.at("uptime_ms"), 12'345);
  EXPECT_LT(status.at("age_ms").get<int>(), 10'000);
  EXPECT_EQ(status.at("boot_epoch"), "1700000000000000000");
  EXPECT_EQ(status.at("flows"), 7);
  EXPECT_EQ(status.at("half_open"), 2);
  EXPECT_EQ(status.at("arena_bytes"), 1 << 28);
  EXPECT_EQ(status.at("arena_used_bytes"), 4096);
  EXPECT_EQ(status.at("tcp").at("retransmitted_segments"), 5);
  EXPECT_EQ(status.at("codec").at("plain_bytes"), 99);
  // Every counter is there. A counter that is added later must be there too.
  EXPECT_EQ(status.at("tcp").size(), sizeof(tcp::Counters) / sizeof(std::uint64_t));
  EXPECT_EQ(status.at("codec").size(), sizeof(compress::CodecCounters) / sizeof(std::uint64_t));
}

TEST_F(TelemetryTest, CountersHaveTheirStableNames) {
  const Telemetry telemetry(board_, events_, history_);
  Snapshot snapshot;
  snapshot.counters.add(gateway::Counter::kBridgedNotTcp, 11);
  snapshot.counters.add(gateway::Counter::kFlowsEstablished, kMost);
  publish(snapshot);
  const Json counters = query("/satrelay/counters");
  EXPECT_EQ(counters.size(), gateway::kCounterCount);
  EXPECT_EQ(counters.at("bridged_not_tcp"), 11);
  EXPECT_EQ(counters.at("flows_established").get<std::uint64_t>(), kMost);
  EXPECT_EQ(counters.at("dropped_bad_checksum"), 0);
}

TEST_F(TelemetryTest, Ports) {
  const Telemetry telemetry(board_, events_, history_);
  Snapshot snapshot;
  PortSnapshot lan;
  lan.name = "lan";
  lan.device = "lan: af_packet on lan0";
  lan.mac = *MacAddress::parse("02:00:00:00:00:01");
  lan.mtu = 1500;
  lan.link_up = true;
  lan.link_megabits = 10'000;
  lan.stats.rx_frames = 1;
  lan.stats.tx_unsent = 9;
  PortSnapshot wan;
  wan.name = "wan";
  snapshot.ports = {lan, wan};
  publish(snapshot);
  Json ports = query("/satrelay/ports");
  ASSERT_EQ(ports.size(), 2U);
  EXPECT_EQ(ports["lan"].at("name"), "lan");
  EXPECT_EQ(ports["lan"].at("device"), "lan: af_packet on lan0");
  EXPECT_EQ(ports["lan"].at("mac"), "02:00:00:00:00:01");
  EXPECT_EQ(ports["lan"].at("mtu_bytes"), 1500);
  EXPECT_EQ(ports["lan"].at("link"), "up");
  EXPECT_EQ(ports["lan"].at("link_mbit_per_s"), 10'000);
  EXPECT_EQ(ports["lan"].at("rx_frames"), 1);
  EXPECT_EQ(ports["lan"].at("tx_unsent"), 9);
  EXPECT_EQ(ports["wan"].at("link"), "down");
}

TEST_F(TelemetryTest, PeersNestTheirCountersAndComeInPages) {
  const Telemetry telemetry(board_, events_, history_);
  Snapshot snapshot;
  for (int i = 0; i < 20; ++i) {
    snapshot.peers.push_back(largest_peer());
    snapshot.peers.back().name = "peer-" + std::to_string(i);
  }
  snapshot.peers[0].rtt = Duration::microseconds(551'234);
  snapshot.peers[0].loss_ratio = 0.0104;
  snapshot.peers[0].state = stp::PeerState::kAlive;
  snapshot.peers[0].counters.bytes_out = 77;
  publish(snapshot);
  EXPECT_EQ(query("/satrelay/peers").size(), kPeersPerPage);
  EXPECT_EQ(query("/satrelay/peers,3,1").at("3").at("name"), "peer-3");
  const Json all = ctl::StatsClient(socket_, 3s).query_all("/satrelay/peers");
  ASSERT_EQ(all.size(), 20U);
  EXPECT_EQ(all[19].at("name"), "peer-19");
  EXPECT_EQ(all[0].at("state"), "alive");
  EXPECT_EQ(all[0].at("next_hop"), "unresolved");
  EXPECT_EQ(all[0].at("rtt_us"), 551'234);
  EXPECT_EQ(all[0].at("loss_ppm"), 10'400);
  EXPECT_EQ(all[0].at("counters").at("bytes_out"), 77);
  EXPECT_EQ(all[0].at("counters").size(), sizeof(stp::Counters) / sizeof(std::uint64_t));
  EXPECT_EQ(all[0].at("path_mtu_bytes"), 65535);
  EXPECT_EQ(query("/satrelay/peers,20").size(), 0U);
  EXPECT_THROW(query("/satrelay/peers,x"), ctl::StatsError);
}

TEST_F(TelemetryTest, WhatWasNeverMeasuredIsLeftOut) {
  const Telemetry telemetry(board_, events_, history_);
  Snapshot snapshot;
  snapshot.peers.push_back(largest_peer());
  snapshot.peers[0].rtt.reset();
  snapshot.peers[0].loss_ratio.reset();
  snapshot.peers[0].path_mtu.reset();
  publish(snapshot);
  Json peers = ctl::StatsClient(socket_, 3s).query_all("/satrelay/peers");
  for (const char* key : {"rtt_us", "loss_ppm", "path_mtu_bytes"}) {
    EXPECT_FALSE(peers[0].contains(key)) << key;
  }
  ctl::name_unmeasured("peers", peers);
  for (const char* key : {"rtt_us", "loss_ppm", "path_mtu_bytes"}) {
    EXPECT_TRUE(peers[0].at(key).is_null()) << key;
  }
}

TEST_F(TelemetryTest, APeerThatSeemsToHaveAnotherKeyIsCounted) {
  const Telemetry telemetry(board_, events_, history_);
  Snapshot snapshot;
  snapshot.peers.assign(3, largest_peer());
  snapshot.peers[1].wrong_key = true;
  publish(snapshot);
  EXPECT_EQ(query("/satrelay/status").at("peers"),
            Json::parse(R"({"connecting": 2, "wrong_key": 1})"));
  EXPECT_EQ(query("/satrelay/peers").at("1").at("state"), "wrong_key");
}

// A page of the longest entries must not be cut: it would not be valid JSON.
TEST_F(TelemetryTest, FlowsComeFromTheWorkerInPagesThatFit) {
  const Telemetry telemetry(board_, events_, history_);
  Live live;
  live.all_flows.assign(100, largest_flow());
  for (std::size_t i = 0; i < live.all_flows.size(); ++i) {
    live.all_flows[i].client_port = static_cast<std::uint16_t>(10'000 + i);
  }
  const LiveWorker worker(board_, live);
  EXPECT_EQ(query("/satrelay/flows").size(), kFlowsPerPage);
  const Json all = ctl::StatsClient(socket_, 3s).query_all("/satrelay/flows");
  ASSERT_EQ(all.size(), live.all_flows.size());
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i].at("client_port"), 10'000 + i);
  EXPECT_EQ(all[0].at("client"), "2001:db8:1111:2222:3333:4444:5555:6666");
  EXPECT_EQ(all[0].at("client_side"), "peer");
  EXPECT_EQ(all[0].at("host_window_bytes").get<std::uint64_t>(), kMost);
  EXPECT_EQ(all[0].size(), 19U);
  EXPECT_EQ(query("/satrelay/flows,100").size(), 0U);
}

gateway::RuleSnapshot largest_rule() {
  gateway::RuleSnapshot rule;
  rule.number = 65'535;
  rule.name = std::string(32, 'r');
  rule.action = config::Action::kAccelerate;
  rule.modes = {.handshake = config::HandshakeMode::kRemote,
                .ack = config::AckMode::kEndToEnd,
                .close = config::CloseMode::kConfirmed,
                .window = config::WindowMode::kMirror};
  static_assert(sizeof rule.use % sizeof(std::uint64_t) == 0);
  auto* words = reinterpret_cast<std::uint64_t*>(&rule.use);
  std::fill(words, words + sizeof rule.use / sizeof *words, kMost);
  return rule;
}

TEST_F(TelemetryTest, RulesComeFromTheWorkerInPagesThatFit) {
  const Telemetry telemetry(board_, events_, history_);
  Live live;
  live.all_rules.assign(50, largest_rule());
  live.all_rules[1].use.connections = 17;
  live.all_rules[1].is_changed = true;
  const LiveWorker worker(board_, live);
  EXPECT_EQ(query("/satrelay/rules").size(), kRulesPerPage);
  const Json all = ctl::StatsClient(socket_, 3s).query_all("/satrelay/rules");
  ASSERT_EQ(all.size(), 50U);
  EXPECT_EQ(all[0].at("name"), std::string(32, 'r'));
  EXPECT_EQ(all[0].at("modes").at("ack"), "end-to-end");
  EXPECT_EQ(all[0].at("bridged_bytes").get<std::uint64_t>(), kMost);
  EXPECT_EQ(all[0].at("codec").at("encoded_bytes").get<std::uint64_t>(), kMost);
  EXPECT_EQ(all[0].at("changed"), "no");
  EXPECT_EQ(all[1].at("changed"), "yes");
  EXPECT_EQ(all[1].at("connections"), 17);
}

TEST_F(TelemetryTest, LinksComeInPagesThatFit) {
  const Telemetry telemetry(board_, events_, history_);
  const BitRate most = BitRate::bits_per_second(kMost);
  Snapshot snapshot;
  snapshot.links.assign(30, {.name = std::string(32, 'l'),
                             .peers = std::numeric_limits<std::uint32_t>::max(),
                             .finds_capacity = true,
                             .send = {most, most, most},
                             .receive = {most, most, most},
                             .sent_bytes = kMost});
  snapshot.links[1] = {
      .name = "sat",
      .peers = 3,
      .send = {BitRate::bits_per_second(9'000), BitRate::bits_per_second(8'000),
               BitRate::bits_per_second(7'000)},
      .receive = {BitRate::bits_per_second(6'000), BitRate(), BitRate::bits_per_second(5'000)},
      .sent_bytes = 4};
  publish(snapshot);
  EXPECT_EQ(query("/satrelay/links").size(), kLinksPerPage);
  const Json all = ctl::StatsClient(socket_, 3s).query_all("/satrelay/links");
  ASSERT_EQ(all.size(), 30U);
  EXPECT_EQ(all[0].at("finds_capacity"), "yes");
  EXPECT_EQ(all[0].at("sent_bytes").get<std::uint64_t>(), kMost);
  EXPECT_EQ(all[1], Json::parse(R"({"name": "sat", "peers": 3, "finds_capacity": "no",
    "send_configured_bps": 9000, "send_commanded_bps": 8000, "send_capacity_bps": 7000,
    "receive_configured_bps": 6000, "receive_commanded_bps": 0, "receive_capacity_bps": 5000,
    "sent_bytes": 4})"));
}

gateway::ClassSnapshot largest_class() {
  gateway::ClassSnapshot largest;
  largest.in_force = {.name = std::string(32, 'c'),
                      .weight = 255,
                      .guaranteed = BitRate::bits_per_second(kMost),
                      .maximum = BitRate::bits_per_second(kMost)};
  largest.dictionary = 0x12'3456'789a'bcdeU;
  largest.is_changed = true;
  largest.held_frames = largest.held_bytes = largest.waiting_bytes = kMost;
  largest.hosts = std::numeric_limits<std::uint32_t>::max();
  static_assert(sizeof largest.use % sizeof(std::uint64_t) == 0);
  auto* words = reinterpret_cast<std::uint64_t*>(&largest.use);
  std::fill(words, words + sizeof largest.use / sizeof *words, kMost);
  return largest;
}

TEST_F(TelemetryTest, ClassesComeFromTheWorkerInAPageThatFits) {
  const Telemetry telemetry(board_, events_, history_);
  Live live;
  live.all_classes.assign(kClassesPerPage, largest_class());
  live.all_classes[1].in_force = {
      .name = "voice", .weight = 4, .guaranteed = BitRate::bits_per_second(2'000'000)};
  live.all_classes[1].is_changed = false;
  live.all_classes[1].dictionary.reset();
  live.all_classes[1].hosts = 3;
  live.all_classes[1].held_frames = 5;
  live.all_classes[1].held_bytes = 700;
  live.all_classes[1].waiting_bytes = 800;
  live.all_classes[1].use = {.relayed_bytes = 11,
                             .bridged_frames = 12,
                             .bridged_bytes = 13,
                             .waited_frames = 14,
                             .dropped_frames = 15,
                             .plain_bytes = 16,
                             .encoded_bytes = 17};
  live.all_classes[15].in_force = {.name = config::kRelayedName};
  live.all_classes[16].in_force = {.name = config::kBridgedName, .weight = 0};
  const LiveWorker worker(board_, live);
  EXPECT_EQ(query("/satrelay/classes").size(), kClassesPerPage);
  const Json all = ctl::StatsClient(socket_, 3s).query_all("/satrelay/classes");
  ASSERT_EQ(all.size(), kClassesPerPage);
  EXPECT_EQ(all[0].at("name"), std::string(32, 'c'));
  EXPECT_EQ(all[0].at("changed"), "yes");
  const auto fingerprint = live.all_classes[0].dictionary;
  EXPECT_EQ(std::stoull(all[0].at("dictionary").get<std::string>(), nullptr, 16), fingerprint);
  EXPECT_EQ(all[0].at("maximum_bps").get<std::uint64_t>(), kMost);
  EXPECT_EQ(all[1], Json::parse(R"({"name": "voice", "weight": 4, "guaranteed_bps": 2000000,
    "maximum_bps": 0, "dictionary": "", "changed": "no", "hosts": 3, "held_frames": 5, "held_bytes": 700,
    "waiting_bytes": 800,
    "relayed_bytes": 11, "bridged_frames": 12, "bridged_bytes": 13, "waited_frames": 14,
    "dropped_frames": 15, "plain_bytes": 16, "encoded_bytes": 17})"));
  EXPECT_EQ(all[15].at("name"), "relayed");
  EXPECT_EQ(all[15].at("weight"), 1);
  EXPECT_EQ(all[16].at("name"), "bridged");
  EXPECT_EQ(all[16].at("weight"), 0);
  EXPECT_EQ(query("/satrelay/classes,1,2").size(), 2U);
  EXPECT_EQ(query("/satrelay/classes,1,2").at("1").at("name"), "voice");
  EXPECT_EQ(query("/satrelay/classes,16").size(), 1U);
  EXPECT_EQ(query("/satrelay/classes,17").size(), 0U);
  EXPECT_THROW(query("/satrelay/classes,x"), ctl::StatsError);
}

TEST_F(TelemetryTest, ARuleIsExplained) {
  const Telemetry telemetry(board_, events_, history_);
  Live live;
  live.explanation.rule = 3;
  live.explanation.in_force.name = "web";
  live.explanation.in_force.traffic_class = "bulk";
  live.explanation.peer = "ship";
  live.explanation.prefix = IpPrefix::parse("198.51.100.0/24");
  live.explanation.outcome = gateway::Outcome::kBridged;
  live.explanation.is_for_tcp_only = true;
  live.explanation.bridged_as = gateway::Counter::kBridgedPeerDown;
  live.explanation.bridged_turn = {.traffic_class = "bridged",
                                   .turn = "relayed",
                                   .weight = 1,
                                   .guaranteed = BitRate::bits_per_second(1'000),
                                   .maximum = BitRate::bits_per_second(2'000)};
  live.explanation.misses = {{1, "", gateway::Criterion::kPort},
                             {2, "voice", gateway::Criterion::kDscp}};
  live.explanation.more_misses = 5;
  const LiveWorker worker(board_, live);
  const Json found = query("/satrelay/explain,10.0.0.5,198.51.100.7,443,6,100,46,inbound");
  EXPECT_EQ(found, Json::parse(R"({"rule": 3, "name": "web", "action": "accelerate",
    "compress": "auto", "modes": {"handshake": "local", "ack": "local", "close": "local",
    "window": "rewrite", "delivery": "ordinary"}, "ttl": "last", "mptcp": "fallback", "class": "bulk", "peer": "ship", "prefix": "198.51.100.0/24",
    "outcome": "bridged", "tcp_only": "yes", "bridged_as": "bridged_peer_down",
    "bridged_class": "bridged", "bridged_turn": "relayed", "bridged_weight": 1,
    "bridged_guaranteed_bps": 1000, "bridged_maximum_bps": 2000, "handshake": "", "handshake_cause": "", "misses": {"1": {"name": "", "criterion": "port"},
    "2": {"name": "voice", "criterion": "dscp"}}, "more_misses": 5})"));
  EXPECT_EQ(live.asked.source, IpAddress::parse("10.0.0.5"));
  EXPECT_EQ(live.asked.destination, IpAddress::parse("198.51.100.7"));
  EXPECT_EQ(live.asked.port, 443);
  EXPECT_EQ(live.asked.protocol, 6);
  EXPECT_EQ(live.asked.vlan, 100);
  EXPECT_EQ(live.asked.dscp, 46);
  EXPECT_EQ(live.asked.direction, config::Direction::kInbound);
}

TEST(PolicyKeyParameters, MistakesAreRefused) {
  EXPECT_TRUE(parse_policy_key("10.0.0.5,198.51.100.7,443,6,0,0,outbound"));
  for (const char* wrong :
       {"", "10.0.0.5", "10.0.0.5,198.51.100.7,443,6,0,0", "10.0.0.5,198.51.100.7,443,6,0,0,out",
        "10.0.0.5,198.51.100.7,443,6,0,0,outbound,", "10.0.0.5,2001:db8::1,443,6,0,0,outbound",
        "10.0.0.5,198.51.100.7,65536,6,0,0,outbound", "10.0.0.5,198.51.100.7,1,256,0,0,outbound",
        "10.0.0.5,198.51.100.7,1,6,4095,0,outbound", "10.0.0.5,198.51.100.7,1,6,0,64,outbound",
        "10.0.0,198.51.100.7,1,6,0,0,outbound", "10.0.0.5,198.51.100.7,-1,6,0,0,outbound"}) {
    EXPECT_FALSE(parse_policy_key(wrong)) << wrong;
  }
}

TEST_F(TelemetryTest, OneFlowIsToldWhole) {
  const Telemetry telemetry(board_, events_, history_);
  gateway::FlowSnapshot flow = largest_flow();
  flow.id = 17;
  flow.wait_towards_peer = gateway::Wait::kCredit;
  flow.wait_towards_host = gateway::Wait::kHostWindow;
  flow.stp_credit = 5;
  flow.path_loss_ratio = 0.01;
  flow.rule = 2;
  flow.rule_name = "web";
  flow.compress = config::Compress::kAuto;
  flow.modes.ack = config::AckMode::kEndToEnd;
  flow.dictionary = 0x12'3456'789a'bcdeU;
  Live live;
  live.all_flows = {flow};
  const LiveWorker worker(board_, live);
  const Json found = query("/satrelay/flow,17");
  EXPECT_EQ(found.at("id"), "17");
  EXPECT_EQ(found.at("waits_towards_peer"), "credit");
  EXPECT_EQ(found.at("waits_towards_host"), "host_window");
  EXPECT_EQ(found.at("stp_credit_bytes"), 5);
  EXPECT_EQ(found.at("path_loss_ppm"), 10'000);
  EXPECT_EQ(found.at("rule"), 2);
  EXPECT_EQ(found.at("rule_name"), "web");
  EXPECT_EQ(found.at("compress"), "auto");
  EXPECT_EQ(found.at("dictionary"), "00123456789abcde");
  EXPECT_EQ(found.at("modes").at("ack"), "end-to-end");
  EXPECT_EQ(found.at("modes").at("handshake"), "local");
  EXPECT_TRUE(query("/satrelay/flow,18").empty());
  for (const char* wrong : {"/satrelay/flow", "/satrelay/flow,x", "/satrelay/flow,1,2"}) {
    EXPECT_THROW(query(wrong), ctl::StatsError) << wrong;
  }
}

TEST_F(TelemetryTest, EventsComeByTheirNumbers) {
  const Telemetry telemetry(board_, events_, history_);
  EXPECT_EQ(query("/satrelay/events").size(), 0U);
  EXPECT_EQ(query("/satrelay/event_numbers"),
            Json({{"boot_epoch", std::to_string(kBootEpoch)}, {"oldest", 1}, {"latest", 0}}));
  events_.add(
      {.time_ms = 1'764'082'060'123, .event = {EventKind::kPortUp, "port lan", "1 Gbit/s"}});
  NumberedEvent bypass;
  bypass.time_ms = 1'764'082'060'456;
  bypass.event.kind = EventKind::kBypassSet;
  bypass.event.subject = "gateway";
  bypass.event.before = "off";
  bypass.event.after = "on";
  bypass.event.advice = "look";
  bypass.user = "alice";
  events_.add(std::move(bypass));
  const Json events = query("/satrelay/events");
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events.at("1"), Json::parse(R"({"number": 1, "time_ms": 1764082060123,
    "severity": "info", "name": "port_up", "subject": "port lan", "text": "link up",
    "detail": "1 Gbit/s", "advice": ""})"));
  EXPECT_EQ(events.at("2"), Json::parse(R"({"number": 2, "time_ms": 1764082060456,
    "severity": "info", "name": "bypass_set", "subject": "gateway", "text": "bypass was set",
    "detail": "", "advice": "look", "user": "alice", "old": "off", "new": "on"})"));
  EXPECT_EQ(query("/satrelay/event_numbers").at("latest"), 2);
  EXPECT_EQ(query("/satrelay/events,2").size(), 1U);
  EXPECT_EQ(query("/satrelay/events,1,1").size(), 1U);
  EXPECT_EQ(query("/satrelay/events,3").size(), 0U);
  EXPECT_EQ(query("/satrelay/events,18446744073709551615,10").size(), 0U);
  EXPECT_THROW(query("/satrelay/events,x"), ctl::StatsError);
}

TEST_F(TelemetryTest, AFaultHasFieldsOfItsOwn) {
  const Telemetry telemetry(board_, events_, history_);
  Event event{.kind = EventKind::kFault, .subject = "port lan", .detail = "eth1 has a master"};
  event.fault = Fault{.check = "port_in_bridge",
                      .severity = Severity::kError,
                      .cause = "two programs forward its frames",
                      .cure = "ip link set eth1 nomaster",
                      .page = "troubleshooting.md"};
  events_.add({.time_ms = 1, .event = event});
  event.kind = EventKind::kFaultOver;
  event.detail = event.fault->cause = event.fault->cure = "";
  events_.add({.time_ms = 2, .event = event});
  const Json events = query("/satrelay/events");
  EXPECT_EQ(events.at("1"), Json::parse(R"({"number": 1, "time_ms": 1, "severity": "error",
    "name": "fault", "subject": "port lan", "text": "has a fault", "detail": "eth1 has a master",
    "advice": "ip link set eth1 nomaster", "check": "port_in_bridge",
    "cause": "two programs forward its frames", "page": "troubleshooting.md"})"));
  EXPECT_EQ(events.at("2"), Json::parse(R"({"number": 2, "time_ms": 2, "severity": "info",
    "name": "fault_over", "subject": "port lan", "text": "the fault is gone", "detail": "",
    "advice": "", "check": "port_in_bridge", "page": "troubleshooting.md"})"));
}

// The texts consist of characters that JSON must escape: DPDK writes each as two.
TEST_F(TelemetryTest, APageOfTheLongestEventsFits) {
  const Telemetry telemetry(board_, events_, history_);
  std::size_t longest = 0;
  for (std::size_t i = 0; i < kEventKinds; ++i) {
    const EventDescription& of = describe(static_cast<EventKind>(i));
    const EventDescription& so_far = describe(static_cast<EventKind>(longest));
    if (of.text.size() + of.advice.size() > so_far.text.size() + so_far.advice.size()) longest = i;
  }
  const std::string texts(200, '"');
  for (int i = 0; i < 30; ++i) {
    events_.add({.time_ms = kMost,
                 .event = {.kind = static_cast<EventKind>(longest),
                           .subject = texts,
                           .detail = texts + "\n\x1b",
                           .before = texts,
                           .after = texts},
                 .user = texts});
  }
  const Json page = query("/satrelay/events,3,1000");
  ASSERT_EQ(page.size(), kEventsPerPage);
  EXPECT_EQ(page.at("3").at("subject"), std::string(EventRing::kMostName - 3, '"') + "...");
  EXPECT_EQ(page.at("12").at("old"), std::string(kMostEventText - 3, '"') + "...");
  EXPECT_EQ(page.at("12").at("text"), describe(static_cast<EventKind>(longest)).text);
}

// No user gives it as a command, so it has no user and no setting.
TEST_F(TelemetryTest, APageOfTheLongestFaultsFits) {
  const Telemetry telemetry(board_, events_, history_);
  const std::string texts(200, '"');
  constexpr std::string_view kLongestPage =
      "troubleshooting.md#the-gateway-does-not-start-or-refuses-a-command";
  for (int i = 0; i < 30; ++i) {
    Event event{.kind = EventKind::kFault, .subject = texts, .detail = texts};
    event.fault = Fault{.check = "a_check_with_a_name_of_thirty_2",
                        .severity = Severity::kError,
                        .cause = texts,
                        .cure = texts,
                        .page = kLongestPage};
    events_.add({.time_ms = kMost, .event = event});
  }
  const Json page = query("/satrelay/events,3,1000");
  ASSERT_EQ(page.size(), kEventsPerPage);
  EXPECT_EQ(page.at("12").at("cause"), std::string(kMostEventText - 3, '"') + "...");
}

TEST_F(TelemetryTest, SaysSoWhenTheWorkerIsStuck) {
  const Telemetry telemetry(board_, events_, history_);
  publish(Snapshot{});
  const auto before = std::chrono::steady_clock::now();
  EXPECT_THROW(query("/satrelay/flows"), ctl::StatsError);
  EXPECT_LT(std::chrono::steady_clock::now() - before, 2s);
  EXPECT_NO_THROW(query("/satrelay/status"));  // other commands still work
}

TEST_F(TelemetryTest, AnswersNullOnceTheGatewayIsGone) {
  {
    const Telemetry telemetry(board_, events_, history_);
    publish(Snapshot{});
    EXPECT_NO_THROW(query("/satrelay/status"));
  }
  EXPECT_THROW(query("/satrelay/status"), ctl::StatsError);
  EXPECT_THROW(query("/satrelay/events"), ctl::StatsError);
}

}  // namespace
}  // namespace satrelay::ops::telemetry_test
