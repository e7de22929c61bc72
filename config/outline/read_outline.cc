#include "config/outline/read_outline.h"

#include "config/keys/kinds.h"
#include "config/readers/document.h"
#include "config/readers/read_common.h"
#include "config/text/text_file.h"

namespace satrelay::config {
namespace {

void read_ports(const Value& value, Outline& outline) {
  const Fields ports = value.fields({"lan", "wan"});
  outline.lan = read_port(ports.require("lan", "name the device towards the hosts"));
  const Value& wan = ports.require("wan", "name the device towards the modem");
  outline.wan = read_port(wan);
  if (!outline.wan.interface.empty() && outline.wan.interface == outline.lan.interface) {
    wan.fail("is the same interface as lan");
  }
}

}  // namespace

Outline parse_outline(const std::string& text, const std::string& file) {
  Places places(file);
  const Value document = parse_document(text, places, file);
  const Gateway defaults;
  Outline outline;
  outline.stats_socket_prefix = defaults.stats_socket_prefix;
  bool has_ports = false;
  for (const auto& [key, value] : document.named_entries("write the keys of gateway.yaml")) {
    if (key == "ports") {
      read_ports(value, outline);
      has_ports = true;
    } else if (key == "lan_follows_wan") {
      outline.lan_follows_wan = either("yes", "no", false).read(value);
    } else if (key == "stats_socket_prefix") {
      outline.stats_socket_prefix = stats_socket_prefix().read(value);
    } else if (key == "control_socket") {
      outline.control_socket = control_socket().read(value);
    }
  }
  if (!has_ports) {
    places.fail("ports", "is missing; name the devices towards the hosts and towards the modem");
  }
  return outline;
}

Outline load_outline(const std::filesystem::path& file) {
  return parse_outline(read_text_file(file, kMostDocumentBytes), file.string());
}

}  // namespace satrelay::config
