#include "relay/metrics/reply_shapes.h"

#include <algorithm>
#include <span>

#include "pep/compress/codec_counters.h"
#include "pep/stp/counters.h"
#include "pep/tcp/counters.h"
#include "relay/dpdk/device/port_stats.h"
#include "relay/gateway/counters.h"
#include "relay/gateway/rules/rule_counters.h"
#include "relay/gateway/uplink/class_counters.h"
#include "relay/ops/stats/worker_counters.h"
#include "relay/records/record_counters.h"

namespace satrelay::metrics {
namespace {

using enum ReplyType;
using Fields = std::vector<ReplyField>;

constexpr ReplyField kModesReply[] = {
    {"handshake", kText}, {"ack", kText}, {"close", kText}, {"window", kText}, {"delivery", kText}};
constexpr ReplyField kMissReply[] = {{"name", kText}, {"criterion", kText}};
constexpr ReplyField kStatusReply[] = {{"version", kText},
                                       {"commit", kText},
                                       {"uptime_ms"},
                                       {"age_ms"},
                                       {"boot_epoch", kText},
                                       {"new_flows", kText},
                                       {"peers", kNumbersByName},
                                       {"flows"},
                                       {"half_open"},
                                       {"time_wait"},
                                       {"arena_bytes"},
                                       {"arena_used_bytes"},
                                       {"tcp", kObject, "tcp"},
                                       {"codec", kObject, "codec"},
                                       {"workers", kObjectsByName, "worker"}};
constexpr ReplyField kWorkerReply[] = {{"flows"}};
constexpr ReplyField kPortReply[] = {{"name", kText}, {"device", kText}, {"mac", kText},
                                     {"mtu_bytes"},   {"link", kText},   {"link_mbit_per_s"}};
constexpr ReplyField kPeerReply[] = {{"name", kText},
                                     {"address", kText},
                                     {"state", kText},
                                     {"new_flows", kText},
                                     {"sources", kText, "", true},
                                     {"next_hop", kText},
                                     {"link", kText},
                                     {"send_rate_bps"},
                                     {"controller", kText},
                                     {"security", kText},
                                     {"announced_bps"},
                                     {"path_mtu_bytes", kNumber, "", true},
                                     {"rtt_us", kNumber, "", true},
                                     {"loss_ppm", kNumber, "", true},
                                     {"streams"},
                                     {"packets_in_flight"},
                                     {"stored_bytes"},
                                     {"flows"},
                                     {"flows_refused"},
                                     {"arena_used_bytes"},
                                     {"dictionaries"},
                                     {"counters", kObject, "peer_counters"}};
constexpr ReplyField kLinkReply[] = {{"name", kText},
                                     {"peers"},
                                     {"finds_capacity", kText},
                                     {"send_configured_bps"},
                                     {"send_commanded_bps"},
                                     {"send_capacity_bps"},
                                     {"receive_configured_bps"},
                                     {"receive_commanded_bps"},
                                     {"receive_capacity_bps"},
                                     {"sent_bytes"}};
constexpr ReplyField kRuleReply[] = {{"rule"},
                                     {"name", kText},
                                     {"action", kText},
                                     {"compress", kText},
                                     {"modes", kObject, "modes"},
                                     {"ttl", kText},
                                     {"mptcp", kText},
                                     {"changed", kText}};
constexpr ReplyField kRuleCodecReply[] = {{"codec", kObject, "codec"}};
constexpr ReplyField kClassReply[] = {
    {"name", kText},    {"weight"}, {"guaranteed_bps"}, {"maximum_bps"}, {"dictionary", kText},
    {"changed", kText}, {"hosts"},  {"held_frames"},    {"held_bytes"},  {"waiting_bytes"}};
constexpr ReplyField kFlowSummaryReply[] = {{"id", kText},
                                            {"client", kText},
                                            {"client_port"},
                                            {"server", kText},
                                            {"server_port"},
                                            {"peer", kText},
                                            {"client_side", kText},
                                            {"tcp_state", kText},
                                            {"age_ms"},
                                            {"idle_ms"},
                                            {"from_lan_bytes"},
                                            {"to_lan_bytes"},
                                            {"lan_stored_bytes"},
                                            {"stp_unacknowledged_bytes"},
                                            {"stp_stored_bytes"},
                                            {"lan_unacknowledged_bytes"},
                                            {"lan_window_bytes"},
                                            {"host_window_bytes"},
                                            {"lan_rtt_us", kNumber, "", true}};
constexpr ReplyField kFlowDetailsReply[] = {{"waits_towards_peer", kText},
                                            {"waits_towards_host", kText},
                                            {"lan_congestion_window_bytes"},
                                            {"lan_segment_bytes"},
                                            {"encoded_bytes"},
                                            {"stp_unsent_bytes"},
                                            {"stp_credit_bytes"},
                                            {"stp_in_order_bytes"},
                                            {"path_rtt_us", kNumber, "", true},
                                            {"path_loss_ppm", kNumber, "", true},
                                            {"path_rate_bps"},
                                            {"rule"},
                                            {"rule_name", kText},
                                            {"compress", kText},
                                            {"modes", kObject, "modes"},
                                            {"class", kText},
                                            {"dictionary", kText}};
constexpr ReplyField kBridgedConnectionReply[] = {
    {"client", kText}, {"client_port"},      {"server", kText}, {"server_port"}, {"reason", kText},
    {"rule"},          {"rule_name", kText}, {"age_ms"},        {"syns"}};
constexpr ReplyField kRecordsReply[] = {{"file", kText},  {"file_trouble", kText},
                                        {"ipfix", kText}, {"ipfix_trouble", kText},
                                        {"waiting"},      {"lost"}};
constexpr ReplyField kExplanationReply[] = {{"rule"},
                                            {"name", kText},
                                            {"action", kText},
                                            {"compress", kText},
                                            {"modes", kObject, "modes"},
                                            {"ttl", kText},
                                            {"mptcp", kText},
                                            {"class", kText},
                                            {"peer", kText},
                                            {"prefix", kText},
                                            {"outcome", kText},
                                            {"tcp_only", kText},
                                            {"bridged_as", kText},
                                            {"bridged_class", kText},
                                            {"bridged_turn", kText},
                                            {"bridged_weight"},
                                            {"bridged_guaranteed_bps"},
                                            {"bridged_maximum_bps"},
                                            {"handshake", kText},
                                            {"handshake_cause", kText},
                                            {"misses", kObjectsByName, "miss"},
                                            {"more_misses"}};

template <typename Counters>
void add_counters(Fields& fields) {
  for (const auto& field : Counters::kFields) fields.push_back({field.name});
}

using AddCounters = void (*)(Fields& fields);
void add_none(Fields& /*fields*/) {}

struct Shape {
  std::string_view name;
  std::span<const ReplyField> fields;
  AddCounters add_counters = add_none;
  std::span<const ReplyField> more = {};
};
constexpr Shape kShapes[] = {
    {"status", kStatusReply},
    {"worker", kWorkerReply, add_counters<ops::WorkerCounters>},
    {"tcp", {}, add_counters<tcp::Counters>},
    {"codec", {}, add_counters<compress::CodecCounters>},
    {"modes", kModesReply},
    {"port", kPortReply, add_counters<dpdk::PortStats>},
    {"peer", kPeerReply},
    {"peer_counters", {}, add_counters<stp::Counters>},
    {"link", kLinkReply},
    {"rule", kRuleReply, add_counters<gateway::RuleUse>, kRuleCodecReply},
    {"class", kClassReply, add_counters<gateway::ClassUse>},
    {"flow_summary", kFlowSummaryReply},
    {"flow", kFlowSummaryReply, add_none, kFlowDetailsReply},
    {"bridged_connection", kBridgedConnectionReply},
    {"counters", {}, add_counters<gateway::Counters>},
    {"records", kRecordsReply, add_counters<records::RecordCounters>},
    {"explanation", kExplanationReply},
    {"miss", kMissReply},
};

}  // namespace

std::vector<ReplyField> fields_of(std::string_view shape) {
  const auto found = std::ranges::find(kShapes, shape, &Shape::name);
  if (found == std::end(kShapes)) return {};
  Fields fields(found->fields.begin(), found->fields.end());
  found->add_counters(fields);
  fields.insert(fields.end(), found->more.begin(), found->more.end());
  return fields;
}

}  // namespace satrelay::metrics
