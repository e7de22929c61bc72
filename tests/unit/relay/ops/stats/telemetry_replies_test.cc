// Listings as a collector sees them: their fields, and pages of the longest entries. A page that is
// cut would not be valid JSON.
#include "relay/ops/stats/telemetry_replies.h"

#include "relay/metrics/reply_shapes.h"
#include "tests/unit/relay/ops/telemetry_fixture.h"

namespace satrelay::ops::telemetry_replies_test {
namespace {

TEST_F(TelemetryTest, HistogramsTellHowManyAreUpToEachBound) {
  const Telemetry telemetry(board_, events_, history_);
  Snapshot snapshot;
  gateway::HistogramSnapshot rounds{&kWorkerRound, "1", Histogram(kWorkerRound.bounds)};
  rounds.values.add(2'000, 3);
  rounds.values.add(30'000);
  rounds.values.add(1'000'000'000);
  gateway::HistogramSnapshot blocks{&compress::kBlockCompression, "",
                                    Histogram(compress::kBlockCompression.bounds)};
  snapshot.histograms = {rounds, blocks};
  publish(snapshot);
  const Json found = query("/satrelay/histograms");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found.at("0"), Json::parse(R"({"name": "worker_round_ns", "worker": "1", "count": 5,
    "sum": 1000036000, "le_1000": 0, "le_2000": 3, "le_5000": 3, "le_10000": 3, "le_20000": 3,
    "le_50000": 4, "le_100000": 4, "le_200000": 4, "le_500000": 4, "le_1000000": 4,
    "le_2000000": 4, "le_5000000": 4, "le_10000000": 4, "le_20000000": 4, "le_100000000": 4})"));
  EXPECT_FALSE(found.at("1").contains("worker"));
  EXPECT_EQ(found.at("1").at("count"), 0);
}

TEST_F(TelemetryTest, HistogramsComeInPagesThatFit) {
  const Telemetry telemetry(board_, events_, history_);
  Snapshot snapshot;
  gateway::HistogramSnapshot largest{&gateway::kRelayedWait, std::string(32, 'c'),
                                     Histogram(gateway::kRelayedWait.bounds)};
  largest.values.add(1, kMost);
  snapshot.histograms.assign(40, largest);
  publish(snapshot);
  EXPECT_EQ(query("/satrelay/histograms").size(), kHistogramsPerPage);
  EXPECT_EQ(ctl::StatsClient(socket_, 3s).query_all("/satrelay/histograms").size(), 40U);
}

TEST_F(TelemetryTest, BridgedConnectionsComeFromTheWorkerInPagesThatFit) {
  const Telemetry telemetry(board_, events_, history_);
  Live live;
  gateway::BridgedSnapshot largest;
  largest.client = largest.server = *IpAddress::parse("2001:db8:1111:2222:3333:4444:5555:6666");
  largest.client_port = largest.server_port = 65535;
  largest.reason = gateway::Counter::kBridgedForeignSource;
  largest.rule = largest.syns = std::numeric_limits<std::uint32_t>::max();
  largest.rule_name = std::string(32, 'r');
  largest.age = Duration::seconds(1'000'000'000);
  live.all_bridged.assign(100, largest);
  live.all_bridged[1] = {.client = *IpAddress::parse("203.0.113.5"),
                         .client_port = 40000,
                         .server = *IpAddress::parse("198.51.100.5"),
                         .server_port = 22,
                         .reason = gateway::Counter::kBridgedByRule,
                         .rule = 2,
                         .rule_name = "ssh",
                         .age = Duration::milliseconds(1'500),
                         .syns = 3};
  const LiveWorker worker(board_, live);
  EXPECT_EQ(query("/satrelay/bridged").size(), kBridgedPerPage);
  const Json all = ctl::StatsClient(socket_, 3s).query_all("/satrelay/bridged");
  ASSERT_EQ(all.size(), 100U);
  EXPECT_EQ(all[1], Json::parse(R"({"client": "203.0.113.5", "client_port": 40000,
    "server": "198.51.100.5", "server_port": 22, "reason": "bridged_by_rule", "rule": 2,
    "rule_name": "ssh", "age_ms": 1500, "syns": 3})"));
}

TEST_F(TelemetryTest, TheHistoryIsToldNewestFirstInPagesThatFit) {
  const Telemetry telemetry(board_, events_, history_);
  EXPECT_EQ(query("/satrelay/history").size(), 0U);
  Snapshot snapshot;
  snapshot.ports.resize(1);
  snapshot.ports[0].name = "wan";
  gateway::PeerSnapshot peer;
  peer.name = "remote";
  peer.state = stp::PeerState::kAlive;
  peer.rtt = Duration::milliseconds(550);
  snapshot.peers = {peer};
  for (std::uint64_t i = 0; i < 400; ++i) {
    snapshot.ports[0].stats.tx_bytes += 1'250'000;
    history_.add(snapshot, {}, Instant() + Duration::seconds(static_cast<std::int64_t>(10 * i)),
                 1'764'082'060'000 + 10'000 * i);
  }
  EXPECT_EQ(query("/satrelay/history").size(), kHistoryPerPage);
  ctl::StatsClient client(socket_, 3s);
  const Json all = client.query_all("/satrelay/history,gateway");
  ASSERT_EQ(all.size(), History::kPoints);
  EXPECT_EQ(all[0].at("time_ms"), 1'764'082'060'000 + 3'990'000);
  EXPECT_EQ(all[1].at("time_ms"), 1'764'082'060'000 + 3'980'000);
  EXPECT_EQ(all[0].at("send_bps"), 1'000'000);
  EXPECT_EQ(all[0].at("rtt_us"), 550'000);
  EXPECT_FALSE(all[0].contains("loss_ppm")) << "nothing was sent";
  EXPECT_EQ(client.query_all("/satrelay/history,peer,remote").size(), History::kPoints);
  EXPECT_EQ(client.query_all("/satrelay/history,link,nobody").size(), 0U);
  for (const char* wrong : {"host", "peer", "peer,,0,1", "gateway,x", "peer,remote,1,2,3"}) {
    EXPECT_THROW(query(std::string("/satrelay/history,") + wrong), ctl::StatsError) << wrong;
  }
}

TEST_F(TelemetryTest, AnIdentifierIsAString) {
  const Telemetry telemetry(board_, events_, history_);
  Snapshot snapshot;
  snapshot.status.boot_epoch = kBootEpoch;
  publish(snapshot);
  Live live;
  live.all_flows.resize(1);
  live.all_flows[0].id = kMost;
  const LiveWorker worker(board_, live);
  const std::string epoch = R"("boot_epoch":"1764082060000000000")";
  const std::string id = R"("id":"18446744073709551615")";
  EXPECT_NE(reply_to("/satrelay/status").find(epoch), std::string::npos);
  EXPECT_NE(reply_to("/satrelay/event_numbers").find(epoch), std::string::npos);
  EXPECT_NE(reply_to("/satrelay/flows").find(id), std::string::npos);
  EXPECT_NE(reply_to("/satrelay/flow," + std::to_string(kMost)).find(id), std::string::npos);
}

// The reply has the fields of its shape, in their order. A field that is only there if known may be
// absent.
void expect_shape(const Json& reply, std::string_view shape) {
  ASSERT_TRUE(reply.is_object()) << shape;
  auto next = reply.begin();
  for (const metrics::ReplyField& field : metrics::fields_of(shape)) {
    if (next == reply.end() || next.key() != field.name) {
      EXPECT_TRUE(field.is_if_known) << shape << ": " << field.name;
      continue;
    }
    using enum metrics::ReplyType;
    const bool is_word = field.type == kText, is_number = field.type == kNumber;
    EXPECT_EQ(next->is_string(), is_word) << shape << ": " << field.name;
    EXPECT_EQ(next->is_number_unsigned(), is_number) << shape << ": " << field.name;
    EXPECT_EQ(next->is_object(), !is_word && !is_number) << shape << ": " << field.name;
    if (field.type == kObject) expect_shape(*next, field.shape);
    if (field.type == kObjectsByName) {
      for (const Json& each : *next) expect_shape(each, field.shape);
    }
    ++next;
  }
  EXPECT_EQ(next, reply.end()) << shape << ": nobody knows of " << next.key();
}

TEST_F(TelemetryTest, RepliesHaveTheShapesThatAreToldOfThem) {
  const Telemetry telemetry(board_, events_, history_);
  Snapshot snapshot;
  snapshot.ports.resize(1);
  snapshot.ports[0].name = "lan";
  snapshot.workers.resize(2);
  gateway::PeerSnapshot measured, silent;
  measured.name = "far";
  measured.path_mtu = 1500;
  measured.rtt = Duration::milliseconds(550);
  measured.loss_ratio = 0.5;
  snapshot.peers = {measured, silent};
  snapshot.links.resize(1);
  publish(snapshot);
  Live live;
  live.all_classes.resize(1);
  live.all_rules.resize(1);
  live.all_bridged.resize(1);
  live.all_flows.resize(1);
  live.all_flows[0].id = 3;
  live.all_flows[0].lan_rtt = live.all_flows[0].path_rtt = Duration::milliseconds(1);
  live.all_flows[0].path_loss_ratio = 0.5;
  live.explanation.misses = {{1, "web", gateway::Criterion::kPort}};
  const LiveWorker worker(board_, live);
  expect_shape(query("/satrelay/status"), "status");
  expect_shape(query("/satrelay/counters"), "counters");
  expect_shape(query("/satrelay/records"), "records");
  expect_shape(query("/satrelay/ports").at("lan"), "port");
  for (const Json& peer : query("/satrelay/peers")) expect_shape(peer, "peer");
  expect_shape(query("/satrelay/links").at("0"), "link");
  expect_shape(query("/satrelay/classes").at("0"), "class");
  expect_shape(query("/satrelay/rules").at("0"), "rule");
  expect_shape(query("/satrelay/bridged").at("0"), "bridged_connection");
  expect_shape(query("/satrelay/flows").at("0"), "flow_summary");
  expect_shape(query("/satrelay/flow,3"), "flow");
  expect_shape(query("/satrelay/explain,203.0.113.5,198.51.100.5,443,6,0,0,outbound"),
               "explanation");
}

}  // namespace
}  // namespace satrelay::ops::telemetry_replies_test
