#include "relay/records/json_line.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "tests/unit/relay/records/sample_record.h"

namespace satrelay::records::json_line_test {
namespace {

const std::vector<std::string> kPeers{"ship", "base"};
// 2026-11-25 20:44:35 UTC
const RecordContext kContext{.peers = kPeers, .epoch = 1'795'639'475ULL * 1'000'000'000};

std::string line_of(const gateway::FlowRecord& record) {
  fmt::memory_buffer out;
  append_line(out, record, kContext);
  return fmt::to_string(out);
}

TEST(JsonLine, SaysAllOfAFlow) {
  EXPECT_EQ(line_of(sample_record()),
            R"({"began":"2026-11-25T20:44:36.500000Z","duration_us":2345678,)"
            R"("first_byte_us":612345,"protocol":"tcp",)"
            R"("client":"203.0.113.5","client_port":40000,)"
            R"("server":"198.51.100.5","server_port":443,"client_side":"lan","peer":"base",)"
            R"("rule":2,"rule_name":"web","class":"bulk","from_lan_bytes":100,)"
            R"("to_lan_bytes":2000000,"encoded_to_peer_bytes":104,)"
            R"("encoded_from_peer_bytes":900000,"lan_retransmitted":3,"lan_repeated":1,)"
            R"("established":true,"end":"finished","id":"7"})"
            "\n");
}

TEST(JsonLine, WhatAFlowHasNotIsLeftOut) {
  gateway::FlowRecord record = sample_record();
  record.first_byte.reset();
  record.established = false;
  record.rule = 0;
  record.rule_name = {};
  record.traffic_class = {};
  record.origin = gateway::Origin::kPeer;
  record.end = gateway::Counter::kFlowsResetByHost;
  record.peer = gateway::FarGatewayId(99);  // no such peer
  const auto read = nlohmann::json::parse(line_of(record));
  EXPECT_FALSE(read.contains("first_byte_us"));
  EXPECT_FALSE(read.contains("vlan"));
  EXPECT_EQ(read["established"], false);
  EXPECT_EQ(read["class"], "");
  EXPECT_EQ(read["client_side"], "peer");
  EXPECT_EQ(read["end"], "reset_by_host");
  EXPECT_EQ(read["peer"], "");
}

TEST(JsonLine, WhatTheFarGatewayHasNotToldIsNotZero) {
  gateway::FlowRecord record = sample_record();
  EXPECT_FALSE(nlohmann::json::parse(line_of(record)).contains("far_retransmitted"));
  record.far = gateway::LanFigures{.retransmitted = 0, .repeated = 5};
  const auto read = nlohmann::json::parse(line_of(record));
  EXPECT_EQ(read["far_retransmitted"], 0);
  EXPECT_EQ(read["far_repeated"], 5);
  EXPECT_EQ(read["lan_retransmitted"], 3);
}

TEST(JsonLine, HasBothVlansAndIpv6) {
  gateway::FlowRecord record = sample_record();
  record.vlans = {100, 7};
  record.client = *IpAddress::parse("2001:db8::5");
  const auto read = nlohmann::json::parse(line_of(record));
  EXPECT_EQ(read["vlan"], 100);
  EXPECT_EQ(read["inner_vlan"], 7);
  EXPECT_EQ(read["client"], "2001:db8::5");
}

TEST(JsonLine, EachEndIsAWord) {
  for (const auto& field : gateway::Counters::kFields) {
    const std::string_view name = field.name;
    if (!name.starts_with("flows_")) continue;
    gateway::FlowRecord record = sample_record();
    record.end = field.member;
    EXPECT_EQ("flows_" + std::string(end_of(record)), name);
  }
}

}  // namespace
}  // namespace satrelay::records::json_line_test
