#include "config/readers/read_peers.h"

#include <utility>

#include "config/keys/kinds.h"
#include "config/readers/read_common.h"
#include "config/readers/read_security.h"

namespace satrelay::config {
namespace {

std::string prefixes_of(const Peer& peer) {
  std::string text;
  for (const IpPrefix& prefix : peer.prefixes) {
    text += (text.empty() ? "" : ", ") + prefix.to_string();
  }
  return text;
}

void read_prefixes(const Value& value, Peer& peer) {
  const std::vector<Value> items = value.items_or_single();
  for (const Value& prefix : items) {
    prefix.attempt([&] { peer.prefixes.push_back(prefix.prefix()); });
  }
  if (items.empty()) {
    value.fail(
        "is empty; write the prefixes of the hosts behind this peer, or leave "
        "prefixes out for all");
  }
}

// If the links could not be read, there are none here, and no peer is asked for one.
void read_link_of(const Fields& fields, const std::vector<Link>& links, Peer& peer) {
  fields.read("link",
              [&](const Value& link) { peer.links = {link.text("write the name of a link")}; });
  if (fields.find("link") != nullptr) return;
  if (links.size() == 1) peer.links = {links.front().name};
  if (links.size() < 2) return;
  fields.must_have("link", "there are several links: write the name of one");
}

Peer read_peer(const Value& value, const std::vector<Link>& links,
               const std::optional<Security>& common, const std::optional<std::string>& reader) {
  const Fields fields = peer_keys().fields(value);
  Peer peer;
  peer_keys().read_required(fields, "address", [&](const Value& address) {
    peer.address = address.address();
    peer.name = peer.address.to_string();
  });
  fields.read("name", [&](const Value& name) {
    peer.name = name.text("write a name");
    check_name(name, peer.name);
  });
  if (fields.find("prefixes") == nullptr) {
    peer.prefixes = {IpPrefix{IpAddress::v4({}), 0}, IpPrefix{IpAddress::v6({}), 0}};
  }
  fields.read("prefixes", [&](const Value& prefixes) { read_prefixes(prefixes, peer); });
  read_link_of(fields, links, peer);
  peer_keys().read(fields, peer);
  if (common) peer.security = *common;
  fields.read("security",
              [&](const Value& security) { peer.security = read_security(security, reader); });
  if (!common) {
    fields.must_have("security",
                     "write {psk_file: /etc/satrelay/psk}, here or for all peers at the top, or "
                     "none if no other machine can reach the link");
  }
  return peer;
}

}  // namespace

const Keys<Peer>& peer_keys() {
  static const Keys<Peer> keys({
      key_of_section<Peer>({.name = "name",
                            .help = "The name of the peer in statistics and logs.",
                            .fallback = "the address",
                            .allowed = "or a name that no other peer has"},
                           [](const Peer& peer) { return peer.name; }),
      key_of_section<Peer>({.name = "address",
                            .help = "The far gateway's own address.",
                            .allowed = "the far gateway's own address",
                            .required = "write the address of the far gateway, like 192.0.2.2"},
                           [](const Peer& peer) { return peer.address.to_string(); }),
      key_of_section<Peer>({.name = "prefixes",
                            .help = "The hosts behind that gateway.",
                            .fallback = "everything",
                            .allowed = "a prefix or a list of them"},
                           prefixes_of),
      key_of_section<Peer>({.name = "link",
                            .help = "The link that carries traffic of this peer.",
                            .fallback = "the only link",
                            .allowed = "or the name of a link"},
                           [](const Peer& peer) { return peer.links.front(); }),
      key<Peer>({.name = "workers",
                 .help = "The worker.count of that gateway.",
                 .fallback = "as many as this gateway has"},
                &Peer::workers, workers()),
      // A reload may change the keys of a peer, but not whether there are keys.
      key_of_section<Peer>(
          {.name = "security",
           .help = "The protection of packets of this peer.",
           .fallback = "as at the top",
           .allowed = "or as above"},
          [](const Peer& peer) { return std::string(peer.security.keys ? "keys" : "none"); }),
  });
  return keys;
}

std::vector<Peer> read_peers(const Value& value, const std::vector<Link>& links,
                             const std::optional<Security>& common,
                             const std::optional<std::string>& reader) {
  std::vector<Peer> peers;
  const std::vector<Value> items = value.items("write a list of far gateways");
  for (const Value& peer : items) {
    peer.attempt([&] { peers.push_back(read_peer(peer, links, common, reader)); });
  }
  if (items.empty()) value.fail("is empty; describe at least one far gateway");
  return peers;
}

}  // namespace satrelay::config
