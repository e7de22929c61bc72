#include "relay/satrelayctl/init/configuration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <vector>

#include "config/model/words.h"
#include "config/text/format.h"
#include "relay/satrelayctl/init/overheads.h"
#include "relay/text/table.h"

namespace satrelay::ctl::init {
namespace {

constexpr std::size_t kHelpWidth = 90;

// The answers as one of the two gateways sees them.
struct View {
  Role role;
  const Station& own;
  const Station& far;
  std::optional<BitRate> send_rate;
  std::optional<BitRate> receive_rate;
};

View view_of(const Answers& of, Side side) {
  if (side == Side::kHere) return {of.role, of.here, of.there, of.send_rate, of.receive_rate};
  return {other(of.role), of.there, of.here, of.receive_rate, of.send_rate};
}

std::string port_text(const config::Port& port) {
  const std::string device = port.driver == config::Driver::kPci
                                 ? "pci: " + scalar(port.pci)
                                 : "interface: " + scalar(port.interface);
  return port.mtu == config::Port().mtu ? "{" + device + "}"
                                        : fmt::format("{{{}, mtu: {}}}", device, port.mtu);
}

std::string interface_address_text(const config::InterfaceAddress& address) {
  return fmt::format("{}/{}", address.own.to_string(), address.subnet.length);
}

std::string link_text(const Answers& answers, const View& view) {
  std::string text;
  const auto add = [&](const std::string& line, std::string_view comment) {
    text += fmt::format("    {:<23}  # {}\n", line, comment);
  };
  if (answers.finds_capacity) {
    add("capacity: find", "the gateway finds the rate that it can send at, and follows it");
  }
  if (view.send_rate) {
    add("send_rate: " + config::to_text(*view.send_rate),
        answers.finds_capacity ? "a ceiling: the gateway never sends more"
                               : "the rate that the modem here can send");
  }
  if (view.receive_rate) {
    add("receive_rate: " + config::to_text(*view.receive_rate),
        answers.finds_capacity ? "memory is planned for this rate"
                               : "the rate that the modem of " + view.far.name + " can send");
  }
  const Overhead* const menu = find_overhead(answers.overhead_name);
  const bool is_word =
      answers.overhead == config::kOverheadIp || answers.overhead == config::kOverheadEthernet;
  if (menu != nullptr) {
    for (const std::string& line : text::fold("Modem: " + std::string(menu->help), kHelpWidth)) {
      text += "    # " + line + "\n";
    }
  }
  add("overhead: " +
          (is_word && menu != nullptr ? answers.overhead_name : std::to_string(answers.overhead)),
      "bytes that each packet costs beyond its IP bytes");
  return text;
}

std::string prefixes_text(const std::vector<IpPrefix>& prefixes) {
  std::string text;
  for (const IpPrefix& prefix : prefixes) {
    text += (text.empty() ? "" : ", ") + scalar(prefix.to_string());
  }
  return text;
}

std::string peer_text(const Answers& answers, const View& view) {
  std::string text = fmt::format("  - name: {}\n    address: {}\n", scalar(view.far.name),
                                 scalar(view.far.address->own.to_string()));
  if (view.role == Role::kHub && !answers.terminal_hosts.empty()) {
    text += fmt::format("    prefixes: [{}]  # the hosts behind {}\n",
                        prefixes_text(answers.terminal_hosts), view.far.name);
  } else {
    text += fmt::format("    # No prefixes: any host may be behind {}.\n", view.far.name);
  }
  return text + "    link: sat\n";
}

}  // namespace

std::string scalar(const std::string& text) {
  constexpr std::string_view kPlain = "_-./";
  std::string lower = text;
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const bool is_plain =
      !text.empty() && lower != "null" &&
      (std::isalnum(static_cast<unsigned char>(text.front())) != 0 || text.front() == '/') &&
      std::ranges::all_of(text, [&](unsigned char c) {
        return std::isalnum(c) != 0 || kPlain.find(static_cast<char>(c)) != std::string_view::npos;
      });
  if (is_plain) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

std::string configuration_text(const Answers& answers, Side side, const std::string& psk_file) {
  const View view = view_of(answers, side);
  std::string text = fmt::format(
      "# The gateway {}, the {} of {}. `satrelayctl init` has made this file.\n"
      "# `satrelayd --keys` lists all keys, and docs/configuration.md explains them.\n\n",
      view.own.name, to_string(view.role), view.far.name);
  text += fmt::format("ports:\n  lan: {}  # towards the hosts\n  wan: {}  # towards the modem\n\n",
                      port_text(view.own.lan), port_text(view.own.wan));
  text += "# This gateway's own address, on the WAN.\ngateway:\n  address: " +
          scalar(interface_address_text(*view.own.address)) + "\n";
  if (view.own.next_hop) {
    text += fmt::format("  next_hop: {}  # the router towards {}\n",
                        scalar(view.own.next_hop->to_string()), view.far.name);
  }
  text += "\nlinks:\n  sat:\n" + link_text(answers, view);
  text += answers.secret == SecretSource::kNone
              ? "\n# Others on the satellite segment can read and forge.\nsecurity: none\n"
              : "\n# The same secret at both gateways.\nsecurity: {psk_file: " + scalar(psk_file) +
                    "}\n";
  text += "\npeers:\n" + peer_text(answers, view);
  if (view.role == Role::kHub) {
    text += "\n# The hosts behind the terminals share the link alike.\nfair_hosts: remote\n";
  }
  return text +
         "\n# The first rule that matches decides.\nrules:\n  - {action: accelerate, handshake: " +
         std::string(config::word_of(answers.handshake)) + "}\n";
}

config::Gateway configuration_so_far(const Answers& answers, Side side) {
  const View view = view_of(answers, side);
  config::Gateway gateway;
  gateway.lan = view.own.lan;
  gateway.wan = view.own.wan;
  gateway.stp.mtu = std::min(gateway.stp.mtu, gateway.wan.mtu);
  gateway.gateway.own = view.own.address->own;
  gateway.gateway.address = view.own.address->subnet;
  gateway.gateway.next_hop = view.own.next_hop;
  const bool knows_way = !answers.is_routed() || view.own.next_hop;
  if (!view.far.address || !knows_way) return gateway;
  config::Link link;
  link.name = "sat";
  gateway.links = {link};
  config::Peer peer;
  peer.name = view.far.name;
  peer.address = view.far.address->own;
  if (view.role == Role::kHub) peer.prefixes = answers.terminal_hosts;
  peer.links = {link.name};
  gateway.peers = {peer};
  return gateway;
}

}  // namespace satrelay::ctl::init
