#include "relay/ops/stats/telemetry_replies.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/model/words.h"

namespace satrelay::ops {
namespace {

std::uint64_t microseconds(Duration duration) {
  return duration <= Duration::zero() ? 0U : static_cast<std::uint64_t>(duration.to_microseconds());
}

std::uint64_t milliseconds(Duration duration) {
  return duration <= Duration::zero() ? 0U : static_cast<std::uint64_t>(duration.to_milliseconds());
}

// DPDK's dicts cannot store fractions.
std::uint64_t parts_per_million(double ratio) {
  return ratio > 0 ? static_cast<std::uint64_t>(std::llround(ratio * 1e6)) : 0U;
}

// Leaves out a value that was never measured, since DPDK's dicts cannot store null.
void add_measured(TelemetryDict& dict, const char* key, std::optional<Duration> duration) {
  if (duration) dict.add(key, microseconds(*duration));
}

void add_measured(TelemetryDict& dict, const char* key, std::optional<double> ratio) {
  if (ratio) dict.add(key, parts_per_million(*ratio));
}

// An identifier is a string: JavaScript, whose numbers are doubles, would round it above 2^53.
void add_identifier(TelemetryDict& dict, const char* key, std::uint64_t identifier) {
  dict.add(key, std::to_string(identifier));
}

std::string state_of(const gateway::PeerSnapshot& peer) {
  return peer.wrong_key ? "wrong_key" : stp::to_string(peer.state);
}

// Returns a dict from each state that occurs to the number of peers in that state.
TelemetryDict count_states(const std::vector<gateway::PeerSnapshot>& peers) {
  std::map<std::string, std::uint64_t> count;
  for (const gateway::PeerSnapshot& peer : peers) ++count[state_of(peer)];
  TelemetryDict dict;
  for (const auto& [state, number] : count) dict.add(state.c_str(), number);
  return dict;
}

// Returns the first 16 digits of a dictionary's SHA-256 checksum, as sha256sum prints it for the
// file. Returns "" if no dictionary is used.
std::string digits_of(std::optional<std::uint64_t> fingerprint) {
  return fingerprint ? fmt::format("{:016x}", *fingerprint) : "";
}

template <typename Counters>
void add_counters(TelemetryDict& dict, const Counters& counters) {
  for (const auto& field : Counters::kFields) dict.add(field.name, value_of(counters, field));
}

template <typename Counters>
TelemetryDict dict_of(const Counters& counters) {
  TelemetryDict dict;
  add_counters(dict, counters);
  return dict;
}

template <typename Enum>
void add_word(TelemetryDict& dict, const char* key, Enum value) {
  dict.add(key, std::string(config::word_of(value)));
}

TelemetryDict to_dict(const config::FlowModes& modes) {
  TelemetryDict dict;
  add_word(dict, "handshake", modes.handshake);
  add_word(dict, "ack", modes.ack);
  add_word(dict, "close", modes.close);
  add_word(dict, "window", modes.window);
  add_word(dict, "delivery", modes.delivery);
  return dict;
}

void write_summary(const gateway::FlowSnapshot& flow, TelemetryDict& dict) {
  add_identifier(dict, "id", flow.id);
  dict.add("client", flow.client.to_string());
  dict.add("client_port", flow.client_port);
  dict.add("server", flow.server.to_string());
  dict.add("server_port", flow.server_port);
  dict.add("peer", flow.peer);
  dict.add("client_side", std::string(flow.from_lan ? "lan" : "peer"));
  dict.add("tcp_state", std::string(tcp::to_string(flow.tcp_state)));
  dict.add("age_ms", milliseconds(flow.age));
  dict.add("idle_ms", milliseconds(flow.idle));
  dict.add("from_lan_bytes", flow.bytes_from_lan);
  dict.add("to_lan_bytes", flow.bytes_to_lan);
  dict.add("lan_stored_bytes", flow.lan_stored);
  dict.add("stp_unacknowledged_bytes", flow.stp_unacknowledged);
  dict.add("stp_stored_bytes", flow.stp_stored);
  dict.add("lan_unacknowledged_bytes", flow.lan_unacknowledged);
  dict.add("lan_window_bytes", flow.lan_window);
  dict.add("host_window_bytes", flow.host_window);
  add_measured(dict, "lan_rtt_us", flow.lan_rtt);
}

}  // namespace

void write_status(const SnapshotBoard::Published& published, const Build& build,
                  TelemetryDict& reply) {
  const gateway::Status& status = published.snapshot->status;
  using std::chrono::duration_cast;
  reply.add("version", build.version);
  reply.add("commit", build.commit);
  reply.add("uptime_ms", milliseconds(status.uptime));
  reply.add("age_ms", static_cast<std::uint64_t>(
                          duration_cast<std::chrono::milliseconds>(published.age).count()));
  add_identifier(reply, "boot_epoch", status.boot_epoch);
  reply.add("new_flows", std::string(gateway::to_string(status.admission)));
  reply.add("peers", count_states(published.snapshot->peers));
  reply.add("flows", status.flows);
  reply.add("half_open", status.half_open);
  reply.add("time_wait", status.time_wait);
  reply.add("arena_bytes", status.arena_bytes);
  reply.add("arena_used_bytes", status.arena_used);
  reply.add("tcp", dict_of(status.tcp));
  reply.add("codec", dict_of(status.codec));
  TelemetryDict workers;
  for (std::size_t i = 0; i < published.snapshot->workers.size(); ++i) {
    const WorkerSnapshot& worker = published.snapshot->workers[i];
    TelemetryDict one;
    one.add("flows", worker.flows);
    add_counters(one, worker.counters);
    workers.add(std::to_string(i).c_str(), std::move(one));
  }
  reply.add("workers", std::move(workers));
}

void write_records(const records::RecordsReport& report, std::uint64_t lost, TelemetryDict& reply) {
  reply.add("file", report.file_state);
  reply.add("file_trouble", report.file_trouble);
  reply.add("ipfix", report.ipfix_state);
  reply.add("ipfix_trouble", report.collector_trouble);
  reply.add("waiting", report.waiting);
  reply.add("lost", lost);
  add_counters(reply, report.counters);
}

void write_counters(const gateway::Counters& counters, TelemetryDict& reply) {
  add_counters(reply, counters);
}

TelemetryDict to_dict(const PortSnapshot& port) {
  TelemetryDict dict;
  dict.add("name", port.name);
  dict.add("device", port.device);
  dict.add("mac", port.mac.to_string());
  dict.add("mtu_bytes", port.mtu);
  dict.add("link", std::string(port.gone ? "gone" : port.link_up ? "up" : "down"));
  dict.add("link_mbit_per_s", port.link_megabits);
  add_counters(dict, port.stats);
  return dict;
}

TelemetryDict to_dict(const gateway::PeerSnapshot& peer) {
  TelemetryDict dict;
  dict.add("name", peer.name);
  dict.add("address", peer.address.to_string());
  dict.add("state", state_of(peer));
  dict.add("new_flows", std::string(gateway::to_string(peer.admission)));
  dict.add("sources", std::string(peer.are_sources_known ? "known" : "unknown"));
  dict.add("next_hop", std::string(peer.resolved ? "resolved" : "unresolved"));
  dict.add("link", peer.link);
  dict.add("send_rate_bps", peer.send_rate.to_bits_per_second());
  dict.add("controller", peer.controller);
  dict.add("security", peer.encrypts ? "aes-128-gcm" : "none");
  dict.add("announced_bps", peer.announced.to_bits_per_second());
  if (peer.path_mtu) dict.add("path_mtu_bytes", *peer.path_mtu);
  add_measured(dict, "rtt_us", peer.rtt);
  add_measured(dict, "loss_ppm", peer.loss_ratio);
  dict.add("streams", peer.streams);
  dict.add("packets_in_flight", peer.packets_in_flight);
  dict.add("stored_bytes", peer.bytes_stored);
  dict.add("flows", peer.flows);
  dict.add("flows_refused", peer.flows_refused);
  dict.add("arena_used_bytes", peer.arena_used);
  dict.add("dictionaries", peer.dictionaries);
  dict.add("counters", dict_of(peer.counters));
  return dict;
}

TelemetryDict to_dict(const gateway::LinkSnapshot& link) {
  TelemetryDict dict;
  dict.add("name", link.name);
  dict.add("peers", link.peers);
  dict.add("finds_capacity", std::string(link.finds_capacity ? "yes" : "no"));
  dict.add("send_configured_bps", link.send.configured.to_bits_per_second());
  dict.add("send_commanded_bps", link.send.commanded.to_bits_per_second());
  dict.add("send_capacity_bps", link.send.capacity.to_bits_per_second());
  dict.add("receive_configured_bps", link.receive.configured.to_bits_per_second());
  dict.add("receive_commanded_bps", link.receive.commanded.to_bits_per_second());
  dict.add("receive_capacity_bps", link.receive.capacity.to_bits_per_second());
  dict.add("sent_bytes", link.sent_bytes);
  return dict;
}

TelemetryDict to_dict(const gateway::RuleSnapshot& rule) {
  TelemetryDict dict;
  dict.add("rule", rule.number);
  dict.add("name", rule.name);
  add_word(dict, "action", rule.action);
  add_word(dict, "compress", rule.compress);
  dict.add("modes", to_dict(rule.modes));
  add_word(dict, "ttl", rule.ttl);
  add_word(dict, "mptcp", rule.mptcp);
  dict.add("changed", std::string(rule.is_changed ? "yes" : "no"));
  add_counters(dict, rule.use);
  dict.add("codec", dict_of(rule.use.codec));
  return dict;
}

TelemetryDict to_dict(const gateway::ClassSnapshot& traffic_class) {
  const config::TrafficClass& in_force = traffic_class.in_force;
  TelemetryDict dict;
  dict.add("name", in_force.name);
  dict.add("weight", in_force.weight);
  dict.add("guaranteed_bps", in_force.guaranteed.to_bits_per_second());
  dict.add("maximum_bps", in_force.maximum.to_bits_per_second());
  dict.add("dictionary", digits_of(traffic_class.dictionary));
  dict.add("changed", std::string(traffic_class.is_changed ? "yes" : "no"));
  dict.add("hosts", traffic_class.hosts);
  dict.add("held_frames", traffic_class.held_frames);
  dict.add("held_bytes", traffic_class.held_bytes);
  dict.add("waiting_bytes", traffic_class.waiting_bytes);
  add_counters(dict, traffic_class.use);
  return dict;
}

// The buckets are cumulative, as in Prometheus histograms.
TelemetryDict to_dict(const gateway::HistogramSnapshot& histogram) {
  const HistogramField& field = *histogram.field;
  TelemetryDict dict;
  dict.add("name", std::string(field.name));
  if (*field.label != '\0') dict.add(field.label, histogram.of);
  dict.add("count", histogram.values.count());
  dict.add("sum", histogram.values.sum());
  std::uint64_t up_to = 0;
  for (std::size_t i = 0; i < field.bounds.size(); ++i) {
    up_to += histogram.values.buckets()[i];
    dict.add(fmt::format("le_{}", field.bounds[i]).c_str(), up_to);
  }
  return dict;
}

TelemetryDict to_dict(const gateway::BridgedSnapshot& connection) {
  TelemetryDict dict;
  dict.add("client", connection.client.to_string());
  dict.add("client_port", connection.client_port);
  dict.add("server", connection.server.to_string());
  dict.add("server_port", connection.server_port);
  dict.add("reason", std::string(gateway::name(connection.reason)));
  dict.add("rule", connection.rule);
  dict.add("rule_name", connection.rule_name);
  dict.add("age_ms", milliseconds(connection.age));
  dict.add("syns", connection.syns);
  return dict;
}

// Unknown values are left out.
TelemetryDict to_dict(const HistoryPoint& point) {
  TelemetryDict dict;
  dict.add("time_ms", point.time_ms);
  const auto add_known = [&](const char* key, float value, double times = 1) {
    if (std::isnan(value)) return;
    dict.add(key, static_cast<std::uint64_t>(std::llround(double{value} * times)));
  };
  add_known("send_bps", point.send_bps);
  add_known("receive_bps", point.receive_bps);
  add_known("loss_ppm", point.loss_ratio, 1e6);
  add_known("rtt_us", point.rtt_seconds, 1e6);
  add_known("queued_bytes", point.queued_bytes);
  add_known("wait_us", point.wait_seconds, 1e6);
  add_known("encoded_ppm", point.encoded_ratio, 1e6);
  return dict;
}

TelemetryDict to_dict(const NumberedEvent& told) {
  const Event& event = told.event;
  const EventDescription& description = describe(event.kind);
  TelemetryDict dict;
  dict.add("number", told.number);
  dict.add("time_ms", told.time_ms);
  dict.add("severity", std::string(to_string(severity_of(event))));
  dict.add("name", std::string(description.name));
  dict.add("subject", event.subject);
  dict.add("text", std::string(description.text));
  dict.add("detail", event.detail);
  dict.add("advice", std::string(advice_of(event)));
  const auto add_if_any = [&](const char* key, const std::string& value) {
    if (!value.empty()) dict.add(key, value);
  };
  add_if_any("user", told.user);
  add_if_any("old", event.before);
  add_if_any("new", event.after);
  if (event.fault) {
    dict.add("check", std::string(event.fault->check));
    add_if_any("cause", event.fault->cause);
    dict.add("page", std::string(event.fault->page));
  }
  return dict;
}

void write_event_numbers(const EventRing::Numbers& numbers, TelemetryDict& reply) {
  add_identifier(reply, "boot_epoch", numbers.boot_epoch);
  reply.add("oldest", numbers.oldest);
  reply.add("latest", numbers.latest);
}

void write_explanation(const gateway::Explanation& explanation, TelemetryDict& reply) {
  const config::Rule& rule = explanation.in_force;
  reply.add("rule", explanation.rule);
  reply.add("name", rule.name);
  add_word(reply, "action", rule.action);
  add_word(reply, "compress", rule.compress);
  reply.add("modes", to_dict(rule.modes));
  add_word(reply, "ttl", rule.ttl);
  add_word(reply, "mptcp", rule.mptcp);
  reply.add("class", rule.traffic_class);
  reply.add("peer", explanation.peer);
  reply.add("prefix", explanation.prefix ? explanation.prefix->to_string() : "");
  reply.add("outcome", std::string(to_string(explanation.outcome)));
  reply.add("tcp_only", std::string(explanation.is_for_tcp_only ? "yes" : "no"));
  reply.add("bridged_as",
            std::string(explanation.bridged_as ? gateway::name(*explanation.bridged_as) : ""));
  const gateway::BridgedTurn turn = explanation.bridged_turn.value_or(gateway::BridgedTurn());
  reply.add("bridged_class", turn.traffic_class);
  reply.add("bridged_turn", turn.turn);
  reply.add("bridged_weight", turn.weight);
  reply.add("bridged_guaranteed_bps", turn.guaranteed.to_bits_per_second());
  reply.add("bridged_maximum_bps", turn.maximum.to_bits_per_second());
  const auto& handshake = explanation.handshake;
  reply.add("handshake", handshake ? std::string(config::word_of(handshake->mode)) : "");
  reply.add("handshake_cause", std::string(handshake ? to_string(handshake->cause) : ""));
  TelemetryDict misses;
  for (const gateway::Explanation::Miss& miss : explanation.misses) {
    TelemetryDict entry;
    entry.add("name", miss.name);
    entry.add("criterion", std::string(miss.criterion ? to_string(*miss.criterion) : ""));
    misses.add(std::to_string(miss.rule).c_str(), std::move(entry));
  }
  reply.add("misses", std::move(misses));
  reply.add("more_misses", explanation.more_misses);
}

TelemetryDict to_dict(const gateway::FlowSnapshot& flow) {
  TelemetryDict dict;
  write_summary(flow, dict);
  return dict;
}

void write_flow(const gateway::FlowSnapshot& flow, TelemetryDict& reply) {
  write_summary(flow, reply);
  reply.add("waits_towards_peer", std::string(gateway::to_string(flow.wait_towards_peer)));
  reply.add("waits_towards_host", std::string(gateway::to_string(flow.wait_towards_host)));
  reply.add("lan_congestion_window_bytes", flow.lan_congestion_window);
  reply.add("lan_segment_bytes", flow.lan_segment_size);
  reply.add("encoded_bytes", flow.bytes_encoded);
  reply.add("stp_unsent_bytes", flow.stp_unsent);
  reply.add("stp_credit_bytes", flow.stp_credit);
  reply.add("stp_in_order_bytes", flow.stp_in_order);
  add_measured(reply, "path_rtt_us", flow.path_rtt);
  add_measured(reply, "path_loss_ppm", flow.path_loss_ratio);
  reply.add("path_rate_bps", flow.path_rate.to_bits_per_second());
  reply.add("rule", flow.rule);
  reply.add("rule_name", flow.rule_name);
  add_word(reply, "compress", flow.compress);
  reply.add("modes", to_dict(flow.modes));
  reply.add("class", flow.traffic_class);
  reply.add("dictionary", digits_of(flow.dictionary));
}

}  // namespace satrelay::ops
