// Defaults, and every kind of mistake with its exact message, line and column.
#include "config/readers/loader.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace satrelay::config::loader_test {
namespace {

constexpr std::string_view kMinimal =
    "ports: {lan: {interface: eth1}, wan: {interface: eth2}}\n"
    "gateway: {address: 192.0.2.1/30}\n"
    "links: {sat: {send_rate: 50Mbit, receive_rate: 10Mbit}}\n"
    "peers: [{address: 192.0.2.2}]\n"
    "security: none\n";

constexpr std::string_view kMinimalLink =
    "ports: {a: {interface: sata}, b: {interface: satb}}\nboth: {rate: 50Mbit}\n";

// `text` with the one occurrence of `from` replaced.
std::string with(std::string_view text, std::string_view from, std::string_view to) {
  std::string out(text);
  const std::size_t at = out.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  EXPECT_EQ(out.find(from, at + 1), std::string::npos) << from;
  if (at != std::string::npos) out.replace(at, from.size(), to);
  return out;
}

std::string gateway_error(const std::string& text) {
  try {
    parse_gateway(text, "g.yaml");
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "no error";
}

std::string link_error(const std::string& text) {
  try {
    parse_sat_link(text, "l.yaml");
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "no error";
}

struct Mistake {
  std::string_view from;  // in the minimal file; empty: `to` is added at its end
  std::string_view to;
  std::string_view message;
};

std::string made(std::string_view minimal, const Mistake& mistake) {
  return mistake.from.empty() ? std::string(minimal) + std::string(mistake.to)
                              : with(minimal, mistake.from, mistake.to);
}

void check_gateway(const std::vector<Mistake>& mistakes) {
  for (const Mistake& mistake : mistakes) {
    const std::string text = made(kMinimal, mistake);
    EXPECT_EQ(gateway_error(text), mistake.message) << text;
  }
}

void check_link(const std::vector<Mistake>& mistakes) {
  for (const Mistake& mistake : mistakes) {
    const std::string text = made(kMinimalLink, mistake);
    EXPECT_EQ(link_error(text), mistake.message) << text;
  }
}

// ---- defaults ----------------------------------------------------------------------------------

TEST(LoadGateway, FillsInEveryDefault) {
  const Gateway config = parse_gateway(std::string(kMinimal), "g.yaml");
  EXPECT_EQ(config.lan.driver, Driver::kAfPacket);
  EXPECT_EQ(config.lan.interface, "eth1");
  EXPECT_EQ(config.lan.mtu, 1500);
  EXPECT_EQ(config.gateway.own, IpAddress::parse("192.0.2.1"));
  EXPECT_EQ(config.gateway.address.to_string(), "192.0.2.0/30");
  EXPECT_FALSE(config.gateway.vlan.has_value());
  EXPECT_EQ(config.links.at(0).name, "sat");
  EXPECT_EQ(config.links.at(0).overhead, kOverheadEthernet);
  EXPECT_EQ(config.links.at(0).bridged_share, std::nullopt);
  EXPECT_EQ(config.links.at(0).bridged_queue, Duration::milliseconds(100));
  EXPECT_EQ(config.peers.at(0).name, "192.0.2.2");
  EXPECT_EQ(config.peers.at(0).links, std::vector<std::string>{"sat"});
  ASSERT_EQ(config.peers.at(0).prefixes.size(), 2U);  // everything, of both families
  EXPECT_EQ(config.peers[0].prefixes[0].length, 0);
  EXPECT_TRUE(config.rules.empty());
  EXPECT_EQ(config.stp.port, 7878);
  EXPECT_EQ(config.stp.mtu, 1500);
  EXPECT_EQ(config.stp.path_mtu, PathMtu::kDiscover);
  EXPECT_EQ(config.stp.give_up_after, Duration::seconds(900));
  EXPECT_EQ(config.limits.flows, 65536U);
  EXPECT_EQ(config.tcp.congestion, Congestion::kCubic);
  EXPECT_EQ(config.worker.polling, Polling::kAdaptive);
  EXPECT_EQ(config.compress_level, 0);
  EXPECT_EQ(config.stats_socket_prefix, "satrelay");
  EXPECT_EQ(config.control_socket, "");
  EXPECT_EQ(config.journal, "");
  EXPECT_EQ(config.log_level, LogLevel::kInfo);
}

TEST(LoadGateway, TcpTowardsHosts) {
  EXPECT_EQ(parse_gateway(std::string(kMinimal) + "tcp: {congestion: newreno}\n", "g.yaml")
                .tcp.congestion,
            Congestion::kNewReno);
}

TEST(LoadGateway, EcnCanBeTurnedOff) {
  EXPECT_TRUE(parse_gateway(std::string(kMinimal), "g.yaml").tcp.ecn);
  EXPECT_FALSE(parse_gateway(std::string(kMinimal) + "tcp: {ecn: off}\n", "g.yaml").tcp.ecn);
}

TEST(LoadGateway, DefaultsFollowSmallerValuesThatWereGiven) {
  const Gateway config = parse_gateway(with(kMinimal, "eth2", "eth2, mtu: 1400") +
                                           "limits: {memory: 2MiB, flows: 100, time_wait: 7}\n",
                                       "g.yaml");
  EXPECT_EQ(config.stp.mtu, 1400);
  EXPECT_EQ(std::pair(config.limits.half_open, config.limits.time_wait), std::pair(100U, 7U));
  EXPECT_EQ(config.limits.host_window, ByteCount(0)) << "from the links, when memory is planned";
}

TEST(LoadGateway, DriverFollowsTheDevice) {
  EXPECT_EQ(parse_gateway(with(kMinimal, "interface: eth2", "pci: \"01:00.1\""), "g.yaml").wan.pci,
            "0000:01:00.1");
  const Gateway memif =
      parse_gateway(with(kMinimal, "interface: eth2", "socket: /run/w, role: server"), "g.yaml");
  EXPECT_EQ(memif.wan.driver, Driver::kMemif);
  EXPECT_TRUE(memif.wan.memif_server);
}

TEST(LoadSatLink, FillsInEveryDefault) {
  const SatLink config = parse_sat_link(std::string(kMinimalLink), "l.yaml");
  EXPECT_EQ(config.a_to_b.rate, BitRate::bits_per_second(50'000'000));
  EXPECT_EQ(config.b_to_a.rate, BitRate::bits_per_second(50'000'000));
  EXPECT_EQ(config.a_to_b.delay, Duration::zero());
  EXPECT_EQ(config.a_to_b.queue, ByteCount(0));
  EXPECT_EQ(config.a_to_b.loss, 0);
  EXPECT_FALSE(config.a_to_b.gilbert_elliott.has_value());
  EXPECT_EQ(config.overhead, kOverheadEthernet);
  EXPECT_EQ(config.seed, 1U);
  EXPECT_EQ(config.memory, ByteCount(0));
  EXPECT_EQ(config.control_socket, "");
  EXPECT_EQ(config.stats_socket_prefix, "satlink");
}

TEST(LoadSatLink, RateMayBeUnlimited) {
  const SatLink config = parse_sat_link(with(kMinimalLink, "50Mbit", "unlimited"), "l.yaml");
  EXPECT_TRUE(config.a_to_b.rate.is_zero());
}

// ---- files -------------------------------------------------------------------------------------

TEST(LoadFile, SaysWhyItCannotBeRead) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path();
  try {
    load_gateway(folder / "satrelay-there-is-no-such-file.yaml");
    FAIL();
  } catch (const ConfigError& e) {
    EXPECT_EQ(std::string(e.what()), (folder / "satrelay-there-is-no-such-file.yaml").string() +
                                         ": cannot be read: No such file or directory");
  }
  EXPECT_THROW(load_gateway(folder), ConfigError);
}

TEST(LoadFile, NamesTheFile) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / "satrelay-loader-test.yaml";
  std::ofstream(file) << "port: {}\n";
  try {
    load_gateway(file);
    ADD_FAILURE();
  } catch (const ConfigError& e) {
    EXPECT_TRUE(std::string(e.what()).starts_with(file.string() + ":1:1: port: unknown key; "))
        << e.what();
  }
  std::filesystem::remove(file);
}

TEST(Document, RefusesWhatIsNotOneYamlMap) {
  EXPECT_EQ(gateway_error(""), "g.yaml: is empty; see the samples in config/samples");
  EXPECT_EQ(gateway_error("# nothing\n"), "g.yaml: is empty; see the samples in config/samples");
  EXPECT_EQ(gateway_error("- a\n"),
            "g.yaml:1:1: is a list; write a map; allowed keys: ports, lan_follows_wan, gateway, "
            "links, security, peers, classes, fair_hosts, rules, stp, limits, tcp, worker, "
            "compress_level, stats_socket_prefix, control_socket, access, journal, records, log");
  EXPECT_EQ(gateway_error("a: 1\n---\nb: 1\n"),
            "g.yaml:3:1: a second document begins here; write one document a file");
  EXPECT_EQ(gateway_error(std::string(9U << 20, '#')), "g.yaml: is larger than 8MiB");
}

TEST(Document, SurvivesHostileText) {
  // Nesting, an alias to itself, bytes that are no text.
  EXPECT_NE(gateway_error(std::string(100'000, '[')), "no error");
  EXPECT_NE(gateway_error("&a {ports: *a}\n"), "no error");
  EXPECT_NE(gateway_error({'\xff', '\xfe', '\0', '\x01'}), "no error");
}

// ---- keys --------------------------------------------------------------------------------------

TEST(Keys, UnknownOnesAreRefusedAndTheNearestNamed) {
  check_gateway({
      {"send_rate", "send_rat",
       "g.yaml:3:15: links.sat.send_rat: unknown key; did you mean send_rate? allowed here: "
       "send_rate, receive_rate, overhead, bridged_share, bridged_queue, capacity, controller, "
       "target, period, window, initial_window, threshold, growth, avoidance_growth, buffer"},
      {"", "lags: info\n",
       "g.yaml:6:1: lags: unknown key; did you mean log? allowed here: ports, lan_follows_wan, "
       "gateway, links, security, peers, classes, fair_hosts, rules, stp, limits, tcp, worker, "
       "compress_level, stats_socket_prefix, control_socket, access, journal, records, log"},
      {"wan:", "van:",
       "g.yaml:1:33: ports.van: unknown key; did you mean wan? allowed here: lan, wan"},
      {"{address: 192.0.2.2}", "{address: 192.0.2.2, colour: red}",
       "g.yaml:4:30: peers[0].colour: unknown key; allowed here: name, address, prefixes, link, "
       "workers, security"},
      {"wan:", "wan port:",
       "g.yaml:1:33: ports: has a key that is no name; did you mean wan? allowed here: lan, wan"},
      {"", "log_level: info\n",
       "g.yaml:6:1: log_level: unknown key; did you mean log? allowed here: ports, "
       "lan_follows_wan, gateway, links, security, peers, classes, fair_hosts, rules, stp, limits, "
       "tcp, worker, compress_level, stats_socket_prefix, control_socket, access, journal, "
       "records, log"},
  });
}

TEST(Keys, DoubleOnesAreRefused) {
  check_gateway({
      {"", "gateway: {address: 192.0.2.5/30}\n",
       "g.yaml:6:1: gateway: is given twice, first in line 2; give it once"},
      {"sat: {", "sat: {send_rate: 1Mbit, ",
       "g.yaml:3:33: links.sat.send_rate: is given twice, first in line 3; give it once"},
  });
}

TEST(Keys, MissingOnesAreNamed) {
  check_gateway({
      {"gateway: {address: 192.0.2.1/30}\n", "",
       "g.yaml:1:1: gateway: is missing; write {address: 192.0.2.1/30} with the gateway's own "
       "address"},
      {", wan: {interface: eth2}", "",
       "g.yaml:1:8: ports.wan: is missing; name the device towards the modem"},
      {", receive_rate: 10Mbit", "",
       "g.yaml:3:14: links.sat.receive_rate: is missing; write the rate that the far modem can "
       "send, like 50Mbit"},
      {"address: 192.0.2.2", "name: b",
       "g.yaml:4:9: peers[0].address: is missing; write the address of the far gateway, like "
       "192.0.2.2"},
      {"", "rules: [{compress: on}]\n",
       "g.yaml:6:9: rules[0].action: is missing; write one of: accelerate, bridge, drop, reset"},
  });
}

// ---- types and ranges ---------------------------------------------------------------------------

TEST(Values, WrongShapesAreRefused) {
  check_gateway({
      {"{sat: {send_rate: 50Mbit, receive_rate: 10Mbit}}", "[50Mbit]",
       "g.yaml:3:8: links: is a list; write a map of links by name, like {sat: {send_rate: 50Mbit, "
       "receive_rate: 50Mbit}}"},
      {"[{address: 192.0.2.2}]", "192.0.2.2",
       "g.yaml:4:8: peers: is a single value; write a list of far gateways"},
      {"[{address: 192.0.2.2}]", "[]",
       "g.yaml:4:8: peers: is empty; describe at least one far gateway"},
      {"{sat: {send_rate: 50Mbit, receive_rate: 10Mbit}}", "{}",
       "g.yaml:3:8: links: is empty; describe at least one link"},
      {"50Mbit", "[50Mbit]",
       "g.yaml:3:26: links.sat.send_rate: is a list; write a number with bit, kbit, Mbit or Gbit, "
       "like 50Mbit"},
      {"50Mbit", "~",
       "g.yaml:3:15: links.sat.send_rate: is empty; write a number with bit, kbit, Mbit or Gbit, "
       "like 50Mbit"},
      {"", "worker: busy\n",
       "g.yaml:6:9: worker: is a single value; write a map; allowed keys: count, polling, cpu, "
       "cpus"},
      {"", "worker:\n",
       "g.yaml:6:1: worker: is empty; write a map; allowed keys: count, polling, cpu, cpus"},
      {"sat:", "\"a b\":",
       "g.yaml:3:16: links.a b: \"a b\" is not a name; write 1 to 32 letters, digits, '_' or '-'"},
  });
}

TEST(Values, WrongUnitsAreRefused) {
  check_gateway({
      {"50Mbit", "50Mb",
       "g.yaml:3:26: links.sat.send_rate: \"50Mb\" is not a rate; write a number with bit, kbit, "
       "Mbit or Gbit, like 50Mbit"},
      {"", "limits: {memory: 64M}\n",
       "g.yaml:6:18: limits.memory: \"64M\" is not a size; write a number with B, kB, MB, GB, KiB, "
       "MiB or GiB, like 64MiB"},
      {"", "stp: {ping_after: 2}\n",
       "g.yaml:6:19: stp.ping_after: \"2\" is not a time; write a number with ns, us, ms, s, min "
       "or "
       "h, like 550ms"},
      {"", "limits: {flows: many}\n",
       "g.yaml:6:17: limits.flows: \"many\" is not a whole number; write a whole number from 1 to "
       "10000000"},
      {"10Mbit", "10Mbit, overhead: wifi",
       "g.yaml:3:66: links.sat.overhead: \"wifi\" is not an overhead; write ip, ethernet or the "
       "bytes that the modem adds to each IP packet, 0 to 1000"},
  });
}

TEST(Values, OutOfRangeIsRefused) {
  check_gateway({
      {"50Mbit", "200Gbit",
       "g.yaml:3:26: links.sat.send_rate: \"200Gbit\" is out of range; allowed: 1kbit to 100Gbit"},
      {"50Mbit", "0bit",
       "g.yaml:3:26: links.sat.send_rate: \"0bit\" is out of range; allowed: 1kbit to 100Gbit"},
      {"eth1", "eth1, mtu: 9001",
       "g.yaml:1:37: ports.lan.mtu: \"9001\" is out of range; write a whole number from 576 to "
       "9000"},
      {"/30", "/30, vlan: 4095",
       "g.yaml:2:40: gateway.vlan: \"4095\" is out of range; write a whole number from 1 to 4094"},
      {"", "limits: {flows: 99999999999999999999}\n",
       "g.yaml:6:17: limits.flows: \"99999999999999999999\" is out of range; write a whole number "
       "from 1 to 10000000"},
      {"", "limits: {memory: 1kB}\n",
       "g.yaml:6:18: limits.memory: \"1kB\" is out of range; allowed: 1MiB to 1024GiB"},
      {"", "stp: {give_up_after: 25h}\n",
       "g.yaml:6:22: stp.give_up_after: \"25h\" is out of range; allowed: 1s to 24h"},
      {"", "tcp: {congestion: vegas}\n",
       "g.yaml:6:19: tcp.congestion: \"vegas\" is not known here; allowed: cubic, newreno"},
      {"", "stp: {path_mtu: guess}\n",
       "g.yaml:6:17: stp.path_mtu: \"guess\" is not known here; allowed: discover, known"},
      {"", "stp: {suspect_after: 1h}\n",
       "g.yaml:6:22: stp.suspect_after: \"1h\" is out of range; allowed: 100ms to 600s"},
      {"", "compress_level: 20\n",
       "g.yaml:6:17: compress_level: \"20\" is out of range; write a whole number from 1 to 19"},
      {"10Mbit", "10Mbit, overhead: 2000",
       "g.yaml:3:66: links.sat.overhead: \"2000\" is out of range; write a whole number from 0 to "
       "1000"},
  });
}

TEST(Values, WordsAndAddressesAreChecked) {
  check_gateway({
      {"", "log: loud\n",
       "g.yaml:6:6: log: \"loud\" is not known here; allowed: error, warning, info, debug"},
      {"", "worker: {polling: lazy}\n",
       "g.yaml:6:19: worker.polling: \"lazy\" is not known here; allowed: adaptive, busy"},
      {"", "rules: [{action: deny}]\n",
       "g.yaml:6:18: rules[0].action: \"deny\" is not known here; allowed: accelerate, bridge, "
       "drop, "
       "reset"},
      {"192.0.2.2", "192.0.2.256",
       "g.yaml:4:19: peers[0].address: \"192.0.2.256\" is not an address; write an IPv4 or IPv6 "
       "address, like 192.0.2.1"},
      {"192.0.2.1/30", "192.0.2.1",
       "g.yaml:2:20: gateway.address: \"192.0.2.1\" is not an address with a length; write the "
       "gateway's own address with the length of its subnet, like 192.0.2.1/30"},
      {"192.0.2.1/30", "192.0.2.1/33",
       "g.yaml:2:20: gateway.address: \"192.0.2.1/33\" is not an address with a length; write the "
       "gateway's own address with the length of its subnet, like 192.0.2.1/30"},
      {"192.0.2.2", "192.0.2.2, prefixes: [10.0.0.0/8, 198.51.100.7/24]",
       "g.yaml:4:53: peers[0].prefixes[1]: \"198.51.100.7/24\" has bits set beyond its length; "
       "write 198.51.100.0/24"},
      {"192.0.2.2", "192.0.2.2, prefixes: all",
       "g.yaml:4:40: peers[0].prefixes: \"all\" is not a prefix; write an address and a length, "
       "like 198.51.100.0/24"},
      {"192.0.2.2", "192.0.2.2, prefixes: []",
       "g.yaml:4:40: peers[0].prefixes: is empty; write the prefixes of the hosts behind this "
       "peer, "
       "or leave prefixes out for all"},
  });
}

TEST(Values, PortsOfRulesAreChecked) {
  check_gateway({
      {"", "rules: [{match: {port: 0}, action: bridge}]\n",
       "g.yaml:6:24: rules[0].match.port: \"0\" is not a port; write a port from 1 to 65535 or a "
       "range, like 8000-8080"},
      {"", "rules: [{match: {port: [22, 65536]}, action: bridge}]\n",
       "g.yaml:6:29: rules[0].match.port[1]: \"65536\" is not a port; write a port from 1 to 65535 "
       "or a range, like 8000-8080"},
      {"", "rules: [{match: {port: 9-8}, action: bridge}]\n",
       "g.yaml:6:24: rules[0].match.port: \"9-8\" runs backwards; write a port from 1 to 65535 or "
       "a "
       "range, like 8000-8080"},
      {"", "rules: [{match: {port: []}, action: bridge}]\n",
       "g.yaml:6:24: rules[0].match.port: is empty, so nothing matches; leave it out to match "
       "everything"},
      {"", "rules: [{match: {source: []}, action: bridge}]\n",
       "g.yaml:6:26: rules[0].match.source: is empty, so nothing matches; leave it out to match "
       "everything"},
  });
}

TEST(Values, SharesAreChecked) {
  check_link({
      {"50Mbit", "50Mbit, loss: 1.5",
       "l.yaml:2:28: both.loss: \"1.5\" is out of range; write a number from 0 to 1 or a "
       "percentage, like 1%"},
      {"50Mbit", "50Mbit, loss: 101%",
       "l.yaml:2:28: both.loss: \"101%\" is out of range; write a number from 0 to 1 or a "
       "percentage, like 1%"},
      {"50Mbit", "50Mbit, loss: -1%",
       "l.yaml:2:28: both.loss: \"-1%\" is not a share; write a number from 0 to 1 or a "
       "percentage, "
       "like 1%"},
      {"50Mbit", "50Mbit, delay: 11s",
       "l.yaml:2:29: both.delay: \"11s\" is out of range; allowed: 0s to 10s"},
      {"", "seed: -1\n",
       "l.yaml:3:7: seed: \"-1\" is not a whole number; write a whole number from 0 to "
       "18446744073709551615"},
  });
}

// ---- contradictions -----------------------------------------------------------------------------

TEST(Contradictions, Ports) {
  check_gateway({
      {"interface: eth1", "interface: eth1, driver: pci",
       "g.yaml:1:26: ports.lan.interface: contradicts driver pci, which takes pci; write pci, or "
       "another driver"},
      {"interface: eth1", "interface: eth1, pci: \"0000:01:00.0\"",
       "g.yaml:1:37: ports.lan.pci: contradicts driver af_packet, which takes interface; remove "
       "one "
       "of them"},
      {"interface: eth1", "driver: memif",
       "g.yaml:1:14: ports.lan.socket: is missing; driver memif needs the path of a socket"},
      {"interface: eth1", "driver: af_xdp",
       "g.yaml:1:14: ports.lan.interface: is missing; driver af_xdp needs a kernel interface like "
       "eth1"},
      {"interface: eth1", "mtu: 1500",
       "g.yaml:1:14: ports.lan: names no device; write interface: NAME, pci: ADDRESS or socket: "
       "PATH"},
      {"interface: eth1", "interface: eth1, role: server",
       "g.yaml:1:38: ports.lan.role: contradicts driver af_packet; only memif has roles; remove "
       "it"},
      {"eth2", "eth1",
       "g.yaml:1:50: ports.wan.interface: \"eth1\" is the device of ports.lan already; write "
       "another"},
      {"eth1", "\"a,b\"",
       "g.yaml:1:26: ports.lan.interface: \"a,b\" is not an interface name; write the name of a "
       "kernel interface, like eth1"},
      {"interface: eth1", "pci: 1",
       "g.yaml:1:20: ports.lan.pci: \"1\" is not a PCI address; write a PCI address, like "
       "0000:01:00.0"},
      {"interface: eth1", "socket: run",
       "g.yaml:1:23: ports.lan.socket: \"run\" is not a socket path; write an absolute path of at "
       "most 107 characters without commas, like /run/satrelay/link.sock"},
  });
}

TEST(Contradictions, GatewayAddress) {
  check_gateway({
      {"192.0.2.1/30", "192.0.2.0/30",
       "g.yaml:2:20: gateway.address: 192.0.2.0 is the address of the subnet itself; write the "
       "gateway's own address in its subnet"},
      {"192.0.2.1/30", "192.0.2.3/30",
       "g.yaml:2:20: gateway.address: 192.0.2.3 is the broadcast address of its subnet; write the "
       "gateway's own address in its subnet"},
      {"192.0.2.1/30", "192.0.2.1/0",
       "g.yaml:2:20: gateway.address: is a subnet of every address; write the length of the WAN "
       "subnet, like 192.0.2.1/30"},
      {"192.0.2.1/30", "127.0.0.1/8",
       "g.yaml:2:20: gateway.address: 127.0.0.1 is a loopback address; write the gateway's own "
       "address in its subnet"},
      {"192.0.2.1/30", "239.0.0.1/8",
       "g.yaml:2:20: gateway.address: 239.0.0.1 is a multicast address; write the gateway's own "
       "address in its subnet"},
      {"192.0.2.1/30", "192.0.2.1/30, next_hop: 203.0.113.1",
       "g.yaml:2:44: gateway.next_hop: 203.0.113.1 is not in the gateway's subnet 192.0.2.0/30; "
       "write a router that is"},
      {"192.0.2.1/30", "192.0.2.1/30, next_hop: 192.0.2.1",
       "g.yaml:2:44: gateway.next_hop: 192.0.2.1 is the gateway's own address; write the router's"},
      {"192.0.2.1/30", "192.0.2.1/30, next_hop: \"fe80::1\"",
       "g.yaml:2:44: gateway.next_hop: fe80::1 is not of the same family as 192.0.2.1; write one "
       "family"},
      {"192.0.2.1/30", "192.0.2.1/30, next_hop: 192.0.2.3",
       "g.yaml:2:44: gateway.next_hop: 192.0.2.3 is the broadcast address of its subnet; write the "
       "router's address"},
  });
}

TEST(Contradictions, Peers) {
  check_gateway({
      {"192.0.2.2", "192.0.2.1",
       "g.yaml:4:19: peers[0].address: 192.0.2.1 is this gateway's own address; write the far "
       "gateway's"},
      {"192.0.2.2", "203.0.113.1",
       "g.yaml:4:19: peers[0].address: 203.0.113.1 is not in the gateway's subnet 192.0.2.0/30 and "
       "gateway.next_hop is missing; write an address in that subnet, or the next hop"},
      {"192.0.2.2", "\"2001:db8::2\"",
       "g.yaml:4:19: peers[0].address: 2001:db8::2 is not of the same family as the gateway's "
       "address 192.0.2.1; write one family"},
      {"192.0.2.2", "192.0.2.3",
       "g.yaml:4:19: peers[0].address: 192.0.2.3 is the broadcast address of its subnet; write the "
       "far gateway's address"},
      {"192.0.2.2", "192.0.2.2, link: satt",
       "g.yaml:4:36: peers[0].link: \"satt\" is not a link; there are: sat"},
      {"receive_rate: 10Mbit", "receive_rate: 10Mbit, controller: tps, target: 10Mbit",
       "g.yaml:3:81: links.sat.target: is a parameter of controller hpfp, but this link's is tps; "
       "remove it"},
      {"receive_rate: 10Mbit", "receive_rate: 10Mbit, window: 64",
       "g.yaml:3:64: links.sat.window: is a parameter of controller tps, but this link's is "
       "fixed_rate; remove it"},
      {"receive_rate: 10Mbit", "receive_rate: 10Mbit, controller: hpfp, target: 60Mbit",
       "g.yaml:3:82: links.sat.target: 60Mbit exceeds send_rate 50Mbit; write at most that"},
      {"receive_rate: 10Mbit", "receive_rate: 10Mbit, controller: cubic",
       "g.yaml:3:68: links.sat.controller: \"cubic\" is not known here; allowed: fixed_rate, hpfp, "
       "tps, stp"},
      {"sat: {", "b: {send_rate: 1Mbit, receive_rate: 1Mbit}, sat: {",
       "g.yaml:4:9: peers[0].link: is missing; there are several links: write the name of one"},
  });
  const std::string two = with(kMinimal, "192.0.2.1/30", "192.0.2.1/29");
  EXPECT_EQ(gateway_error(with(two, "[{address: 192.0.2.2}]",
                               "\n- {name: x, address: 192.0.2.2, prefixes: 10.1.0.0/16}\n"
                               "- {name: x, address: 192.0.2.3, prefixes: 10.2.0.0/16}")),
            "g.yaml:6:10: peers[1].name: \"x\" is the name of peers[0] already; write another");
  EXPECT_EQ(gateway_error(with(two, "[{address: 192.0.2.2}]",
                               "\n- {name: x, address: 192.0.2.2, prefixes: 10.1.0.0/16}\n"
                               "- {name: y, address: 192.0.2.2, prefixes: 10.2.0.0/16}")),
            "g.yaml:6:22: peers[1].address: 192.0.2.2 is the address of peers[0] already; a peer "
            "appears once");
  EXPECT_EQ(
      gateway_error(with(two, "[{address: 192.0.2.2}]",
                         "\n- {name: x, address: 192.0.2.2, prefixes: 10.1.0.0/16}\n"
                         "- {name: y, address: 192.0.2.3, prefixes: [10.2.0.0/16, "
                         "10.1.7.0/24]}")),
      "g.yaml:6:57: peers[1].prefixes[1]: 10.1.7.0/24 overlaps 10.1.0.0/16 of peers[0]; write "
      "prefixes that each belong to one peer");
  // Two peers without prefixes both claim all addresses. The message names the second peer.
  EXPECT_EQ(gateway_error(with(two, "[{address: 192.0.2.2}]",
                               "\n- {address: 192.0.2.2}\n- {address: 192.0.2.3}")),
            "g.yaml:6:3: peers[1].prefixes[0]: 0.0.0.0/0 overlaps 0.0.0.0/0 of peers[0]; write "
            "prefixes that each belong to one peer");
}

TEST(Contradictions, Rules) {
  check_gateway({
      {"", "rules: [{action: bridge}, {action: accelerate}]\n",
       "g.yaml:6:27: rules[1]: is never reached, because rules[0] matches everything; move it up "
       "or remove it"},
      {"", "rules: [{action: bridge, compress: on}]\n",
       "g.yaml:6:36: rules[0].compress: contradicts action bridge: it is for connections that "
       "are accelerated; remove it"},
      {"",
       "rules: [{match: {source: 10.0.0.0/8, destination: \"2001:db8::/32\"}, action: bridge}]\n",
       "g.yaml:6:17: rules[0].match: source and destination are of different families, so nothing "
       "matches; write one family"},
  });
}

TEST(Contradictions, StpAndLimits) {
  check_gateway({
      {"", "stp: {mtu: 1600}\n",
       "g.yaml:6:12: stp.mtu: 1600 exceeds ports.wan.mtu 1500; write at most that"},
      {"", "stp: {ping_after: 3s}\n",
       "g.yaml:6:6: stp.suspect_after: 3s is not longer than ping_after 3s, so an idle peer would "
       "always be suspect; write more"},
      {"", "limits: {memory: 64MiB, flow_memory: 65MiB}\n",
       "g.yaml:6:38: limits.flow_memory: 65MiB exceeds limits.memory 64MiB; write at most that"},
      {"", "limits: {memory: 2MiB, host_window: 3MiB}\n",
       "g.yaml:6:37: limits.host_window: 3MiB exceeds limits.memory 2MiB; write at most that"},
      {"", "limits: {flow_memory: 1MiB, host_window: 2MiB}\n",
       "g.yaml:6:42: limits.host_window: 2MiB exceeds limits.flow_memory 1MiB; write at most that"},
      {"", "limits: {flows: 10, half_open: 11}\n",
       "g.yaml:6:32: limits.half_open: 11 exceeds limits.flows 10; write at most that"},
  });
  const std::string v6 =
      with(with(kMinimal, "192.0.2.1/30", "\"2001:db8::1/64\""), "192.0.2.2", "\"2001:db8::2\"");
  EXPECT_EQ(gateway_error(v6 + "stp: {mtu: 1279}\n"),
            "g.yaml:6:12: stp.mtu: 1279 is less than IPv6 needs; write at least 1280");
}

TEST(Contradictions, SatLink) {
  check_link({
      {"50Mbit", "50Mbit, loss: 1%, gilbert_elliott: {good_to_bad: 0.1%, bad_to_good: 10%}",
       "l.yaml:2:49: both.gilbert_elliott: contradicts loss; write one of the two"},
      {"50Mbit", "50Mbit, gilbert_elliott: {good_to_bad: 0.1%, bad_to_good: 0}",
       "l.yaml:2:72: both.gilbert_elliott.bad_to_good: is 0, so the link would never leave its bad "
       "state; write a probability"},
      {"50Mbit", "50Mbit, reorder_by: 5ms",
       "l.yaml:2:34: both.reorder_by: has no effect without reorder; write the share of frames to "
       "reorder, like 0.1%"},
      {"", "a_to_b: {rate: 1Mbit}\n",
       "l.yaml:3:9: a_to_b: contradicts both; write both, or a_to_b and b_to_a"},
      {"both", "a_to_b",
       "l.yaml:1:1: b_to_a: is missing; write both: {...}, or a_to_b: {...} and b_to_a: {...}"},
      {"both: {rate: 50Mbit}\n", "",
       "l.yaml:1:1: both: is missing; write both: {...}, or a_to_b: {...} and b_to_a: {...}"},
      {"satb", "sata",
       "l.yaml:1:46: ports.b.interface: \"sata\" is the device of ports.a already; write another"},
      {"both: {rate: 50Mbit}", "both: {rate: 1Gbit, delay: 1s}\nmemory: 100MB",
       "l.yaml:3:9: memory: 100MB does not hold what rates, delays and queues keep in flight; "
       "write at least 250MB, or leave it out"},
  });
}

}  // namespace
}  // namespace satrelay::config::loader_test
