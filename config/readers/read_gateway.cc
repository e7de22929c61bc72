#include "config/readers/read_gateway.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "config/keys/kinds.h"
#include "config/model/traffic_class.h"
#include "config/readers/read_access.h"
#include "config/readers/read_classes.h"
#include "config/readers/read_common.h"
#include "config/readers/read_limits.h"
#include "config/readers/read_links.h"
#include "config/readers/read_peers.h"
#include "config/readers/read_records.h"
#include "config/readers/read_rules.h"
#include "config/readers/read_security.h"
#include "config/readers/read_stp.h"
#include "config/text/format.h"
#include "config/text/interface_address.h"

namespace satrelay::config {
namespace {

constexpr std::string_view kAddressHint =
    "write the gateway's own address with the length of its subnet, like 192.0.2.1/30";

GatewayAddress read_address(const Value& value) {
  const Fields fields = address_keys().fields(value);
  GatewayAddress gateway;
  address_keys().read_required(fields, "address", [&](const Value& text) {
    const auto address = parse_interface_address(text.text(kAddressHint));
    if (!address) text.refuse("is not an address with a length", kAddressHint);
    gateway.own = address->own;
    gateway.address = address->subnet;
  });
  address_keys().read(fields, gateway);
  return gateway;
}

Kind<std::string> journal() {
  return {.read =
              [](const Value& value) {
                constexpr std::string_view kHint =
                    "write the absolute path of a file on a disk, like /var/lib/satrelay/flows, "
                    "or none";
                std::string path = value.text(kHint);
                const bool is_path = path.front() == '/' && path.back() != '/';
                if (path != kNoJournal && !is_path) {
                  value.refuse("is not the path of a file", kHint);
                }
                return path;
              },
          .show = [](const std::string& path) { return path.empty() ? "no copy" : path; },
          .allowed = "the absolute path of a file, or none",
          .unit = ""};
}

Kind<int> compress_level() {
  return {
      .read =
          [](const Value& value) {
            if (value.text("write auto, or a level of zstd's from 1 to 19") == "auto") {
              return kAutoLevel;
            }
            return static_cast<int>(value.integer({1, 19}));
          },
      .show = [](const int& level) { return level == kAutoLevel ? "auto" : std::to_string(level); },
      .allowed = "1 to 19",
      .unit = ""};
}

// A part of the file that has keys of its own.
Key<Gateway> part(std::string name, std::string help, std::string required = "") {
  return key_of_section<Gateway>(
      {.name = std::move(name), .help = std::move(help), .required = std::move(required)},
      [](const Gateway&) { return std::string(); });
}

std::string text_of(const Access& access) {
  std::string text;
  for (const Key<Access>& row : access_keys()) text += row.show(access) + " ";
  return text;
}

void read_access_into(const Value& value, Gateway& config) {
  const Fields fields = gateway_access_keys().fields(value);
  gateway_access_keys().read(fields, config);
  fields.read("stats", [&](const Value& stats) {
    config.stats_access = read_access(stats, Others::kMayRead);
  });
  fields.read("control", [&](const Value& control) {
    config.control_access = read_access(control, Others::kMayNot);
  });
}

void read_ports(const Value& value, Gateway& config) {
  const Fields ports = value.fields({"lan", "wan"});
  ports.read_required("lan", "name the device towards the hosts",
                      [&](const Value& port) { config.lan = read_port(port); });
  ports.read_required("wan", "name the device towards the modem",
                      [&](const Value& port) { config.wan = read_port(port); });
}

// Reads the peers, and the values that they need. If one of those values has a mistake, the reader
// tells that mistake only.
void read_peers_and_security(const Fields& fields, Gateway& config) {
  fields.read("access", [&](const Value& access) { read_access_into(access, config); });
  const bool user_is_known = fields.are_sound({"access"});
  const auto reader = user_is_known ? std::optional(config.user) : std::nullopt;
  std::optional<Security> common;
  fields.read("security", [&](const Value& security) { common = read_security(security, reader); });
  if (!fields.are_sound({"security"})) common = Security();
  gateway_keys().read_required(fields, "peers", [&](const Value& peers) {
    config.peers = read_peers(peers, config.links, common, reader);
  });
}

// A rule may name a class. If the classes could not be read, no name is refused.
void read_classes_and_rules(const Fields& fields, Gateway& config) {
  fields.read("classes", [&](const Value& classes) { config.classes = read_classes(classes); });
  const bool are_known = fields.are_sound({"classes"}) || !config.classes.empty();
  fields.read("rules", [&](const Value& rules) {
    config.rules = read_rules(rules, are_known ? &config.classes : nullptr);
  });
}

}  // namespace

const Keys<GatewayAddress>& address_keys() {
  static const Keys<GatewayAddress> keys({
      key_of_section<GatewayAddress>(
          {.name = "address",
           .help = "The gateway's own address with the length of its subnet.",
           .allowed = "like 192.0.2.1/30",
           .required = std::string(kAddressHint)},
          [](const GatewayAddress& of) {
            return of.own.to_string() + "/" + std::to_string(of.address.length);
          }),
      key<GatewayAddress>({.name = "vlan", .help = "The VLAN tag of the gateway's own frames."},
                          &GatewayAddress::vlan,
                          Kind<std::optional<std::uint16_t>>{
                              .read = [](const Value& value) -> std::optional<std::uint16_t> {
                                return static_cast<std::uint16_t>(value.integer({1, kMostVlanId}));
                              },
                              .show =
                                  [](const std::optional<std::uint16_t>& id) {
                                    return id ? std::to_string(*id) : std::string("none");
                                  },
                              .allowed = "1 to 4094",
                              .unit = ""}),
      key<GatewayAddress>(
          {.name = "next_hop", .help = "The router towards peers outside the subnet."},
          &GatewayAddress::next_hop,
          Kind<std::optional<IpAddress>>{
              .read = [](const Value& value) -> std::optional<IpAddress> {
                return value.address();
              },
              .show =
                  [](const std::optional<IpAddress>& hop) {
                    return hop ? hop->to_string() : std::string("none");
                  },
              .allowed = "an address in that subnet",
              .unit = ""}),
  });
  return keys;
}

const Keys<Gateway>& gateway_access_keys() {
  static const Keys<Gateway> keys({
      key<Gateway>({.name = "user",
                    .help = "The user that satrelayd becomes once its ports are open.",
                    .fallback = "satrelay, or nobody if there is no such user"},
                   &Gateway::user,
                   text("write the name of a user of this machine, like satrelay", "satrelay",
                        "or the name of a user")),
      key_of_section<Gateway>({.name = "stats",
                               .help = "The group and the mode of the stats socket.",
                               .fallback = "the gateway's user and root only",
                               .allowed = "or {group: NAME, mode: MODE}"},
                              [](const Gateway& config) { return text_of(config.stats_access); }),
      key_of_section<Gateway>({.name = "control",
                               .help = "The group and the mode of the control socket.",
                               .fallback = "the gateway's user and root only",
                               .allowed = "or {group: NAME, mode: MODE}"},
                              [](const Gateway& config) { return text_of(config.control_access); }),
  });
  return keys;
}

const Keys<Gateway>& gateway_keys() {
  const Gateway standard;
  static const Keys<Gateway> keys({
      part("ports", "The devices towards the hosts and towards the modem.",
           "write {lan: {interface: ...}, wan: {interface: ...}}"),
      key<Gateway>({.name = "lan_follows_wan",
                    .help = "Whether port lan is switched off while port wan has no link."},
                   &Gateway::lan_follows_wan, either("yes", "no", standard.lan_follows_wan)),
      part("gateway", "The gateway's own address.",
           "write {address: 192.0.2.1/30} with the gateway's own address"),
      part("links", "The links, by name.",
           "write {sat: {send_rate: 50Mbit, receive_rate: 50Mbit}}"),
      part("security", "The protection of packets of all peers."),
      part("peers", "The far gateways.",
           "write a list of far gateways, like [{address: 192.0.2.2}]"),
      part("classes", "The traffic classes, by name."),
      key<Gateway>({.name = "fair_hosts", .help = "The hosts between which a class is shared."},
                   &Gateway::fair_hosts, word(standard.fair_hosts)),
      part("rules", "The rules; the first one that matches decides."),
      part("stp", "The protocol between the gateways."),
      part("limits", "The limits of the gateway."),
      part("tcp", "The gateway's TCP towards its hosts."),
      part("worker", "The threads that carry traffic."),
      key<Gateway>({.name = "compress_level", .help = "The level of zstd."},
                   &Gateway::compress_level, compress_level()),
      key<Gateway>({.name = "stats_socket_prefix",
                    .help = "The name of the gateway on this machine, in the path of its sockets."},
                   &Gateway::stats_socket_prefix, stats_socket_prefix()),
      key<Gateway>({.name = "control_socket",
                    .help = "The socket of commands.",
                    .fallback = "control.sock beside the stats socket"},
                   &Gateway::control_socket, control_socket()),
      part("access", "The users and groups that may use the sockets."),
      key<Gateway>(
          {.name = "journal", .help = "The file to which the journal of the flows is copied."},
          &Gateway::journal, journal()),
      part("records", "The records of flows that have ended."),
      key<Gateway>({.name = "log",
                    .reload = Reload::kLive,
                    .help = "Lines of this level and worse are written."},
                   &Gateway::log_level, word(standard.log_level)),
  });
  return keys;
}

Gateway read_gateway(const Value& document) {
  const Keys<Gateway>& keys = gateway_keys();
  const Fields fields = keys.fields(document);
  Gateway config;
  keys.read_required(fields, "ports", [&](const Value& ports) { read_ports(ports, config); });
  keys.read_required(fields, "gateway",
                     [&](const Value& address) { config.gateway = read_address(address); });
  keys.read_required(fields, "links",
                     [&](const Value& links) { config.links = read_links(links); });
  read_peers_and_security(fields, config);
  read_classes_and_rules(fields, config);
  config.stp.mtu = std::min(config.stp.mtu, config.wan.mtu);
  fields.read("stp", [&](const Value& stp) { config.stp = read_stp(stp, config.stp.mtu); });
  fields.read("limits", [&](const Value& limits) { config.limits = read_limits(limits); });
  fields.read("tcp", [&](const Value& tcp) { config.tcp = read_tcp(tcp); });
  fields.read("worker",
              [&](const Value& worker) { config.worker = read_worker(worker, kMostWorkers); });
  fields.read("records", [&](const Value& records) { config.records = read_records(records); });
  keys.read(fields, config);
  return config;
}

}  // namespace satrelay::config
