// All mistakes of a file are told at once: each with its place, in the order of the file, each
// once, and none that only follows from another one.
#include "config/mistakes/places.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "config/readers/loader.h"
#include "tests/unit/config/one_key.h"
#include "tests/unit/temporary_folder.h"

namespace satrelay::config::places_test {
namespace {

using Lines = std::vector<std::string>;

Lines mistakes_in(const std::string& text) {
  try {
    parse_gateway(text, "g.yaml");
  } catch (const ConfigError& error) {
    return lines_of(error);
  }
  return {};
}

Lines link_mistakes_in(const std::string& text) {
  try {
    parse_sat_link("ports: {a: {interface: a}, b: {interface: b}}\n" + text, "l.yaml");
  } catch (const ConfigError& error) {
    return lines_of(error);
  }
  return {};
}

// The place and the path of each mistake: "5:9 links.sat.send_rate".
Lines places_in(const std::string& text) {
  Lines places;
  for (const std::string& line : mistakes_in(text)) {
    if (!line.starts_with("g.yaml:")) continue;
    const std::string rest = line.substr(std::string("g.yaml:").size());
    const std::size_t end = rest.find(": ");
    places.push_back(rest.substr(0, end) + " " +
                     rest.substr(end + 2, rest.find(": ", end + 2) - end - 2));
  }
  return places;
}

TEST(AllMistakes, AreToldInTheOrderOfTheFile) {
  EXPECT_EQ(
      places_in("limits: {flows: many, memory: 64M}\n"                             // 1
                "ports: {lan: {interface: \"a,b\", mtu: 1}, wan: {driver: af}}\n"  // 2
                "gateway: {address: 192.0.2.1, vlan: 0}\n"                         // 3
                "links:\n"                                                         // 4
                "  sat: {send_rate: 50Mb, overhead: wifi, colour: red}\n"          // 5
                "peers: [{address: here, prefixes: [all, 10.0.0.1/8, ::/0]}]\n"    // 6
                "security: none\n"
                "security: none\n"  // 8
                "log: loud\n"),
      (Lines{"1:17 limits.flows", "1:31 limits.memory", "2:26 ports.lan.interface",
             "2:38 ports.lan.mtu", "2:56 ports.wan.driver", "3:20 gateway.address",
             "3:37 gateway.vlan", "5:8 links.sat.receive_rate", "5:20 links.sat.send_rate",
             "5:36 links.sat.overhead", "5:42 links.sat.colour", "6:19 peers[0].address",
             "6:36 peers[0].prefixes[0]", "6:41 peers[0].prefixes[1]", "8:1 security", "9:6 log"}));
}

TEST(AllMistakes, HaveALineEachAndALineWithTheirNumber) {
  EXPECT_EQ(
      mistakes_in(with_line("log: loud\ncompress_level: 20")),
      (Lines{"g.yaml:5:6: log: \"loud\" is not known here; allowed: error, warning, info, debug",
             "g.yaml:6:17: compress_level: \"20\" is out of range; write a whole number from 1 "
             "to 19",
             "2 mistakes"}));
  EXPECT_EQ(
      error_with_line("log: loud\ncompress_level: 20"),
      "g.yaml:5:6: log: \"loud\" is not known here; allowed: error, warning, info, debug (and "
      "1 more mistake)");
}

TEST(AllMistakes, OfOneMapAreTold) {
  EXPECT_EQ(places_in(with_line("tcp: {cubic: yes, ecn: maybe, ecn: on, 7: 8, {a: b}: c}")),
            (Lines{"5:7 tcp.cubic", "5:24 tcp.ecn", "5:31 tcp.ecn", "5:40 tcp.7", "5:46 tcp"}));
}

TEST(AllMistakes, AreToldOfLinkYamlToo) {
  const Lines lines =
      link_mistakes_in("both: {rate: 50Mb, queue: 100ms, loss: 2, delay: 1h}\nlog: x\n");
  ASSERT_EQ(lines.size(), 5U);  // the queue is a time at a rate that is not known
  EXPECT_TRUE(lines[0].starts_with("l.yaml:2:14: both.rate: ")) << lines[0];
  EXPECT_TRUE(lines[1].starts_with("l.yaml:2:40: both.loss: ")) << lines[1];
  EXPECT_TRUE(lines[2].starts_with("l.yaml:2:50: both.delay: ")) << lines[2];
  EXPECT_EQ(lines[4], "4 mistakes");
  EXPECT_EQ(link_mistakes_in("a_to_b: {rate: x}\nb_to_a: {rate: y}\n"
                             "changes: [{at: 1s}, {at: 2, rate: [1Mbit, z]}]\n")
                .size(),
            6U);
}

// Each file has one mistake, and many values that depend on the wrong one.
TEST(AllMistakes, DoNotFollowFromOthers) {
  const auto gateway = [](const std::string& ports, const std::string& links,
                          const std::string& rest) {
    return "ports: " + ports + "\ngateway: {address: 192.0.2.1/30}\nlinks: " + links + "\n" + rest;
  };
  const std::string ports = "{lan: {interface: eth1}, wan: {interface: eth2}}";
  const std::string link = "{send_rate: 50Mbit, receive_rate: 10Mbit}";
  const std::string peers = "peers: [{address: 192.0.2.2, security: none}]\n";
  const std::string two = "peers: [{address: 192.0.2.2, link: a}, {address: 192.0.2.3, link: b}]\n";
  const std::vector<std::string> files = {
      gateway(ports, "{a: {send_rate: 50Mb, receive_rate: 1Mbit}, b: " + link + "}",
              "security: none\n" + two),
      gateway(ports, "[]", "security: none\n" + two),
      gateway(ports, "{sat: {capacity: fnd}}", peers),
      gateway(ports, "{sat: {send_rat: 1Mbit, receive_rate: 1Mbit}}", peers),
      gateway(ports, "{sat: {send_rate: x, receive_rate: 1Mbit, controller: hpfp, target: 1Gbit}}",
              peers),
      gateway(ports, "{sat: {send_rate: 1Mbit, receive_rate: 1Mbit, controller: x, target: 1Mbit}}",
              peers),
      gateway("{lan: {interface: eth1}, wan: {iface: eth2}}", "{sat: " + link + "}", peers),
      gateway("{lan: {interface: eth1}, wan: {driver: memf, socket: /run/w, role: server}}",
              "{sat: " + link + "}", peers),
      gateway("{lan: {interface: eth1, driver: pci}, wan: {interface: eth2}}",
              "{sat: " + link + "}", peers),
      gateway(ports, "{sat: " + link + "}", "securty: none\npeers: [{address: 192.0.2.2}]\n"),
      gateway(ports, "{sat: " + link + "}", "security: {}\npeers: [{address: 192.0.2.2}]\n"),
      with_line("clases: {web: {}}\nrules: [{action: bridge, class: web}]"),
      with_line("classes: [web]\nrules: [{action: bridge, class: web}]"),
      with_line("classes: {web: {weight: 0}}\nrules: [{action: bridge, class: web}]"),
      with_line("classes: {web: {guaranteed: 1, maximum: 1kbit}}"),
      with_line("rules: [{actoin: bridge}]"),
      with_line("rules: [{action: brigde, compress: on, match: {protocol: udp}}]"),
      with_line("rules: [{action: accelerate, match: {protocol: upd, port: 53}}]"),
      with_line("rules: [{action: accelerate, ack: end-to-end, handshake: remot}]"),
      with_line("worker: {count: 3, cpus: [1, 2]}"),
      with_line("worker: {count: 2, cpus: [1, x]}"),
      with_line("access: {stats: {grup: staff, mode: 0660}}"),
      with_line("access: {stats: {group: [], mode: 0660}}"),
      with_line("records: {fil: /var/log/flows, keep: 3}"),
      with_line("records: {ipfix: {collector: here}}"),
      with_line("stp: {ping_after: 100}\nlimits: {flows: 10, half_open: 11}"),
  };
  for (const std::string& file : files) EXPECT_EQ(mistakes_in(file).size(), 1U) << file;
}

TEST(AllMistakes, OfValuesHideContradictionsAndNothingElse) {
  const std::string contradictions = "limits: {flows: 10, half_open: 11}\nstp: {mtu: 1600}\n";
  EXPECT_EQ(places_in(with_line(contradictions)), (Lines{"5:32 limits.half_open", "6:12 stp.mtu"}));
  EXPECT_EQ(places_in(with_line(contradictions + "log: loud")), Lines{"7:6 log"});
}

TEST(AllMistakes, AreToldOnceBehindAliases) {
  EXPECT_EQ(places_in("ports: {lan: &p {interface: eth1, mtu: 1, color: red}, wan: *p}\n"
                      "gateway: {address: 192.0.2.1/30}\n"
                      "links: {a: &l {send_rate: &r 1Mb, receive_rate: *r}, b: *l}\n"
                      "peers: [&q {address: 192.0.2.2, link: a}, *q]\n"
                      "security: none\n"),
            (Lines{"1:40 ports.lan.mtu", "1:43 ports.lan.color", "3:27 links.a.send_rate"}));
  // Two keys that are missing in one map are two mistakes.
  EXPECT_EQ(places_in(with_line("rules: [&r {name: a}, *r]\nrecords: {ipfix: {}}")),
            (Lines{"5:9 rules[0].action", "6:18 records.ipfix.collector"}));
}

TEST(AllMistakes, HaveABound) {
  std::string text = "rules:\n";
  for (int i = 0; i < 2'000; ++i) text += "- {action: x}\n";
  const Lines lines = mistakes_in(with_line(text));
  ASSERT_EQ(lines.size(), kMostToldMistakes + 2);
  EXPECT_EQ(lines[99].substr(0, 37), "g.yaml:105:12: rules[99].action: \"x\" ");
  EXPECT_EQ(lines[100], "and 900 more");
  EXPECT_EQ(lines[101], "1000 mistakes; the program looked no further");
}

// 20,000 rules with 20,000 prefixes each would need gigabytes.
TEST(AllMistakes, EndWhereAliasesStandForTooMuch) {
  std::string text = "rules:\n- &r {action: drop, match: {source: [10.0.0.0/8";
  for (int i = 1; i < 20'000; ++i) text += ",10.0.0.0/8";
  text += "]}}\n";
  for (int i = 1; i < 20'000; ++i) text += "- *r\n";
  const Lines lines = mistakes_in(with_line(text));
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_TRUE(
      lines[0].ends_with(": is one value too many; write at most 1000000, where an alias "
                         "(*) counts as all values that it stands for"))
      << lines[0];
}

TEST(AllMistakes, KeepTheCauseOfFilesThatCannotBeRead) {
  const TemporaryFolder folder;
  std::ofstream(folder.file("psk")) << std::string(64, 'a') << '\n';
  ::chmod(folder.file("psk").c_str(), 0644);
  const std::string open = "{psk_file: " + folder.file("psk") + "}";
  const std::string missing = "{psk_file: " + folder.file("none") + "}";
  const auto file = [](const std::string& security, const std::string& own, const char* log) {
    return "ports: {lan: {interface: eth1}, wan: {interface: eth2}}\n"
           "gateway: {address: 192.0.2.1/30}\n"
           "links: {sat: {send_rate: 50Mbit, receive_rate: 10Mbit}}\n"
           "security: " +
           security + "\npeers: [{address: 192.0.2.2, security: " + own + "}]\nlog: " + log + "\n";
  };
  const auto cause = [](const std::string& text) -> std::optional<FileCause> {
    try {
      parse_gateway(text, "g.yaml");
    } catch (const FileError& error) {
      return error.cause();
    } catch (const ConfigError&) {
    }
    return std::nullopt;
  };
  EXPECT_EQ(cause(file(open, "none", "info")), FileCause::kRights);
  EXPECT_EQ(cause(file(open, open, "info")), FileCause::kRights);
  EXPECT_EQ(mistakes_in(file(open, open, "info")).size(), 3U);  // at two places
  EXPECT_EQ(cause(file(open, missing, "info")), FileCause::kOther);
  EXPECT_EQ(cause(file(open, "none", "loud")), std::nullopt) << "the text has a mistake as well";
}

// The rights of a file of keys depend on the user, so a file with a wrong user does not judge them.
TEST(AllMistakes, OfTheUserLeaveTheFileOfKeysAlone) {
  const TemporaryFolder folder;
  std::string text = with_line("access: {user: []}");
  text.replace(text.find("none"), 4, "{psk_file: " + folder.file("psk") + "}");
  EXPECT_EQ(places_in(text), Lines{"5:16 access.user"});
}

TEST(AllMistakes, NeverShowASecret) {
  const std::string secret(64, 'a');
  for (const std::string& security :
       {secret, "{psk_file: " + secret + "}", "{psk: " + secret + "}"}) {
    std::string text = with_line("");
    text.replace(text.find("none"), 4, security);
    const Lines lines = mistakes_in(text);
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_EQ(lines[0].find("aaaa"), std::string::npos) << lines[0];
  }
}

TEST(Objections, AreAllToldIfNothingElseIsWrong) {
  const auto object = [](const Gateway&) {
    return std::vector<Contradiction>{{"log", "is not for us"}, {"peers[0].name", "is not for us"}};
  };
  try {
    parse_gateway(with_line("log: info"), "g.yaml", object);
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_EQ(lines_of(error), (Lines{"g.yaml:3:16: peers[0].name: is not for us",
                                      "g.yaml:5:6: log: is not for us", "2 mistakes"}));
  }
}

}  // namespace
}  // namespace satrelay::config::places_test
