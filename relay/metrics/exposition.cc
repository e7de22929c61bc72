#include "relay/metrics/exposition.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "pep/compress/codec_counters.h"
#include "pep/stp/counters.h"
#include "pep/tcp/counters.h"
#include "relay/client/reply.h"
#include "relay/dpdk/device/port_stats.h"
#include "relay/gateway/counters.h"
#include "relay/gateway/rules/rule_counters.h"
#include "relay/gateway/uplink/class_counters.h"
#include "relay/metrics/metric_names.h"
#include "relay/metrics/reply_fields.h"
#include "relay/metrics/webhook_counters.h"
#include "relay/ops/stats/histogram_list.h"
#include "relay/ops/stats/worker_counters.h"
#include "relay/records/record_counters.h"
#include "relay/version/version.h"

namespace satrelay::metrics {
namespace {

using ctl::Json;
using ctl::member;
using ctl::number;

// --- counters by reason -------------------------------------------------------------------------

constexpr ReasonGroup kReasonsOfGateway[] = {
    {.prefix = "bridged_", .family = "bridged_frames", .help = "frames passed on unchanged"},
    {.prefix = "dropped_",
     .family = "dropped_frames",
     .help = "frames not passed on",
     .exception = gateway::name(gateway::Counter::kDroppedLateAnswers)},
    {.prefix = "flows_reset_", .family = "flows_reset", .help = "flows that ended with a reset"},
    {.prefix = "flows_refused",
     .family = "flows_refused",
     .help = "flows that were refused",
     .bare_reason = "by_server"},
};
constexpr ReasonGroup kReasonsOfPeer[] = {
    {.prefix = "rate_cuts_",
     .family = "peer_rate_cuts",
     .help = "cuts of the send rate to the peer"},
};

// --- gauges and states beside the counters -------------------------------------------------------

enum class Zero { kValue, kUnknown };

// Converts a value to its base unit: multiply the value by `times`, then divide it by `over`. Both
// members are whole numbers, so that 551 ms become exactly 0.551 s.
struct Scale {
  double times = 1;
  double over = 1;
};

// A number in a reply that may also decrease, so it is exported as a gauge.
struct Figure {
  const char* key;
  const char* family;
  const char* help;
  std::string_view unit = {};
  Scale scale = {};
  Zero zero = Zero::kValue;
};

constexpr std::string_view kBytes = "bytes";
constexpr std::string_view kSeconds = "seconds";
constexpr std::string_view kRate = "bytes_per_second";
constexpr std::string_view kRatio = "ratio";
constexpr Scale kBits = {.over = 8};
constexpr Scale kMegabits = {.times = 1e6, .over = 8};
constexpr Scale kMillionths = {.over = 1e6};
constexpr Scale kMilliseconds = {.over = 1e3};

constexpr Figure kFiguresOfStatus[] = {
    {"age_ms", "snapshot_age_seconds", "time since the last report of the worker", kSeconds,
     kMilliseconds},
    {"uptime_ms", "uptime_seconds", "time since the gateway started", kSeconds, kMilliseconds},
    {"flows", "flows", "relayed connections"},
    {"half_open", "half_open_flows", "flows with an incomplete handshake"},
    {"time_wait", "time_wait_connections", "closed connections kept to answer late segments"},
    {"arena_bytes", "memory_limit_bytes", "limits.memory", kBytes},
    {"arena_used_bytes", "memory_used_bytes",
     "memory that stored bytes and the reserves of flows take, of limits.memory", kBytes},
};
constexpr Figure kFiguresOfWorker[] = {
    {"flows", "worker_flows", "flows of the worker"},
};
constexpr Figure kFiguresOfPort[] = {
    {"mtu_bytes", "port_mtu_bytes", "largest IP packet", kBytes},
    {"link_mbit_per_s", "port_speed_bytes_per_second",
     "speed of the port's link, if the device reports it", kRate, kMegabits, Zero::kUnknown},
};
constexpr Figure kFiguresOfPeer[] = {
    {"send_rate_bps", "peer_send_rate_bytes_per_second", "highest rate that is sent to the peer",
     kRate, kBits},
    {"announced_bps", "peer_announced_rate_bytes_per_second",
     "capacity of the link to the peer, if the peer announced one", kRate, kBits, Zero::kUnknown},
    {"path_mtu_bytes", "peer_path_mtu_bytes", "largest IP packet that is known to cross the path",
     kBytes},
    {"rtt_us", "peer_rtt_seconds", "round trip of the link", kSeconds, kMillionths},
    {"loss_ppm", "peer_loss_ratio", "share of lost packets, over about the last 10,000", kRatio,
     kMillionths},
    {"streams", "peer_streams", "open streams"},
    {"packets_in_flight", "peer_in_flight_packets", "packets not reported on yet"},
    {"stored_bytes", "peer_stored_bytes", "bytes received from the peer and not yet passed on",
     kBytes},
    {"flows", "peer_flows", "flows with hosts behind the peer, opened by either side"},
    {"arena_used_bytes", "peer_memory_bytes",
     "memory that the peer's flows and streams take, of limits.memory", kBytes},
    {"dictionaries", "peer_dictionaries", "classes compressed with a dictionary"},
};
constexpr Figure kFiguresOfLink[] = {
    {"peers", "link_peers", "peers that are reached over the link"},
    {"send_capacity_bps", "link_send_capacity_bytes_per_second",
     "assumed capacity: the lowest of the configured, commanded, announced and found rates", kRate,
     kBits},
    {"send_configured_bps", "link_send_configured_bytes_per_second", "configured rate", kRate,
     kBits},
    {"receive_capacity_bps", "link_receive_capacity_bytes_per_second",
     "capacity towards this gateway that is announced to the peers", kRate, kBits},
    {"receive_configured_bps", "link_receive_configured_bytes_per_second", "configured rate", kRate,
     kBits},
};
constexpr Figure kFiguresOfClass[] = {
    {"weight", "class_weight", "weight of the class, 0 for none"},
    {"guaranteed_bps", "class_guaranteed_bytes_per_second",
     "guaranteed rate of the class, 0 for none", kRate, kBits},
    {"maximum_bps", "class_maximum_bytes_per_second", "maximum rate of the class, 0 for none",
     kRate, kBits},
    {"hosts", "class_hosts", "hosts with bytes or frames to send"},
    {"held_frames", "class_held_frames", "bridged frames that wait"},
    {"held_bytes", "class_held_bytes", "bridged bytes that wait", kBytes},
    {"waiting_bytes", "class_waiting_bytes", "relayed bytes that wait", kBytes},
};

constexpr Figure kFiguresOfRecords[] = {
    {"waiting", "records_waiting",
     "records of flows that wait for the writer, or for a file that fails"},
};

// A text field of a reply that has one of several known values. Each known value gets a sample: 1
// for the present value, 0 for the other values.
struct State {
  const char* key;
  const char* family;
  const char* help;
  std::span<const std::string_view> words;
};

constexpr State kNewFlows = {"new_flows", "new_flows_state",
                             "1 for open: relayed; bypass, draining: bridged, as commanded",
                             kAdmissionWords};
constexpr State kStatesOfPort[] = {
    {"link", "port_link_state", "1 for the present state of the port's link", kPortLinkWords}};
constexpr State kStatesOfRecords[] = {
    {"file", "records_file_state", "1 for the present state of the file of records of flows",
     kRecordsFileWords},
    {"ipfix", "records_ipfix_state",
     "1 for the present state of the connection to the IPFIX collector", kRecordsIpfixWords},
};
constexpr State kStatesOfPeer[] = {
    {"state", "peer_state", "1 for the present state of the peer", kPeerStateWords},
    {"new_flows", "peer_new_flows_state", "1 for the peer's present handling of new flows",
     kAdmissionWords},
};

// A text field of a reply. Its sample is 1 if the text equals `word`, otherwise 0.
struct Flag {
  const char* key;
  std::string_view word;
  const char* family;
  const char* help;
};
constexpr Flag kFlagsOfPeer[] = {
    {"next_hop", "resolved", "peer_next_hop_resolved",
     "1 if the MAC of the next hop to the peer is known, 0 if it does not answer"},
};
constexpr Flag kFlagsOfRule[] = {
    {"changed", "yes", "rule_changed",
     "1 if the operator has changed a setting since the configuration was read"},
};
constexpr Flag kFlagsOfLink[] = {
    {"finds_capacity", "yes", "link_finds_capacity",
     "1 if the gateway finds the capacity of the link by itself"},
};
constexpr Flag kFlagsOfClass[] = {
    {"changed", "yes", "class_changed",
     "1 if the operator has changed a setting since the configuration was read"},
};

// Text fields that describe an object, such as a port. They become the labels of one sample.
struct Information {
  const char* family;
  const char* help;
  std::span<const char* const> keys;
};
constexpr const char* kWordsOfPort[] = {"device", "mac"};
constexpr const char* kWordsOfPeer[] = {"address", "link", "controller", "security"};
constexpr const char* kWordsOfRule[] = {"name", "action", "compress"};
constexpr const char* kWordsOfClass[] = {"dictionary"};
constexpr Information kPort = {"port", "device and address of the port", kWordsOfPort};
constexpr Information kPeer = {"peer", "configuration of the peer", kWordsOfPeer};
constexpr Information kRule = {"rule", "name and action of the rule", kWordsOfRule};
constexpr Information kClass = {"class", "dictionary of the class", kWordsOfClass};

// --- writing the kinds of metrics ----------------------------------------------------------------

// An object of a listing, such as a peer, with the labels that identify the object.
struct Entry {
  Labels labels;
  const Json* reply;
};
using Entries = std::vector<Entry>;

Entries parts_of(const Entries& entries, const char* key) {
  Entries parts;
  for (const Entry& entry : entries) parts.push_back({entry.labels, &member(*entry.reply, key)});
  return parts;
}

void write_figures(ExpositionWriter& out, const Entries& entries, std::span<const Figure> figures) {
  for (const Figure& figure : figures) {
    out.begin({figure.family, FamilyKind::kGauge, figure.unit, figure.help});
    for (const Entry& entry : entries) {
      const auto value = number(*entry.reply, figure.key);
      if (!value || (*value == 0 && figure.zero == Zero::kUnknown)) continue;
      if (figure.scale.times == figure.scale.over) {
        out.sample(entry.labels, *value);
      } else {
        out.sample(entry.labels,
                   static_cast<double>(*value) * figure.scale.times / figure.scale.over);
      }
    }
  }
}

// An unknown value of the field also gets a sample, since a later version of the gateway may have
// added that value.
void write_states(ExpositionWriter& out, const Entries& entries, const State& state) {
  out.begin({state.family, FamilyKind::kGauge, "", state.help});
  for (const Entry& entry : entries) {
    const auto holds = word(*entry.reply, state.key);
    if (!holds) continue;
    bool is_known = false;
    for (const std::string_view each : state.words) {
      out.sample(Labels(entry.labels).add("state", each), each == *holds);
      is_known |= each == *holds;
    }
    if (!is_known) out.sample(Labels(entry.labels).add("state", *holds), true);
  }
}

void write_flags(ExpositionWriter& out, const Entries& entries, std::span<const Flag> flags) {
  for (const Flag& flag : flags) {
    out.begin({flag.family, FamilyKind::kGauge, "", flag.help});
    for (const Entry& entry : entries) {
      const auto holds = word(*entry.reply, flag.key);
      if (holds) out.sample(entry.labels, *holds == flag.word);
    }
  }
}

void write_information(ExpositionWriter& out, const Entries& entries, const Information& about) {
  out.begin({about.family, FamilyKind::kInfo, "", about.help});
  for (const Entry& entry : entries) {
    Labels labels = entry.labels;
    for (const char* key : about.keys) {
      if (const auto value = word(*entry.reply, key)) labels.add(key, *value);
    }
    out.sample(labels, true);
  }
}

void write_count(ExpositionWriter& out, const Labels& labels, std::uint64_t count, BaseUnit unit) {
  if (unit.divisor == 1) {
    out.sample(labels, count);
  } else {
    out.sample(labels, static_cast<double>(count) / unit.divisor);
  }
}

// For each entry, writes the counters that `Struct` lists. Each counter has its own family, but the
// counters of a reason group share one family.
template <typename Struct>
void write_counters(ExpositionWriter& out, const Entries& entries, std::string_view scope,
                    std::span<const ReasonGroup> groups = {}) {
  const auto& fields = Struct::kFields;
  std::vector<Values<Struct>> all;
  all.reserve(entries.size());
  for (const Entry& entry : entries) all.push_back(values_of<Struct>(*entry.reply));

  for (const ReasonGroup& group : groups) {
    out.begin({group.family, FamilyKind::kCounter, "", group.help});
    for (std::size_t e = 0; e < entries.size(); ++e) {
      for (std::size_t i = 0; i < fields.size(); ++i) {
        const std::string_view reason = reason_in(group, fields[i].name);
        if (reason.empty() || !all[e][i]) continue;
        out.sample(Labels(entries[e].labels).add("reason", reason), *all[e][i]);
      }
    }
  }
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto has = [&](const ReasonGroup& group) {
      return !reason_in(group, fields[i].name).empty();
    };
    if (std::any_of(groups.begin(), groups.end(), has)) continue;
    const BaseUnit unit = base_unit(fields[i].unit);
    const bool is_gauge = fields[i].kind == CounterKind::kGauge;
    out.begin({family_name(scope, fields[i].name, fields[i].unit),
               is_gauge ? FamilyKind::kGauge : FamilyKind::kCounter, unit.name, fields[i].help});
    for (std::size_t e = 0; e < entries.size(); ++e) {
      if (all[e][i]) write_count(out, entries[e].labels, *all[e][i], unit);
    }
  }
}

// Writes one histogram of the reply, if `told` has a count for each bound of `field`.
void write_histogram(ExpositionWriter& out, const Labels& labels, const Json& told,
                     const HistogramField& field) {
  const double divisor = base_unit(field.unit).divisor;
  const auto count = number(told, "count");
  const auto sum = number(told, "sum");
  if (!count || !sum) return;
  std::vector<ExpositionWriter::Bucket> buckets;
  for (const std::uint64_t bound : field.bounds) {
    const auto up_to = number(told, fmt::format("le_{}", bound).c_str());
    if (!up_to) return;
    buckets.push_back({static_cast<double>(bound) / divisor, *up_to});
  }
  out.histogram(labels, buckets, *count, static_cast<double>(*sum) / divisor);
}

// --- writing the replies -------------------------------------------------------------------------

// Returns up to `most` entries of a listing. Leaves out an entry if it has no name, or the same
// name as an earlier entry.
Entries entries_of(const Json& listing, const char* label, std::size_t most) {
  Entries entries;
  std::unordered_set<std::string> names;
  for (const Json& reply : listing) {
    if (entries.size() == most) break;
    const auto name = label_of(reply, label);
    // Two series with the same name and labels would make the whole exposition invalid.
    if (!name || !names.insert(*name).second) continue;
    entries.push_back({Labels(label, *name), &reply});
  }
  return entries;
}

// Returns the fields of a JSON object as entries, with the field names as labels.
Entries entries_by_name(const Json& object, const char* label) {
  Entries entries;
  if (!object.is_object()) return entries;
  for (const auto& [name, reply] : object.items()) entries.push_back({Labels(label, name), &reply});
  return entries;
}

void write_about_us(ExpositionWriter& out, bool up) {
  out.begin({"up", FamilyKind::kGauge, "", "1 if the gateway has answered, 0 if it has not"});
  out.sample({}, up);
  out.begin({"build", FamilyKind::kInfo, "", "version of the program that exports these metrics"});
  out.sample(Labels("version", version()), true);
}

void write_peers_by_state(ExpositionWriter& out, const Json& counts) {
  out.begin({"peers", FamilyKind::kGauge, "", "number of peers in this state"});
  if (!counts.is_object()) return;
  for (const std::string_view state : kPeerStateWords) {
    out.sample(Labels("state", state), number(counts, std::string(state).c_str()).value_or(0));
  }
  for (const auto& [state, count] : counts.items()) {
    const auto& known = kPeerStateWords;
    if (std::find(known.begin(), known.end(), state) != known.end()) continue;
    if (count.is_number_unsigned()) {
      out.sample(Labels("state", state), count.get<std::uint64_t>());
    }
  }
}

void write_status(ExpositionWriter& out, const Json& status) {
  const Entries gateway = {{{}, &status}};
  write_figures(out, gateway, kFiguresOfStatus);
  write_states(out, gateway, kNewFlows);
  write_peers_by_state(out, member(status, "peers"));
  write_counters<tcp::Counters>(out, parts_of(gateway, "tcp"), "tcp");
  write_counters<compress::CodecCounters>(out, parts_of(gateway, "codec"), "compression");
  const Entries workers = entries_by_name(member(status, "workers"), "worker");
  write_figures(out, workers, kFiguresOfWorker);
  write_counters<ops::WorkerCounters>(out, workers, "worker");
}

void write_records(ExpositionWriter& out, const Json& records) {
  const Entries entries = {{{}, &records}};
  for (const State& state : kStatesOfRecords) write_states(out, entries, state);
  write_figures(out, entries, kFiguresOfRecords);
  write_counters<records::RecordCounters>(out, entries, "records");
}

void write_ports(ExpositionWriter& out, const Json& ports) {
  const Entries entries = entries_by_name(ports, "port");
  write_information(out, entries, kPort);
  for (const State& state : kStatesOfPort) write_states(out, entries, state);
  write_figures(out, entries, kFiguresOfPort);
  write_counters<dpdk::PortStats>(out, entries, "port");
}

void write_peers(ExpositionWriter& out, const Entries& peers) {
  write_information(out, peers, kPeer);
  for (const State& state : kStatesOfPeer) write_states(out, peers, state);
  write_flags(out, peers, kFlagsOfPeer);
  write_figures(out, peers, kFiguresOfPeer);
  write_counters<stp::Counters>(out, parts_of(peers, "counters"), "peer", kReasonsOfPeer);
}

void write_rules(ExpositionWriter& out, const Entries& rules) {
  write_information(out, rules, kRule);
  write_flags(out, rules, kFlagsOfRule);
  write_counters<gateway::RuleUse>(out, rules, "rule");
  write_counters<compress::CodecCounters>(out, parts_of(rules, "codec"), "rule_compression");
}

void write_histograms(ExpositionWriter& out, const Json& listing) {
  if (!listing.is_array()) return;
  for (const HistogramField* field : ops::kHistograms) {
    out.begin({family_name("", field->name, field->unit), FamilyKind::kHistogram,
               base_unit(field->unit).name, field->help});
    const std::string_view label = field->label;
    std::unordered_set<std::string> seen;
    for (const Json& told : listing) {
      if (word(told, "name") != field->name) continue;
      const auto of =
          label.empty() ? std::optional<std::string_view>("") : word(told, field->label);
      if (!of || !seen.emplace(*of).second) continue;
      write_histogram(out, label.empty() ? Labels() : Labels(label, *of), told, *field);
    }
  }
}

void write_classes(ExpositionWriter& out, const Json& listing) {
  const Entries classes = entries_of(listing, "class", listing.size());
  write_information(out, classes, kClass);
  write_flags(out, classes, kFlagsOfClass);
  write_figures(out, classes, kFiguresOfClass);
  write_counters<gateway::ClassUse>(out, classes, "class");
}

void write_links(ExpositionWriter& out, const Json& listing) {
  const Entries links = entries_of(listing, "link", kMostExposedPeers);
  write_flags(out, links, kFlagsOfLink);
  write_figures(out, links, kFiguresOfLink);
  out.begin({"link_sent_bytes", FamilyKind::kCounter, "bytes",
             "bytes sent over the link, bridged frames included, as the link counts them"});
  for (const Entry& link : links) {
    if (const auto sent = number(*link.reply, "sent_bytes")) out.sample(link.labels, *sent);
  }
}

}  // namespace

std::string expose(const Readings& readings, ExpositionFormat format, const Json& webhooks) {
  ExpositionWriter out(format);
  write_about_us(out, readings.up);
  write_counters<WebhookCounters>(out, entries_of(webhooks, "webhook", webhooks.size()), "webhook");
  if (!readings.up) return out.finish();
  write_status(out, readings.status);
  const Entries gateway = {{{}, &readings.counters}};
  write_counters<gateway::Counters>(out, gateway, "", kReasonsOfGateway);
  write_records(out, readings.records);
  write_ports(out, readings.ports);
  const Entries peers = entries_of(readings.peers, "peer", kMostExposedPeers);
  const Entries rules = entries_of(readings.rules, "rule", kMostExposedRules);
  out.begin({"entries_left_out", FamilyKind::kGauge, "",
             "peers or rules without metrics, because there are too many"});
  out.sample(Labels("listing", "peers"), readings.peers.size() - peers.size());
  out.sample(Labels("listing", "rules"), readings.rules.size() - rules.size());
  write_peers(out, peers);
  write_rules(out, rules);
  write_classes(out, readings.classes);
  write_links(out, readings.links);
  write_histograms(out, readings.histograms);
  return out.finish();
}

}  // namespace satrelay::metrics
