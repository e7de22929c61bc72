// Formats the latest connections that were bridged instead of relayed.
#include "relay/satrelayctl/views/listing.h"
#include "relay/satrelayctl/views/render.h"
#include "relay/text/numbers.h"

namespace satrelay::ctl {
namespace {

// Returns the reason for bridging: the counter's name without "bridged_", as in the metrics.
std::string reason(const Json& each) {
  constexpr std::string_view kPrefix = "bridged_";
  std::string name = text(each, "reason");
  return name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : name;
}

std::string rule_of(const Json& each) {
  const std::string name = text(each, "rule_name");
  return name.empty() || name == "-" ? unless_zero(each, "rule", text::plain) : name;
}

}  // namespace

std::string render_bridged(const Json& connections, std::size_t width) {
  const auto end = [](const char* address, const char* port) {
    return [=](const Json& each) { return endpoint(each, address, port); };
  };
  return format_listing(
      connections,
      {words("client", end("client", "client_port")), words("server", end("server", "server_port")),
       words("reason", reason), figure("ago", "age_ms", milliseconds), words("rule", rule_of),
       figure("SYNs", "syns", text::count)},
      width);
}

}  // namespace satrelay::ctl
