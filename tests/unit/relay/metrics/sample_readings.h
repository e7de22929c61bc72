// Sample readings of a gateway: every field of the stats socket, with a value.
#pragma once

#include <cstdint>
#include <string>

#include "pep/compress/codec_counters.h"
#include "pep/stp/counters.h"
#include "pep/tcp/counters.h"
#include "relay/dpdk/device/port_stats.h"
#include "relay/gateway/counters.h"
#include "relay/gateway/rules/rule_counters.h"
#include "relay/gateway/uplink/class_counters.h"
#include "relay/metrics/readings.h"
#include "relay/ops/stats/histogram_list.h"
#include "relay/ops/stats/worker_counters.h"
#include "relay/records/record_counters.h"

namespace satrelay::metrics {

using Json = nlohmann::ordered_json;

// Sets the fields to `first`, `first` + 1 and so on.
template <typename Struct>
void count_into(Json& object, std::uint64_t first = 1) {
  for (const auto& field : Struct::kFields) object[field.name] = first++;
}

template <typename Struct>
Json counted(std::uint64_t first = 1) {
  Json object = Json::object();
  count_into<Struct>(object, first);
  return object;
}

inline Json sample_status() {
  Json status = Json::parse(R"({
    "uptime_ms": 61500, "age_ms": 40, "boot_epoch": "7", "new_flows": "open",
    "peers": {"alive": 2, "suspect": 1}, "flows": 12, "half_open": 1, "time_wait": 3,
    "arena_bytes": 268435456, "arena_used_bytes": 67108864})");
  status["tcp"] = counted<tcp::Counters>();
  status["codec"] = counted<compress::CodecCounters>();
  Json worker = Json::parse(R"({"flows": 12})");
  count_into<ops::WorkerCounters>(worker);
  status["workers"] = Json::object({{"0", worker}});
  return status;
}

inline Json sample_port(const std::string& name) {
  Json port = Json::parse(R"({"device": "lan: af_packet on lan0", "mac": "02:00:00:00:00:01",
                              "mtu_bytes": 1500, "link": "up", "link_mbit_per_s": 1000})");
  port["name"] = name;
  count_into<dpdk::PortStats>(port);
  return port;
}

inline Json sample_peer(const std::string& name) {
  Json peer = Json::parse(R"({
    "name": "", "address": "192.0.2.2", "state": "alive", "new_flows": "open",
    "next_hop": "resolved", "link": "sat", "send_rate_bps": 50000000, "controller": "fixed",
    "security": "aes-128-gcm", "announced_bps": 40000000, "path_mtu_bytes": 1500, "rtt_us": 551000,
    "loss_ppm": 10400, "streams": 3, "packets_in_flight": 2300, "stored_bytes": 4096,
    "flows": 4, "flows_refused": 17, "arena_used_bytes": 8192, "dictionaries": 1})");
  peer["name"] = name;
  peer["counters"] = counted<stp::Counters>();
  return peer;
}

inline Json sample_rule(std::uint64_t number, const std::string& name) {
  Json rule = Json::parse(R"({"rule": 0, "name": "", "action": "accelerate", "compress": "auto",
                              "modes": {"handshake": "local"}, "changed": "no"})");
  rule["rule"] = number;
  rule["name"] = name;
  count_into<gateway::RuleUse>(rule);
  rule["codec"] = counted<compress::CodecCounters>();
  return rule;
}

inline Json sample_class(const std::string& name) {
  Json traffic_class = Json::parse(R"({"name": "", "weight": 2, "guaranteed_bps": 8000000,
    "maximum_bps": 0, "dictionary": "0123456789abcdef", "changed": "yes", "hosts": 4,
    "held_frames": 5, "held_bytes": 6000, "waiting_bytes": 7000})");
  traffic_class["name"] = name;
  count_into<gateway::ClassUse>(traffic_class);
  return traffic_class;
}

inline Json sample_link(const std::string& name) {
  Json link = Json::parse(R"({"name": "", "peers": 3, "finds_capacity": "no",
    "send_configured_bps": 16000000, "send_commanded_bps": 8000000, "send_capacity_bps": 8000000,
    "receive_configured_bps": 4000000, "receive_commanded_bps": 0,
    "receive_capacity_bps": 4000000, "sent_bytes": 12345})");
  link["name"] = name;
  return link;
}

// Each bucket holds one value. Two values are above the last bound.
inline Json sample_histogram(const HistogramField& field, const std::string& of) {
  Json histogram = Json::object({{"name", field.name}});
  if (*field.label != '\0') histogram[field.label] = of;
  std::uint64_t count = 0;
  for (const std::uint64_t bound : field.bounds) {
    histogram["le_" + std::to_string(bound)] = ++count;
  }
  histogram["count"] = count + 2;
  histogram["sum"] = std::uint64_t{1'500'000'000};
  return histogram;
}

inline Json sample_records() {
  Json reply = Json::parse(R"({"file": "ok", "file_trouble": "", "ipfix": "away",
    "ipfix_trouble": "connect: Connection refused", "waiting": 5, "lost": 2})");
  count_into<records::RecordCounters>(reply);
  return reply;
}

inline Readings sample_readings() {
  Readings readings;
  readings.up = true;
  readings.status = sample_status();
  readings.counters = counted<gateway::Counters>();
  readings.records = sample_records();
  readings.ports = Json::object({{"lan", sample_port("lan")}, {"wan", sample_port("wan")}});
  readings.peers = Json::array({sample_peer("remote")});
  readings.rules = Json::array({sample_rule(1, "web"), sample_rule(0, "")});
  readings.classes = Json::array({sample_class("voice"), sample_class("relayed")});
  readings.links = Json::array({sample_link("sat")});
  readings.histograms = Json::array();
  for (const HistogramField* field : ops::kHistograms) {
    readings.histograms.push_back(sample_histogram(*field, "0"));
  }
  return readings;
}

}  // namespace satrelay::metrics
