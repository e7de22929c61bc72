#include "relay/metrics/exposition.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "pep/stp/types.h"
#include "relay/gateway/admission.h"
#include "relay/metrics/reply_fields.h"
#include "relay/version/version.h"
#include "tests/unit/relay/metrics/sample_readings.h"

namespace satrelay::metrics::exposition_test {
namespace {

std::string text_of(const Readings& readings) { return expose(readings, ExpositionFormat::kText); }

std::vector<std::string> lines_of(const std::string& exposition) {
  std::vector<std::string> lines;
  std::istringstream stream(exposition);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// The value of each sample, by its name and labels.
std::map<std::string, std::string> samples_of(const std::string& exposition) {
  std::map<std::string, std::string> samples;
  for (const std::string& line : lines_of(exposition)) {
    if (line.starts_with("#")) continue;
    const std::size_t space = line.rfind(' ');
    const bool is_new = samples.emplace(line.substr(0, space), line.substr(space + 1)).second;
    EXPECT_TRUE(is_new) << "twice: " << line;
  }
  return samples;
}

std::string value_in(const Readings& readings, const std::string& series) {
  const auto samples = samples_of(text_of(readings));
  const auto found = samples.find(series);
  return found == samples.end() ? "none" : found->second;
}

void expect_lines(const std::string& exposition, const std::string& lines) {
  EXPECT_NE(("\n" + exposition).find("\n" + lines), std::string::npos)
      << lines << "\nnot in\n"
      << exposition.substr(0, 3000);
}

// The value that count_into() gave to the field.
template <typename Struct>
std::string place_of(const char* name) {
  std::uint64_t value = 1;
  for (const auto& field : Struct::kFields) {
    if (std::string_view(field.name) == name) return std::to_string(value);
    ++value;
  }
  return "no such field";
}

TEST(Exposition, HasHelpAndTypeBeforeTheSamplesOfAFamily) {
  const std::string text = text_of(sample_readings());
  expect_lines(text,
               "# HELP satrelay_up 1 if the gateway has answered, 0 if it has not\n"
               "# TYPE satrelay_up gauge\n"
               "satrelay_up 1\n");
  expect_lines(text,
               "# HELP satrelay_port_rx_frames_total frames received\n"
               "# TYPE satrelay_port_rx_frames_total counter\n"
               "satrelay_port_rx_frames_total{port=\"lan\"} 1\n"
               "satrelay_port_rx_frames_total{port=\"wan\"} 1\n");
  expect_lines(text,
               "# TYPE satrelay_build_info gauge\n"
               "satrelay_build_info{version=\"" +
                   std::string(version()) + "\"} 1\n");
}

TEST(Exposition, FollowsOpenMetrics) {
  const std::string text = expose(sample_readings(), ExpositionFormat::kOpenMetrics);
  expect_lines(text,
               "# HELP satrelay_port_rx_frames frames received\n"
               "# TYPE satrelay_port_rx_frames counter\n"
               "satrelay_port_rx_frames_total{port=\"lan\"} 1\n");
  expect_lines(text,
               "# HELP satrelay_compression_time_seconds time spent on compression\n"
               "# TYPE satrelay_compression_time_seconds counter\n"
               "# UNIT satrelay_compression_time_seconds seconds\n"
               "satrelay_compression_time_seconds_total 7e-09\n");
  expect_lines(text, "# TYPE satrelay_build info\nsatrelay_build_info{version=");
  EXPECT_TRUE(text.ends_with("\n# EOF\n"));
  EXPECT_EQ(text_of(sample_readings()).find("# EOF"), std::string::npos);
}

TEST(Exposition, IsInBaseUnits) {
  const Readings readings = sample_readings();
  EXPECT_EQ(value_in(readings, "satrelay_snapshot_age_seconds"), "0.04");
  EXPECT_EQ(value_in(readings, "satrelay_uptime_seconds"), "61.5");
  EXPECT_EQ(value_in(readings, "satrelay_memory_used_bytes"), "67108864");
  EXPECT_EQ(value_in(readings, R"(satrelay_port_speed_bytes_per_second{port="lan"})"), "125000000");
  EXPECT_EQ(value_in(readings, R"(satrelay_peer_send_rate_bytes_per_second{peer="remote"})"),
            "6250000");
  EXPECT_EQ(value_in(readings, R"(satrelay_peer_rtt_seconds{peer="remote"})"), "0.551");
  EXPECT_EQ(value_in(readings, R"(satrelay_peer_loss_ratio{peer="remote"})"), "0.0104");
}

TEST(Exposition, MakesReasonsALabel) {
  const Readings readings = sample_readings();
  using gateway::Counters;
  EXPECT_EQ(value_in(readings, R"(satrelay_bridged_frames_total{reason="no_peer_prefix"})"),
            place_of<Counters>("bridged_no_peer_prefix"));
  EXPECT_EQ(value_in(readings, R"(satrelay_dropped_frames_total{reason="bad_checksum"})"),
            place_of<Counters>("dropped_bad_checksum"));
  EXPECT_EQ(value_in(readings, R"(satrelay_flows_reset_total{reason="peer_lost"})"),
            place_of<Counters>("flows_reset_peer_lost"));
  EXPECT_EQ(value_in(readings, R"(satrelay_flows_refused_total{reason="by_server"})"),
            place_of<Counters>("flows_refused"));
  EXPECT_EQ(value_in(readings, R"(satrelay_flows_refused_total{reason="foreign"})"),
            place_of<Counters>("flows_refused_foreign"));
  EXPECT_EQ(
      value_in(readings, R"(satrelay_peer_rate_cuts_total{peer="remote",reason="announced"})"),
      place_of<stp::Counters>("rate_cuts_announced"));
  // An answer that was not sent is not a frame that was not forwarded.
  EXPECT_EQ(value_in(readings, "satrelay_dropped_late_answers_total"),
            place_of<Counters>("dropped_late_answers"));
  // The counters of a rule have similar names, but they are not reasons.
  EXPECT_EQ(value_in(readings, R"(satrelay_rule_bridged_frames_total{rule="1"})"),
            place_of<gateway::RuleUse>("bridged_frames"));
}

// Each field of the lists has its own sample: no two fields share a name.
TEST(Exposition, HasEveryCounter) {
  std::size_t counters = 0;
  for (const auto& [series, value] : samples_of(text_of(sample_readings()))) {
    const std::string name = series.substr(0, series.find('{'));
    counters += name.ends_with("_total") ? 1U : 0U;
  }
  constexpr std::size_t kOfLinks = 1;  // sent bytes of each link
  EXPECT_EQ(counters,
            kOfLinks + gateway::Counters::kFields.size() + tcp::Counters::kFields.size() +
                compress::CodecCounters::kFields.size() + ops::WorkerCounters::kFields.size() +
                records::RecordCounters::kFields.size() + 2 * dpdk::PortStats::kFields.size() +
                stp::Counters::kFields.size() + 2 * gateway::RuleUse::kFields.size() +
                2 * compress::CodecCounters::kFields.size() +
                2 * gateway::ClassUse::kFields.size());
}

TEST(Exposition, TellsAStateAsOneSampleAValue) {
  Readings readings = sample_readings();
  readings.peers[0]["state"] = "wrong_key";
  const auto state = [&](const std::string& word) {
    return value_in(readings, R"(satrelay_peer_state{peer="remote",state=")" + word + "\"}");
  };
  EXPECT_EQ(state("alive"), "0");
  EXPECT_EQ(state("wrong_key"), "1");
  EXPECT_EQ(value_in(readings, R"(satrelay_peers{state="alive"})"), "2");
  EXPECT_EQ(value_in(readings, R"(satrelay_peers{state="closed"})"), "0");
  EXPECT_EQ(value_in(readings, R"(satrelay_new_flows_state{state="open"})"), "1");
  EXPECT_EQ(value_in(readings, R"(satrelay_port_link_state{port="wan",state="gone"})"), "0");
  EXPECT_EQ(value_in(readings, R"(satrelay_records_ipfix_state{state="away"})"), "1");
  EXPECT_EQ(value_in(readings, "satrelay_records_waiting"), "5");
}

TEST(Exposition, KnowsTheWordsOfStates) {
  for (const auto state :
       {stp::PeerState::kConnecting, stp::PeerState::kAlive, stp::PeerState::kSuspect,
        stp::PeerState::kRefused, stp::PeerState::kClosed}) {
    EXPECT_EQ(kPeerStateWords[static_cast<std::size_t>(state)], stp::to_string(state));
  }
  ASSERT_EQ(kAdmissionWords.size(), gateway::kLastAdmission + 1U);
  for (std::size_t i = 0; i < kAdmissionWords.size(); ++i) {
    EXPECT_EQ(kAdmissionWords[i], gateway::to_string(static_cast<gateway::Admission>(i)));
  }
}

TEST(Exposition, TellsOfThingsByTheirWords) {
  const Readings readings = sample_readings();
  EXPECT_EQ(value_in(readings, R"(satrelay_peer_info{peer="remote",address="192.0.2.2",link="sat",)"
                               R"(controller="fixed",security="aes-128-gcm"})"),
            "1");
  EXPECT_EQ(value_in(readings, R"(satrelay_rule_info{rule="1",name="web",action="accelerate",)"
                               R"(compress="auto"})"),
            "1");
  EXPECT_EQ(value_in(readings, R"(satrelay_class_changed{class="voice"})"), "1");
  EXPECT_EQ(value_in(readings, R"(satrelay_peer_next_hop_resolved{peer="remote"})"), "1");
}

TEST(Exposition, EscapesLabels) {
  Readings readings = sample_readings();
  readings.rules = Json::array({sample_rule(1, "a \"b\" \\ c\nd")});
  expect_lines(text_of(readings), R"(# HELP satrelay_rule_info name and action of the rule)");
  EXPECT_NE(text_of(readings).find(R"(satrelay_rule_info{rule="1",name="a \"b\" \\ c\nd",)"),
            std::string::npos);
}

TEST(Exposition, OfAGatewayThatDoesNotAnswerSaysNoMore) {
  std::vector<std::string> names;
  for (const auto& [series, value] : samples_of(text_of(Readings{}))) names.push_back(series);
  ASSERT_EQ(names.size(), 2U);
  EXPECT_TRUE(names[0].starts_with("satrelay_build_info"));
  EXPECT_EQ(value_in(Readings{}, "satrelay_up"), "0");
  EXPECT_TRUE(expose(Readings{}, ExpositionFormat::kOpenMetrics).ends_with("# EOF\n"));
}

TEST(Exposition, TellsWhatLinksCarryInBytes) {
  const Readings readings = sample_readings();
  EXPECT_EQ(value_in(readings, R"(satrelay_link_send_capacity_bytes_per_second{link="sat"})"),
            "1000000");
  EXPECT_EQ(value_in(readings, R"(satrelay_link_send_configured_bytes_per_second{link="sat"})"),
            "2000000");
  EXPECT_EQ(value_in(readings, R"(satrelay_link_finds_capacity{link="sat"})"), "0");
  EXPECT_EQ(value_in(readings, R"(satrelay_link_sent_bytes_total{link="sat"})"), "12345");
}

TEST(Exposition, OfAGatewayWhoseWorkerIsStuckHasWhatItsSnapshotSays) {
  Readings readings = sample_readings();
  readings.status["age_ms"] = 61'000U;
  readings.rules = readings.classes = readings.links = nullptr;
  const auto samples = samples_of(text_of(readings));
  EXPECT_EQ(samples.at("satrelay_snapshot_age_seconds"), "61");
  EXPECT_EQ(samples.at(R"(satrelay_peer_packets_out_total{peer="remote"})"), "2");
  EXPECT_TRUE(samples.contains(R"(satrelay_class_relayed_wait_seconds_count{class="0"})"));
  for (const auto& [series, value] : samples) {
    if (series.find("_wait_seconds_") != std::string::npos)
      continue;  // these come from the
                 // snapshot too
    EXPECT_FALSE(series.starts_with("satrelay_rule_") || series.starts_with("satrelay_class_"))
        << series;
  }
}

// A field that the gateway lacks has no sample, not even 0. A family without samples is left out.
TEST(Exposition, TakesAGatewayOfAnotherVersion) {
  Readings readings = sample_readings();
  readings.status.erase("time_wait");
  readings.status.erase("workers");
  readings.status["new_flows"] = "resting";
  readings.status["flows"] = "twelve";
  readings.status["peers"]["dreaming"] = 4U;
  readings.status["of_later"] = Json::object({{"a", 1}});
  readings.peers[0].erase("rtt_us");
  readings.peers[0]["announced_bps"] = 0U;
  readings.peers[0]["counters"].erase("packets_out");
  readings.peers[0]["counters"]["of_later"] = 9U;
  readings.counters.erase("bridged_not_tcp");
  readings.histograms = nullptr;
  const std::string text = text_of(readings);
  const auto samples = samples_of(text);
  EXPECT_EQ(samples.at(R"(satrelay_new_flows_state{state="resting"})"), "1");
  EXPECT_EQ(samples.at(R"(satrelay_new_flows_state{state="open"})"), "0");
  EXPECT_EQ(samples.at(R"(satrelay_peers{state="dreaming"})"), "4");
  // The values after the missing field still have the right names.
  EXPECT_EQ(samples.at(R"(satrelay_peer_in_bytes_total{peer="remote"})"), "3");
  for (const char* name : {"satrelay_time_wait_connections", "satrelay_worker_", "satrelay_flows ",
                           "satrelay_peer_rtt_seconds", "satrelay_peer_announced_rate",
                           "satrelay_peer_packets_out_total", "reason=\"not_tcp\"", "of_later"}) {
    EXPECT_EQ(text.find(name), std::string::npos) << name;
  }
}

TEST(Exposition, TakesRepliesOfOtherTypes) {
  for (const char* other : {"null", "7", "\"word\"", "[]", "{}", "[1, \"a\", {}]",
                            R"({"a": 1, "b": [2], "c": {"name": 3, "counters": 4}})"}) {
    const Json reply = Json::parse(other);
    Readings readings;
    readings.up = true;
    readings.status = readings.counters = readings.ports = reply;
    readings.peers = readings.rules = readings.classes = readings.links = reply;
    EXPECT_EQ(value_in(readings, "satrelay_up"), "1") << other;
    readings.status = sample_status();
    for (const char* key : {"tcp", "codec", "peers", "workers"}) readings.status[key] = reply;
    EXPECT_EQ(value_in(readings, "satrelay_flows"), "12") << other;
  }
}

TEST(Exposition, HasOneSeriesOfEachName) {
  Readings readings = sample_readings();
  readings.peers = Json::array({sample_peer("a"), sample_peer("b"), sample_peer("a")});
  const auto samples = samples_of(text_of(readings));
  EXPECT_EQ(samples.at(R"(satrelay_entries_left_out{listing="peers"})"), "1");
}

TEST(Exposition, OfAHubTellsOfItsFirstPeers) {
  Readings readings = sample_readings();
  readings.peers = Json::array();
  for (int i = 0; i < 300; ++i) readings.peers.push_back(sample_peer("peer-" + std::to_string(i)));
  EXPECT_EQ(value_in(readings, R"(satrelay_entries_left_out{listing="peers"})"), "0");
  EXPECT_EQ(value_in(readings, R"(satrelay_peer_rtt_seconds{peer="peer-299"})"), "0.551");
  for (int i = 300; i < 503; ++i)
    readings.peers.push_back(sample_peer("peer-" + std::to_string(i)));
  static_assert(kMostExposedPeers == 500);
  EXPECT_EQ(value_in(readings, R"(satrelay_entries_left_out{listing="peers"})"), "3");
  EXPECT_EQ(value_in(readings, R"(satrelay_peer_rtt_seconds{peer="peer-499"})"), "0.551");
  EXPECT_EQ(value_in(readings, R"(satrelay_peer_rtt_seconds{peer="peer-500"})"), "none");
  for (std::uint64_t i = 0; i < 600; ++i) readings.rules.push_back(sample_rule(i + 2, "r"));
  EXPECT_EQ(value_in(readings, R"(satrelay_entries_left_out{listing="rules"})"), "102");
}

TEST(Exposition, HasHistogramsInSeconds) {
  const std::string text = text_of(sample_readings());
  expect_lines(text,
               "# TYPE satrelay_worker_round_seconds histogram\n"
               "satrelay_worker_round_seconds_bucket{worker=\"0\",le=\"1e-06\"} 1\n"
               "satrelay_worker_round_seconds_bucket{worker=\"0\",le=\"2e-06\"} 2\n");
  expect_lines(text,
               "satrelay_worker_round_seconds_bucket{worker=\"0\",le=\"0.1\"} 15\n"
               "satrelay_worker_round_seconds_bucket{worker=\"0\",le=\"+Inf\"} 17\n"
               "satrelay_worker_round_seconds_sum{worker=\"0\"} 1.5\n"
               "satrelay_worker_round_seconds_count{worker=\"0\"} 17\n");
  expect_lines(text, "satrelay_class_relayed_wait_seconds_bucket{class=\"0\",le=\"0.0001\"} 1\n");
  expect_lines(text, "satrelay_class_relayed_wait_seconds_bucket{class=\"0\",le=\"1.0\"} 13\n");
  expect_lines(text, "satrelay_block_compression_seconds_count 14\n");
  expect_lines(expose(sample_readings(), ExpositionFormat::kOpenMetrics),
               "# TYPE satrelay_worker_round_seconds histogram\n"
               "# UNIT satrelay_worker_round_seconds seconds\n");
}

// A gateway of another version may have other bounds or another label. A missing bucket would look
// like an empty one.
TEST(Exposition, TakesNoHistogramThatItDoesNotKnowWhole) {
  Readings readings = sample_readings();
  for (Json& each : readings.histograms) each.erase("le_100000");
  readings.histograms.push_back(
      Json::parse(R"({"name": "from_tomorrow_us", "count": 1, "sum": 1})"));
  readings.histograms.push_back(Json("a text"));
  const std::string text = text_of(readings);
  EXPECT_EQ(text.find("satrelay_worker_round_seconds"), std::string::npos);
  EXPECT_EQ(text.find("from_tomorrow"), std::string::npos);
  EXPECT_EQ(text.find("_seconds_bucket"), std::string::npos);
}

}  // namespace
}  // namespace satrelay::metrics::exposition_test
