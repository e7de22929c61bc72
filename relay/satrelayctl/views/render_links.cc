// Formats the links: the capacity of each link, and the source of that capacity.
#include "relay/client/reply.h"
#include "relay/satrelayctl/views/listing.h"
#include "relay/satrelayctl/views/render.h"
#include "relay/text/numbers.h"
#include "relay/text/table.h"

namespace satrelay::ctl {

namespace {

// Marks a link if the gateway finds its capacity itself. Capacities that were configured or set
// have separate columns.
std::string link_name(const Json& each) {
  std::string name = text(each, "name");
  if (text(each, "finds_capacity") == "yes") name += " (finds)";
  return name;
}

}  // namespace

std::string render_links(const Json& links, std::size_t width) {
  return format_listing(
      links,
      {words("link", link_name), figure("peers", "peers", text::count),
       figure("send", "send_capacity_bps", bits_per_second),
       figure_unless_zero("configured", "send_configured_bps", bits_per_second),
       figure_unless_zero("set", "send_commanded_bps", bits_per_second),
       figure("receive", "receive_capacity_bps", bits_per_second),
       figure_unless_zero("configured", "receive_configured_bps", bits_per_second),
       figure_unless_zero("set", "receive_commanded_bps", bits_per_second),
       figure("sent", "sent_bytes", text::binary_bytes)},
      width);
}

}  // namespace satrelay::ctl
