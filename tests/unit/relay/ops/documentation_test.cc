// docs/statistics.md describes every counter and event, and no others. docs/guide.md has every
// command.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "pep/compress/codec_counters.h"
#include "pep/stp/counters.h"
#include "pep/tcp/counters.h"
#include "relay/dpdk/device/port_stats.h"
#include "relay/gateway/counters.h"
#include "relay/gateway/rules/rule_counters.h"
#include "relay/gateway/uplink/class_counters.h"
#include "relay/link/direction_counters.h"
#include "relay/ops/control/control_grammar.h"
#include "relay/ops/events/event.h"
#include "relay/ops/stats/histogram_list.h"
#include "relay/records/record_counters.h"

namespace satrelay::ops::documentation_test {
namespace {

std::string document(const std::string& name) {
  std::ifstream file(std::string(SATRELAY_DOCS) + "/" + name);
  EXPECT_TRUE(file) << name;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string statistics() { return document("statistics.md"); }

// The part of docs/statistics.md between two of its lines.
std::string section(const std::string& from, const std::string& to) {
  const std::string text = statistics();
  const std::size_t begin = text.find("\n" + from + "\n");
  const std::size_t end = text.find("\n" + to + "\n", begin);
  EXPECT_NE(begin, std::string::npos) << from;
  EXPECT_NE(end, std::string::npos) << to;
  return text.substr(begin, end - begin);
}

using Names = std::multiset<std::string>;

// The names in backticks in the first cells of the tables of `text`.
Names rows_of(const std::string& text) {
  Names names;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| `")) continue;
    const std::string cell = line.substr(1, line.find(" | ") - 1);
    for (std::size_t at = cell.find('`'); at != std::string::npos; at = cell.find('`', at + 1)) {
      const std::size_t end = cell.find('`', at + 1);
      names.insert(cell.substr(at + 1, end - at - 1));
      at = end;
    }
  }
  return names;
}

template <typename Counters>
Names names_of(Names others = {}) {
  for (const auto& field : Counters::kFields) others.insert(field.name);
  return others;
}

// Each counter has one row, or a part of one. No row names a counter that does not exist.
TEST(Documentation, HasEveryCounterOfTheStatsSocket) {
  EXPECT_EQ(rows_of(section("`tcp`:", "`codec`:")), names_of<tcp::Counters>());
  EXPECT_EQ(rows_of(section("`codec`:", "## /satrelay/ports")),
            names_of<compress::CodecCounters>());
  EXPECT_EQ(
      rows_of(section("## /satrelay/ports", "## /satrelay/peers")),
      names_of<dpdk::PortStats>({"name", "device", "mac", "mtu_bytes", "link", "link_mbit_per_s"}));
  EXPECT_EQ(rows_of(section("`counters` of a peer:", "## /satrelay/rules")),
            names_of<stp::Counters>());
  EXPECT_EQ(rows_of(section("## /satrelay/links", "## /satrelay/classes")),
            (Names{"name", "peers", "finds_capacity", "send_configured_bps",
                   "receive_configured_bps", "send_commanded_bps", "receive_commanded_bps",
                   "send_capacity_bps", "receive_capacity_bps", "sent_bytes"}));
  EXPECT_EQ(rows_of(section("## /satrelay/rules", "## /satrelay/links")),
            names_of<gateway::RuleUse>({"rule", "name", "action", "compress", "ttl", "mptcp",
                                        "modes", "changed", "codec"}));
  EXPECT_EQ(rows_of(section("## /satrelay/classes", "## /satrelay/explain")),
            names_of<gateway::ClassUse>({"name", "weight", "guaranteed_bps", "maximum_bps",
                                         "dictionary", "changed", "hosts", "held_frames",
                                         "held_bytes", "waiting_bytes"}));
  EXPECT_EQ(rows_of(section("## /satrelay/counters", "## /satrelay/records")),
            names_of<gateway::Counters>());
  EXPECT_EQ(rows_of(section("## /satrelay/records", "## Events")),
            names_of<records::RecordCounters>(
                {"file", "file_trouble", "ipfix", "ipfix_trouble", "waiting", "lost"}));
}

TEST(Documentation, HasEveryHistogram) {
  const std::string text = section("## /satrelay/histograms", "## /satrelay/history");
  Names rows = rows_of(text);
  for (const HistogramField* field : kHistograms) {
    const std::string label = *field->label == '\0' ? "" : "`" + std::string(field->label) + "` ";
    const std::string row = "\n| `" + std::string(field->name) + "` | " + label + "| ";
    EXPECT_NE(text.find(row), std::string::npos) << row;
    rows.erase(field->name);
  }
  rows.erase("name");  // the title of the column
  EXPECT_EQ(rows, Names());
}

TEST(Documentation, HasEveryCounterOfSatlink) {
  const std::string text = statistics();
  EXPECT_EQ(rows_of(text.substr(text.find("\n## Counters of satlink\n"))),
            names_of<link::DirectionCounters>(
                {"dropped_no_buffer", "frames_in_flight", "rate_bps", "outage"}));
}

TEST(Documentation, GuideListsEveryCommandOfTheControlSocket) {
  const std::string guide = document("guide.md");
  for (const ControlCommandSpec& command : kControlCommands) {
    EXPECT_NE(guide.find('`' + synopsis(command) + '`'), std::string::npos) << synopsis(command);
  }
}

// Each event has a row: | `name` | severity | ...
TEST(Documentation, ListsEveryEventWithItsSeverity) {
  const std::string text = statistics();
  for (std::size_t i = 0; i < kEventKinds; ++i) {
    const EventDescription& event = describe(static_cast<EventKind>(i));
    const std::string severity = event.severity == Severity::kError     ? "error"
                                 : event.severity == Severity::kWarning ? "warning"
                                                                        : "info";
    const std::string row = "\n| `" + std::string(event.name) + "` | " + severity + " | ";
    EXPECT_NE(text.find(row), std::string::npos) << row;
  }
}

}  // namespace
}  // namespace satrelay::ops::documentation_test
