#include "config/readers/read_gateway.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "config/model/traffic_class.h"
#include "config/readers/read_access.h"
#include "config/readers/read_classes.h"
#include "config/readers/read_common.h"
#include "config/readers/read_rate_control.h"
#include "config/readers/read_records.h"
#include "config/readers/read_rules.h"
#include "config/readers/read_security.h"
#include "config/text/format.h"
#include "config/text/interface_address.h"

namespace satrelay::config {
namespace {

constexpr Bounds<BitRate> kLinkRate{BitRate::bits_per_second(1'000), kMostLinkRate};
constexpr Bounds<ByteCount> kMemory{ByteCount(1ULL << 20), ByteCount(1ULL << 40)};
constexpr Bounds<ByteCount> kFlowMemory{ByteCount(64ULL << 10), ByteCount(16ULL << 30)};
// RFC 7323 section 2.3: no window beyond 1 GiB can be announced.
constexpr Bounds<ByteCount> kHostWindow{ByteCount(16ULL << 10), ByteCount(1ULL << 30)};
constexpr Bounds<Duration> kFlowTimeout{Duration::seconds(1), Duration::seconds(604'800)};
constexpr Bounds<Duration> kGiveUp{Duration::seconds(1), Duration::seconds(86'400)};
constexpr Bounds<Duration> kBridgedQueue{Duration::milliseconds(1), Duration::seconds(10)};
constexpr Bounds<Duration> kLiveness{Duration::milliseconds(100), Duration::seconds(600)};

GatewayAddress read_address(const Value& value) {
  const Fields fields = value.fields({"address", "vlan", "next_hop"});
  constexpr std::string_view kHint =
      "write the gateway's own address with the length of its subnet, like 192.0.2.1/30";
  const Value& text = fields.require("address", kHint);
  const auto address = parse_interface_address(text.text(kHint));
  if (!address) text.refuse("is not an address with a length", kHint);
  GatewayAddress gateway;
  gateway.own = address->own;
  gateway.address = address->subnet;
  if (const Value* vlan = fields.find("vlan")) {
    gateway.vlan = static_cast<std::uint16_t>(vlan->integer({1, 4094}));
  }
  if (const Value* hop = fields.find("next_hop")) gateway.next_hop = hop->address();
  return gateway;
}

// The rates of a link: what its modems carry, or, where a gateway finds that out, at most.
void read_rates(const Fields& fields, Link& link) {
  if (finds_capacity(fields)) {
    link.send_rate = kMostLinkRate;
    link.receive_rate = kAssumedRate;
    if (const Value* most = fields.find("send_rate")) link.send_rate = most->rate(kLinkRate);
    if (const Value* most = fields.find("receive_rate")) link.receive_rate = most->rate(kLinkRate);
  } else {
    constexpr std::string_view kHint =
        "write what the modem can send, like 50Mbit, or capacity: find if nobody knows";
    link.send_rate = fields.require("send_rate", kHint).rate(kLinkRate);
    link.receive_rate =
        fields.require("receive_rate", "write what the far modem can send, like 50Mbit")
            .rate(kLinkRate);
  }
  link.control = read_rate_control(fields, {.rate = link.send_rate});
}

std::vector<Link> read_links(const Value& value) {
  std::vector<Link> links;
  for (const auto& [name, entry] :
       value.named_entries("write a map of links by name, like {sat: {send_rate: 50Mbit, "
                           "receive_rate: 50Mbit}}")) {
    check_name(entry, name);
    const Fields fields =
        entry.fields({"capacity", "send_rate", "receive_rate", "overhead", "bridged_share",
                      "bridged_queue", "controller", "target", "period", "window", "initial_window",
                      "threshold", "growth", "avoidance_growth", "buffer"});
    Link link;
    link.name = name;
    read_rates(fields, link);
    if (const Value* overhead = fields.find("overhead")) link.overhead = read_overhead(*overhead);
    if (const Value* share = fields.find("bridged_share")) {
      link.bridged_share = share->share();
      if (*link.bridged_share < 0.01 || *link.bridged_share > 0.9) {
        share->refuse("leaves too little to one side", "write 1% to 90%");
      }
    }
    if (const Value* queue = fields.find("bridged_queue")) {
      link.bridged_queue = queue->duration(kBridgedQueue);
    }
    links.push_back(std::move(link));
  }
  if (links.empty()) value.fail("is empty; describe at least one link");
  return links;
}

Peer read_peer(const Value& value, const std::vector<Link>& links,
               const std::optional<Security>& common, const std::string& user) {
  const Fields fields =
      value.fields({"name", "address", "prefixes", "link", "workers", "security"});
  Peer peer;
  peer.address =
      fields.require("address", "write the address of the far gateway, like 192.0.2.2").address();
  peer.name = peer.address.to_string();
  if (const Value* name = fields.find("name")) {
    peer.name = name->text("write a name");
    check_name(*name, peer.name);
  }
  if (const Value* prefixes = fields.find("prefixes")) {
    for (const Value& prefix : prefixes->items_or_single()) {
      peer.prefixes.push_back(prefix.prefix());
    }
    if (peer.prefixes.empty()) {
      prefixes->fail(
          "is empty; write the prefixes of the hosts behind this peer, or leave "
          "prefixes out for all");
    }
  } else {
    peer.prefixes = {IpPrefix{IpAddress::v4({}), 0}, IpPrefix{IpAddress::v6({}), 0}};
  }
  if (const Value* link = fields.find("link")) {
    peer.link = link->text("write the name of a link");
  } else if (links.size() == 1) {
    peer.link = links.front().name;
  } else {
    value.fail_at("link", "is missing; there are several links: write the name of one");
  }
  if (const Value* workers = fields.find("workers")) peer.workers = read_workers(*workers);
  if (const Value* security = fields.find("security")) {
    peer.security = read_security(*security, user);
  } else if (common) {
    peer.security = *common;
  } else {
    value.fail_at("security",
                  "is missing; write {psk_file: /etc/satrelay/psk}, here or for all peers at the "
                  "top, or none, where nobody else can reach the link");
  }
  return peer;
}

Feedback read_feedback(const Value& value) {
  const Fields fields = value.fields({"mode", "budget"});
  Feedback feedback;
  if (const Value* mode = fields.find("mode")) {
    feedback.mode = mode->word<FeedbackMode>({{"adaptive", FeedbackMode::kAdaptive},
                                              {"hpfp", FeedbackMode::kHpfp},
                                              {"m-nack", FeedbackMode::kMNack}});
  }
  if (const Value* budget = fields.find("budget")) {
    feedback.budget =
        budget->rate({BitRate::bits_per_second(1'000), BitRate::bits_per_second(1'000'000'000)});
  }
  return feedback;
}

}  // namespace

Stp read_stp(const Value& value, std::uint16_t default_mtu) {
  const Fields fields = value.fields({"port", "mtu", "path_mtu", "ping_after", "suspect_after",
                                      "give_up_after", "feedback", "fec", "prompt_overhead"});
  Stp stp;
  stp.mtu = default_mtu;
  if (const Value* port = fields.find("port")) {
    stp.port = static_cast<std::uint16_t>(port->integer({1, 65535}));
  }
  if (const Value* mtu = fields.find("mtu")) {
    stp.mtu = static_cast<std::uint16_t>(mtu->integer({576, 9000}));
  }
  if (const Value* path = fields.find("path_mtu")) {
    stp.path_mtu =
        path->word<PathMtu>({{"discover", PathMtu::kDiscover}, {"known", PathMtu::kKnown}});
  }
  if (const Value* after = fields.find("ping_after")) stp.ping_after = after->duration(kLiveness);
  if (const Value* after = fields.find("suspect_after")) {
    stp.suspect_after = after->duration(kLiveness);
  }
  if (const Value* after = fields.find("give_up_after")) {
    stp.give_up_after = after->duration(kGiveUp);
  }
  if (const Value* feedback = fields.find("feedback")) stp.feedback = read_feedback(*feedback);
  if (const Value* fec = fields.find("fec")) {
    stp.fec = fec->word<Fec>({{"auto", Fec::kAuto}, {"off", Fec::kOff}});
  }
  if (const Value* overhead = fields.find("prompt_overhead")) {
    stp.prompt_overhead = overhead->share();
    if (stp.prompt_overhead < kLeastPromptOverhead) {
      overhead->refuse("is too little to repair anything", "write 1% to 100%");
    }
  }
  return stp;
}

Limits read_limits(const Value& value) {
  const Fields fields = value.fields({"flows", "half_open", "time_wait", "memory", "flow_memory",
                                      "host_window", "idle_timeout", "half_close_timeout"});
  Limits limits;
  // Defaults never contradict a smaller limit that was given.
  if (const Value* memory = fields.find("memory")) {
    limits.memory = memory->size(kMemory);
    const std::uint64_t served = limits.memory.value() / kMemoryOfAFlow.value();
    limits.flows = static_cast<std::uint32_t>(std::min<std::uint64_t>(limits.flows, served));
  }
  if (const Value* flows = fields.find("flows")) {
    limits.flows = static_cast<std::uint32_t>(flows->integer({1, 10'000'000}));
  }
  limits.half_open = std::min(limits.half_open, limits.flows);
  if (const Value* half_open = fields.find("half_open")) {
    limits.half_open = static_cast<std::uint32_t>(half_open->integer({1, 10'000'000}));
  }
  if (const Value* time_wait = fields.find("time_wait")) {
    limits.time_wait = static_cast<std::uint32_t>(time_wait->integer({1, 100'000'000}));
  }
  if (const Value* memory = fields.find("flow_memory")) {
    limits.flow_memory = memory->size(kFlowMemory);
  }
  if (const Value* window = fields.find("host_window")) {
    limits.host_window = window->size(kHostWindow);
  }
  if (const Value* timeout = fields.find("idle_timeout")) {
    limits.idle_timeout = timeout->duration(kFlowTimeout);
  }
  if (const Value* timeout = fields.find("half_close_timeout")) {
    limits.half_close_timeout = timeout->duration(kFlowTimeout);
  }
  return limits;
}

Tcp read_tcp(const Value& value) {
  const Fields fields = value.fields({"congestion", "ecn"});
  Tcp tcp;
  if (const Value* congestion = fields.find("congestion")) {
    tcp.congestion = congestion->word<Congestion>();
  }
  if (const Value* ecn = fields.find("ecn")) {
    tcp.ecn = ecn->word<bool>({{"on", true}, {"off", false}});
  }
  return tcp;
}

std::string read_journal(const Value& value) {
  constexpr std::string_view kHint =
      "write the absolute path of a file on a disk, like /var/lib/satrelay/flows, or none";
  std::string path = value.text(kHint);
  const bool is_path = path.front() == '/' && path.back() != '/';
  if (path != kNoJournal && !is_path) value.refuse("is not the path of a file", kHint);
  return path;
}

void read_access_into(const Value& value, Gateway& config) {
  const Fields fields = value.fields({"user", "stats", "control"});
  if (const Value* user = fields.find("user")) {
    config.user = user->text("write the name of a user of this machine, like satrelay");
  }
  if (const Value* stats = fields.find("stats")) {
    config.stats_access = read_access(*stats, Others::kMayRead);
  }
  if (const Value* control = fields.find("control")) {
    config.control_access = read_access(*control, Others::kMayNot);
  }
}

Gateway read_gateway(const Value& document) {
  const Fields fields = document.fields({"ports", "gateway", "links", "security", "peers",
                                         "classes", "fair_hosts", "rules", "stp", "limits", "tcp",
                                         "worker", "compress_level", "stats_socket_prefix",
                                         "control_socket", "access", "journal", "records", "log"});
  Gateway config;
  const Fields ports =
      fields.require("ports", "write {lan: {interface: ...}, wan: {interface: ...}}")
          .fields({"lan", "wan"});
  config.lan = read_port(ports.require("lan", "name the device towards the hosts"));
  config.wan = read_port(ports.require("wan", "name the device towards the modem"));
  config.gateway = read_address(
      fields.require("gateway", "write {address: 192.0.2.1/30} with the gateway's own address"));
  config.links =
      read_links(fields.require("links", "write {sat: {send_rate: 50Mbit, receive_rate: 50Mbit}}"));
  if (const Value* access = fields.find("access")) read_access_into(*access, config);
  std::optional<Security> common;
  if (const Value* security = fields.find("security"))
    common = read_security(*security, config.user);
  const Value& peers =
      fields.require("peers", "write a list of far gateways, like [{address: 192.0.2.2}]");
  for (const Value& peer : peers.items("write a list of far gateways")) {
    config.peers.push_back(read_peer(peer, config.links, common, config.user));
  }
  if (config.peers.empty()) peers.fail("is empty; describe at least one far gateway");
  if (const Value* level = fields.find("compress_level")) {
    constexpr std::string_view kHint = "write auto, or a level of zstd's from 1 to 19";
    if (level->text(kHint) != "auto") {
      config.compress_level = static_cast<int>(level->integer({1, 19}));
    }
  }
  if (const Value* classes = fields.find("classes")) {
    config.classes = read_classes(*classes);
    for (const Link& link : config.links) {
      if (guarantees_fit(config.classes, link)) continue;
      classes->fail("guarantee more than " + std::to_string(kMostGuaranteedPercent) + "% of link " +
                    link.name + ", which sends " + to_text(link.send_rate) +
                    "; its bridged_share counts too");
    }
  }
  if (const Value* hosts = fields.find("fair_hosts")) {
    config.fair_hosts =
        hosts->word<FairHosts>({{"local", FairHosts::kLocal}, {"remote", FairHosts::kRemote}});
  }
  if (const Value* rules = fields.find("rules")) {
    config.rules = read_rules(*rules, config.classes);
  }
  config.stp.mtu = std::min(config.stp.mtu, config.wan.mtu);
  if (const Value* stp = fields.find("stp")) config.stp = read_stp(*stp, config.stp.mtu);
  if (const Value* limits = fields.find("limits")) config.limits = read_limits(*limits);
  if (const Value* tcp = fields.find("tcp")) config.tcp = read_tcp(*tcp);
  if (const Value* worker = fields.find("worker"))
    config.worker = read_worker(*worker, kMostWorkers);
  if (const Value* prefix = fields.find("stats_socket_prefix")) {
    config.stats_socket_prefix = read_stats_socket_prefix(*prefix);
  }
  if (const Value* socket = fields.find("control_socket")) {
    constexpr std::string_view kHint = "write an absolute path, or none";
    config.control_socket =
        socket->text(kHint) == kNoSocket ? kNoSocket : read_socket_path(*socket);
  }
  if (const Value* journal = fields.find("journal")) config.journal = read_journal(*journal);
  if (const Value* records = fields.find("records")) config.records = read_records(*records);
  if (const Value* log = fields.find("log")) config.log_level = read_log_level(*log);
  return config;
}

}  // namespace satrelay::config
