// Facts about a healthy pair of gateways, for tests that break one thing.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "relay/doctor/judgements.h"
#include "tests/unit/config/one_key.h"

namespace satrelay::ctl::doctor {

// `line` is a further key of the file.
inline FileFacts sample_file(const std::string& line = "") {
  FileFacts file;
  file.path = "/etc/satrelay/gateway.yaml";
  file.config = config::parse_gateway(config::with_line(line), "g.yaml");
  file.read_files = {{.path = file.path, .changed_ms = 1'000'000, .is_readable = true}};
  return file;
}

inline machine::MachineFacts sample_machine() {
  const machine::InterfaceFacts interface {
    .exists = true, .is_enabled = true, .is_running = true, .mtu = 1508, .megabits = 1000,
    .foreign_master = {}, .merge_offloads = {}
  };
  machine::MachineFacts facts{.lan = interface, .wan = interface, .cores = {}, .memory = {}};
  facts.cores.online = {0, 1, 2, 3};
  facts.memory = {.total = ByteCount(std::uint64_t{8} << 30),
                  .total_of = "this machine has",
                  .available = ByteCount(std::uint64_t{4} << 30),
                  .huge_total = ByteCount(0),
                  .huge_available = ByteCount(0)};
  return facts;
}

inline GatewayFacts sample_gateway() {
  GatewayFacts gateway;
  gateway.status = Json::parse(R"({"version": "9.9.9", "uptime_ms": 60000, "age_ms": 50,
      "new_flows": "open", "arena_bytes": 1000, "arena_used_bytes": 10,
      "workers": {"0": {"flows": 1, "given_dropped": 0}}})");
  gateway.ports = Json::parse(R"({
      "lan": {"name": "lan", "mtu_bytes": 1500, "link": "up", "link_mbit_per_s": 1000,
              "rx_frames": 5000, "rx_missed": 0, "rx_no_buffer": 0, "rx_merged": 0},
      "wan": {"name": "wan", "mtu_bytes": 1500, "link": "up", "link_mbit_per_s": 1000,
              "rx_frames": 5000, "rx_missed": 0, "rx_no_buffer": 0, "rx_merged": 0}})");
  gateway.peers = Json::parse(R"([{"name": "ship", "address": "192.0.2.2", "state": "alive",
      "new_flows": "open", "next_hop": "resolved", "link": "sat", "send_rate_bps": 49750000,
      "controller": "fixed_rate", "security": "aes-128-gcm", "announced_bps": 0,
      "path_mtu_bytes": 1500, "rtt_us": 550000, "loss_ppm": 1000, "flows_refused": 0,
      "counters": {"packets_in": 100, "packets_out": 5000, "not_authentic": 0, "stale_epoch": 0}}])");
  gateway.links = Json::parse(R"([{"name": "sat", "peers": 1, "finds_capacity": "no",
      "send_configured_bps": 50000000, "send_commanded_bps": 0, "send_capacity_bps": 50000000,
      "receive_configured_bps": 10000000, "receive_commanded_bps": 0,
      "receive_capacity_bps": 10000000}])");
  gateway.rules = Json::parse(R"([{"rule": 1, "action": "accelerate"}, {"rule": 0}])");
  gateway.counters = Json::parse(R"({"flows_established": 3, "flows_from_peer": 0})");
  gateway.records = Json::parse(R"({"file": "off", "ipfix": "off"})");
  gateway.bridged = Json::array();
  gateway.events = Json::array();
  return gateway;
}

inline Facts sample_facts(const std::string& line = "") {
  Facts facts;
  facts.file = sample_file(line);
  facts.gateway = sample_gateway();
  facts.version = "9.9.9";
  facts.now_ms = 2'000'000;
  facts.user = "satrelay";
  facts.machine = sample_machine();
  return facts;
}

// Facts before the first start: no gateway answers.
inline Facts sample_facts_of_file(const std::string& line = "") {
  Facts facts = sample_facts(line);
  facts.gateway.reset();
  facts.gateway_trouble = "no gateway runs with the prefix satrelay";
  return facts;
}

inline Json& peer_of(Facts& facts) { return facts.gateway->peers[0]; }
inline Json& counters_of(Facts& facts) { return facts.gateway->counters; }

inline std::vector<std::string> names_of(const machine::Findings& findings) {
  std::vector<std::string> names;
  for (const machine::Finding& each : findings) names.emplace_back(each.check);
  return names;
}

// The finding of this check; it must be there once.
inline machine::Finding find_check(const machine::Findings& findings, std::string_view check) {
  EXPECT_EQ(std::ranges::count(findings, check, &machine::Finding::check), 1) << check;
  const auto found = std::ranges::find(findings, check, &machine::Finding::check);
  return found == findings.end() ? machine::Finding() : *found;
}

}  // namespace satrelay::ctl::doctor
