#include "relay/satrelayctl/views/render.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "relay/client/reply.h"
#include "relay/gateway/flows/wait.h"
#include "relay/version/version.h"

namespace satrelay::ctl::render_test {
namespace {

using Json = nlohmann::ordered_json;

TEST(RenderStatus, ShowsSumsWithUnits) {
  const Json status = Json::parse(R"({
    "uptime_ms": 7380000, "age_ms": 40, "boot_epoch": "1",
    "peers": {"alive": 2, "wrong_key": 1}, "flows": 12, "half_open": 1,
    "arena_bytes": 268435456, "arena_used_bytes": 67108864,
    "tcp": {"bytes_in": 1048576, "bytes_out": 2097152, "retransmitted_segments": 3,
            "retransmission_timeouts": 0},
    "codec": {"plain_bytes": 1000, "encoded_bytes": 250, "compressed_blocks": 5,
              "dictionary_blocks": 0, "skipped_blocks": 6, "expanded_blocks": 0}})");
  EXPECT_EQ(render_status(status),
            "uptime       2 h 03 min\n"
            "peers        2 alive, 1 wrong key?\n"
            "flows        12, and 1 half-open\n"
            "memory       64.0 MiB of 256 MiB (25.00%)\n"
            "tcp          1.00 MiB in, 2.00 MiB out; 3 segments retransmitted, 0 timeouts\n"
            "compression  1000 B became 250 B (25.00%); 5 blocks compressed, 6 left alone, 0 not "
            "smaller\n");
  const std::string with = render_status(
      Json::parse(R"({"codec": {"plain_bytes": 2, "encoded_bytes": 1, "compressed_blocks": 5,
                                "dictionary_blocks": 4}})"));
  EXPECT_NE(with.find("5 blocks compressed (4 with a dictionary), "), std::string::npos) << with;
}

TEST(RenderStatus, SaysThatAnotherVersionWaitsForARestart) {
  const Build own = this_build();
  const auto shown = [](const Json& status) { return render_status(status); };
  const std::string same = shown({{"version", own.version}, {"commit", own.commit}});
  EXPECT_TRUE(same.starts_with("version      " + to_string(own) + "\n")) << same;
  EXPECT_EQ(same.find("waiting"), std::string::npos) << same;
  const std::string waits =
      "\nwaiting      " + to_string(own) + " is installed, and takes over when the gateway is ";
  const std::string older = shown({{"version", "0.0.1"}});  // its reply had no commit
  EXPECT_TRUE(older.starts_with("version      0.0.1" + waits)) << older;
  const std::string rebuilt = shown({{"version", own.version}, {"commit", "0"}});
  EXPECT_NE(rebuilt.find(waits), std::string::npos) << rebuilt;
}

TEST(RenderRecords, SaysWhatBecameOfThem) {
  const Json records = Json::parse(R"({"file": "failing", "ipfix": "away", "waiting": 7, "lost": 0,
    "file_trouble": "/var/flows: No space left on device", "ipfix_trouble": "",
    "written": 12345, "written_bytes": 5242880, "unwritten": 3, "rotations": 1, "exported": 10,
    "exported_messages": 2, "exported_bytes": 2048, "unexported": 4, "connections": 1})");
  EXPECT_EQ(render_records(records),
            "file         failing: /var/flows: No space left on device\n"
            "written      12 345, 5.00 MiB; 3 could not be\n"
            "rotations    1\n"
            "IPFIX        away\n"
            "exported     10, 2.00 KiB; 4 could not be\n"
            "connections  1\n"
            "waiting      7\n"
            "lost         0\n");
}

TEST(RenderStatus, SaysThatNewFlowsAreBridged) {
  const std::string text = render_status(Json::parse(R"({"new_flows": "draining", "flows": 3})"));
  EXPECT_NE(text.find("\nnew flows    bridged (draining)\n"), std::string::npos) << text;
  EXPECT_EQ(render_status(Json::parse(R"({"new_flows": "open"})")).find("new flows"),
            std::string::npos);
}

TEST(RenderStatus, WarnsOfASilentWorker) {
  const std::string text = render_status(Json::parse(R"({"age_ms": 61000})"));
  EXPECT_NE(text.find("WARNING      the worker has not reported for 1 min 01 s"), std::string::npos)
      << text;
}

TEST(RenderPeers, ShowsLinkAndState) {
  const Json peers = Json::parse(R"([{
    "name": "remote", "address": "192.0.2.2", "state": "alive", "next_hop": "unresolved",
    "link": "sat", "send_rate_bps": 50000000, "path_mtu_bytes": 1500,
    "rtt_us": 551000, "loss_ppm": 10400, "streams": 3, "packets_in_flight": 2300, "stored_bytes": 4096,
    "flows": 4, "flows_refused": 17, "arena_used_bytes": 8192,
    "counters": {"bytes_out": 1048576, "bytes_in": 2048, "packets_lost": 9,
                 "retransmitted_bytes": 13140}}])");
  EXPECT_EQ(
      render_peers(peers),
      "peer    address    state                        link         rate  path mtu     rtt   loss  "
      "streams  in flight    stored      sent  received  lost  sent again  "
      "flows  refused    memory\n"
      "remote  192.0.2.2  alive (next hop unresolved)  sat   50.0 Mbit/s      1500  551 ms  1.04%  "
      "      3      2 300  4.00 KiB  1.00 MiB  2.00 KiB     9    12.8 KiB  "
      "    4       17  8.00 KiB\n");
}

// On a terminal of 80 columns the text names the columns left out, and how to see them.
TEST(RenderPeers, SaysWhichColumnsDoNotFit) {
  const Json peers = Json::parse(R"([{"name": "remote", "address": "192.0.2.2", "state": "alive",
                                      "link": "sat", "send_rate_bps": 50000000}])");
  EXPECT_EQ(render_peers(peers, 80),
            "peer    address    state  link         rate  path mtu  rtt  loss  streams\n"
            "remote  192.0.2.2  alive  sat   50.0 Mbit/s         -    -     -        -\n"
            "Left out: in flight, stored, sent, received, lost, sent again, flows, refused,\n"
            "memory. Use --wide, or a terminal of 150 columns.\n");
}

TEST(Render, FitsItsLines) {
  const Json flow = Json::parse(R"({"id": "17", "client": "2001:db8:1111:2222:3333:4444:5555:6666",
    "client_port": 40000, "server": "2001:db8:1111:2222:3333:4444:5555:7777", "server_port": 443})");
  const Json counters = Json::parse(R"({"dropped_relayed_from_wan": 12345678901})");
  const Json status = Json::parse(R"({"codec": {"plain_bytes": 2, "encoded_bytes": 1}})");
  const Json miss = Json::parse(
      R"({"rule": 2, "name": "web", "action": "accelerate", "peer": "ship", "prefix": "::/0",
          "misses": {"1": {"name": "a name that is as long as names may be", "criterion": "dscp"}}})");
  for (const std::string& text :
       {render_flows(Json::array({flow}), 80), render_flow(flow, 80), render_status(status, 80),
        render_counters(counters, Zeros::kHide, 80),
        render_ports(Json::array({Json::object()}), 80),
        render_rules(Json::array({Json::object()}), 80), render_explanation(miss, 80),
        render_classes(Json::array({Json::object()}), 80),
        render_links(Json::array({Json::object()}), 80),
        render_histograms(Json::array({Json::object()}), 80),
        render_bridged(Json::array({flow}), 80)}) {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      EXPECT_LE(end - at, 80U) << text;
      at = end + 1;
    }
  }
  // The meaning of a counter is folded, not left out.
  EXPECT_NE(render_counters(counters, Zeros::kHide, 80).find("meaning"), std::string::npos);
}

TEST(RenderPeers, ShowsNoFigureThatWasNotMeasured) {
  Json peers = Json::parse(R"([{"name": "remote", "address": "192.0.2.2", "state": "wrong_key",
                                "link": "sat", "send_rate_bps": 50000000}])");
  const std::string text = render_peers(peers);
  EXPECT_NE(text.find("wrong key?  sat   50.0 Mbit/s         -    -     -"), std::string::npos)
      << text;
  name_unmeasured("peers", peers);
  EXPECT_EQ(render_peers(peers), text);
}

TEST(RenderPeers, SaysWhyAPeerIsRefused) {
  const auto shown = [](const char* counters) {
    return render_peers(
        Json::parse(std::string(R"([{"state": "refused", "counters": )") + counters + "}]"));
  };
  EXPECT_NE(
      shown(R"({"version_mismatch": 3, "security_mismatch": 0})").find("refused (another version)"),
      std::string::npos);
  EXPECT_NE(shown(R"({"security_mismatch": 3})").find("refused (only one encrypts)"),
            std::string::npos);
}

TEST(RenderFlows, BracketsIpv6AddressesAndShowsWhatIsMissing) {
  const Json flows = Json::parse(R"([
    {"client": "2001:db8::7", "client_port": 40000, "server": "198.51.100.7", "server_port": 80},
    {}])");
  const std::string text = render_flows(flows);
  EXPECT_NE(text.find("[2001:db8::7]:40000  198.51.100.7:80  -"), std::string::npos) << text;
  EXPECT_NE(text.find("\n -  -:-"), std::string::npos) << text;
}

TEST(RenderFlow, SaysWhatEachDirectionWaitsFor) {
  const Json flow = Json::parse(R"({
    "id": "17", "client": "198.51.100.10", "client_port": 40000, "server": "203.0.113.10",
    "server_port": 443, "peer": "remote", "client_side": "lan", "tcp_state": "ESTABLISHED",
    "age_ms": 61000, "idle_ms": 40, "from_lan_bytes": 2097152, "to_lan_bytes": 0,
    "encoded_bytes": 524288, "lan_stored_bytes": 65536, "compress": "auto", "class": "",
    "dictionary": "0123456789abcdef", "modes": {"handshake": "local", "ack": "local", "close": "local", "window": "mirror", "delivery": "ordinary"},
    "lan_rtt_us": 400, "path_rtt_us": 551000, "path_loss_ppm": 10400, "path_rate_bps": 50000000,
    "stp_unsent_bytes": 4096, "stp_credit_bytes": 0, "waits_towards_peer": "credit",
    "waits_towards_host": "of a later version"})");
  const std::string text = render_flow(flow);
  for (const char* part : {"flow 17 ", "198.51.100.10:40000 > 203.0.113.10:443, client on the LAN",
                           "window: mirror", "peer remote, RTT 551 ms, loss 1.04%, 50.0 Mbit/s",
                           "auto, dictionary 0123456789abcdef, 2.00 MiB became 512 KiB",
                           "unsent 4.00 KiB, not acknowledged -, credit 0",
                           "waits          the far host reads more slowly than this host sends: "
                           "no credit is left",
                           "waits          of a later version"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  }
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    EXPECT_LE(end - at, 100U) << text.substr(at, end - at);
    at = end + 1;
  }
}

// Each word that the gateway may send has a sentence.
TEST(RenderFlow, KnowsEveryWord) {
  for (int i = 0; i <= static_cast<int>(gateway::Wait::kNothing); ++i) {
    const std::string word(gateway::to_string(static_cast<gateway::Wait>(i)));
    Json flow;
    flow["waits_towards_peer"] = flow["waits_towards_host"] = word;
    const std::string text = render_flow(flow);
    const std::string bare = "waits          " + word + "\n";
    const std::size_t first = text.find(bare);
    const bool both = first != std::string::npos && text.find(bare, first + 1) != std::string::npos;
    EXPECT_FALSE(both) << word;
  }
}

TEST(RenderPorts, ShowsSpeedAndErrors) {
  const Json ports = Json::parse(R"([{
    "name": "lan", "device": "lan: af_packet on lan0", "mac": "02:00:00:00:00:01", "link": "up",
    "link_mbit_per_s": 10000, "mtu_bytes": 1500, "rx_frames": 1000, "rx_bytes": 1500000,
    "tx_frames": 0, "tx_bytes": 0, "rx_missed": 7, "rx_errors": 0, "rx_no_buffer": 0,
    "rx_merged": 0, "tx_errors": 0, "tx_unsent": 0}])");
  const std::string text = render_ports(ports);
  EXPECT_NE(text.find("\nlan   af_packet on lan0  02:00"), std::string::npos) << text;
  EXPECT_NE(text.find("up 10.0 Gbit/s  1500      1 000  1.43 MiB"), std::string::npos) << text;
}

TEST(RenderRules, ShowsWhatFellUnderEachAndWhatIsUnusual) {
  const Json rules = Json::parse(R"([
    {"rule": 1, "name": "web", "action": "accelerate", "compress": "off", "changed": "yes",
     "modes": {"handshake": "local", "ack": "local", "close": "local", "window": "mirror", "delivery": "ordinary"},
     "connections": 12345, "from_lan_bytes": 1024, "to_lan_bytes": 2048, "bridged_frames": 3,
     "bridged_bytes": 300, "dropped_frames": 0,
     "codec": {"plain_bytes": 1000, "encoded_bytes": 250}},
    {"rule": 0, "name": "", "action": "bridge", "compress": "auto", "changed": "no",
     "connections": 0}])");
  EXPECT_EQ(render_rules(rules),
            "rule  name  action                                         connections  from lan"
            "  became    to lan  bridged frames  bridged  dropped\n"
            "   1  web   accelerate: compress off, window mirror (set)       12 345  1.00 KiB"
            "  25.00%  2.00 KiB               3    300 B        0\n"
            "none        bridge                                                   0         -"
            "       -         -               -        -        -\n");
}

TEST(RenderLinks, ShowsWhatEachCarriesAndWhy) {
  const Json links = Json::parse(R"([
    {"name": "sat", "peers": 3, "finds_capacity": "no", "send_configured_bps": 20000000,
     "send_commanded_bps": 10000000, "send_capacity_bps": 10000000,
     "receive_configured_bps": 4000000, "receive_commanded_bps": 0, "receive_capacity_bps": 4000000,
     "sent_bytes": 2048},
    {"name": "spare", "peers": 0, "finds_capacity": "yes"}])");
  EXPECT_EQ(render_links(links),
            "link           peers         send   configured          set      receive"
            "   configured  set      sent\n"
            "sat                3  10.0 Mbit/s  20.0 Mbit/s  10.0 Mbit/s  4.00 Mbit/s"
            "  4.00 Mbit/s    -  2.00 KiB\n"
            "spare (finds)      0            -            -            -            -"
            "            -    -         -\n");
}

TEST(RenderClasses, ShowsThePartOfEachAndWhatBecameOfIt) {
  const Json classes = Json::parse(R"([
    {"name": "voice", "weight": 4, "guaranteed_bps": 2000000, "maximum_bps": 0, "changed": "yes",
     "hosts": 3, "held_frames": 5, "held_bytes": 2048, "relayed_bytes": 0, "bridged_frames": 12345,
     "bridged_bytes": 1048576, "waited_frames": 17, "dropped_frames": 1,
     "dictionary": "0123456789abcdef"},
    {"name": "bulk", "weight": 1, "guaranteed_bps": 0, "maximum_bps": 5000000, "changed": "no",
     "hosts": 1, "held_frames": 0, "held_bytes": 0, "relayed_bytes": 3145728, "bridged_frames": 0,
     "bridged_bytes": 0, "waited_frames": 0, "dropped_frames": 0, "dictionary": ""},
    {"name": "bridged", "weight": 0}])");
  EXPECT_EQ(
      render_classes(classes),
      "class        weight   guaranteed      maximum  hosts  waiting frames   waiting   relayed"
      "  bridged frames   bridged  had to wait  dropped  dictionary\n"
      "voice (set)       4  2.00 Mbit/s            -      3               5  2.00 KiB       0 B"
      "          12 345  1.00 MiB           17        1  0123456789abcdef\n"
      "bulk              1            -  5.00 Mbit/s      1               0       0 B  3.00 MiB"
      "               0       0 B            0        0  -\n"
      "bridged           -            -            -      -               -         -         -"
      "               -         -            -        -  -\n");
}

TEST(RenderExplanation, SaysWhyNotTheRulesBeforeAndWhatHappensNow) {
  const Json explanation = Json::parse(R"({"rule": 23, "name": "web", "action": "accelerate",
    "compress": "auto", "modes": {"handshake": "remote", "ack": "local", "close": "local",
    "window": "rewrite", "delivery": "ordinary"}, "class": "bulk", "peer": "ship", "prefix": "198.51.100.0/24",
    "bridged_as": "", "handshake": "remote", "handshake_cause": "rule",
    "misses": {"1": {"name": "", "criterion": "port"},
    "2": {"name": "voice", "criterion": "dscp"}}, "more_misses": 20})");
  EXPECT_EQ(
      render_explanation(explanation),
      "rule 1          no: another port\n"
      "rule 2   voice  no: another dscp\n"
      "                and 20 more that do not match\n"
      "rule 23  web    matches: accelerate, handshake remote, class bulk\n"
      "peer            ship, for 198.51.100.0/24\n"
      "now             relayed, if it is TCP; the server answers the SYN, as the rule says\n");
}

TEST(RenderExplanation, OfAPacketThatIsNotTcp) {
  Json explanation = Json::parse(R"({"rule": 1, "name": "web", "action": "accelerate",
    "compress": "off", "class": "bulk", "peer": "ship", "prefix": "198.51.100.0/24",
    "outcome": "bridged", "tcp_only": "yes", "bridged_as": "bridged_not_tcp",
    "bridged_class": "bulk", "bridged_turn": "bulk", "bridged_weight": 4,
    "bridged_guaranteed_bps": 300000, "bridged_maximum_bps": 1000000, "handshake": "",
    "handshake_cause": "", "misses": {}, "more_misses": 0})");
  EXPECT_EQ(render_explanation(explanation),
            "rule 1  web  matches: accelerate, for TCP only, class bulk\n"
            "peer         ship, for 198.51.100.0/24\n"
            "now          bridged, and counted as bridged_not_tcp\n"
            "class        bulk: weight 4, guaranteed 300 kbit/s, at most 1.00 Mbit/s\n");
  explanation["bridged_class"] = "bridged";
  explanation["bridged_turn"] = "relayed";
  explanation["bridged_guaranteed_bps"] = explanation["bridged_maximum_bps"] = 0U;
  EXPECT_TRUE(render_explanation(explanation)
                  .ends_with("class        bridged, at the turn of relayed: weight 4\n"));
  explanation["action"] = "reset";
  explanation["outcome"] = "dropped";
  explanation["bridged_class"] = "";
  EXPECT_TRUE(render_explanation(explanation).ends_with("now          dropped\n"));
}

TEST(RenderExplanation, OfNoRuleAndNoPeer) {
  const Json explanation = Json::parse(R"({"rule": 0, "name": "", "action": "bridge",
    "compress": "auto", "class": "", "peer": "", "prefix": "",
    "bridged_as": "bridged_no_peer_prefix", "misses": {}, "more_misses": 0})");
  EXPECT_EQ(render_explanation(explanation),
            "no rule    matches: bridge\n"
            "peer       none: no peer's prefix holds the far host\n"
            "now        bridged, and counted as bridged_no_peer_prefix\n");
}

TEST(RenderCounters, HidesZerosUnlessAsked) {
  const Json counters = Json::parse(R"({"bridged_not_ip": 12345, "of_another_version": 0})");
  EXPECT_EQ(render_counters(counters, Zeros::kHide),
            "counter         since start  meaning\n"
            "bridged_not_ip       12 345  ARP, LLDP, BPDU, other ethertypes\n"
            "and 1 at 0 (--all shows them)\n");
  EXPECT_EQ(render_counters(counters, Zeros::kShow),
            "counter             since start  meaning\n"
            "bridged_not_ip           12 345  ARP, LLDP, BPDU, other ethertypes\n"
            "of_another_version            0\n");
}

TEST(Render, SurvivesAnyShape) {
  for (const char* text : {"null", "1", "[]", "{}", "[1, null, [], {}]", R"({"a": {"b": []}})",
                           R"([{"name": 1, "rtt_us": -5, "counters": 3}])"}) {
    const Json value = Json::parse(text);
    render_status(value);
    render_ports(value);
    render_peers(value);
    render_flows(value);
    render_classes(value);
    render_links(value);
    render_counters(value, Zeros::kShow);
  }
}

TEST(Render, LetsNoNameMoveTheCursor) {
  const std::string text = render_peers(Json::parse("[{\"name\": \"a\\u001b[2J\"}]"));
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(RenderBridged, ShowsWhichConnectionAndWhy) {
  const Json connections = Json::parse(R"([
    {"client": "203.0.113.5", "client_port": 40000, "server": "198.51.100.5", "server_port": 22,
     "reason": "bridged_by_rule", "rule": 1, "rule_name": "ssh", "age_ms": 1500, "syns": 1},
    {"client": "2001:db8::5", "client_port": 40001, "server": "2001:db8::7", "server_port": 443,
     "reason": "bridged_peer_down", "rule": 2, "rule_name": "", "age_ms": 61000, "syns": 4}])");
  EXPECT_EQ(render_bridged(connections),
            "client               server             reason            ago  rule  SYNs\n"
            "203.0.113.5:40000    198.51.100.5:22    by_rule        1.50 s  ssh      1\n"
            "[2001:db8::5]:40001  [2001:db8::7]:443  peer_down  1 min 01 s  2        4\n");
}

TEST(RenderHistograms, ShowsMeansAndWithinWhatMostAre) {
  const Json histograms = Json::parse(R"([
    {"name": "worker_round_ns", "worker": "0", "count": 1000, "sum": 12000000, "le_1000": 400,
     "le_2000": 500, "le_5000": 900, "le_10000": 990, "le_20000": 990, "le_50000": 995,
     "le_100000": 998, "le_200000": 998, "le_500000": 998, "le_1000000": 998, "le_2000000": 998,
     "le_5000000": 998, "le_10000000": 998, "le_20000000": 998, "le_100000000": 998},
    {"name": "block_compression_ns", "count": 0, "sum": 0}, {"name": "another", "count": 7}])");
  EXPECT_EQ(render_histograms(histograms),
            "what               of        count   mean  50% within  99% within  99.9% within\n"
            "worker_round       worker 0  1 000  12 us        2 us       10 us      > 100 ms\n"
            "block_compression                0      -           -           -             -\n"
            "another                          7      -           -           -             -\n");
}

}  // namespace
}  // namespace satrelay::ctl::render_test
