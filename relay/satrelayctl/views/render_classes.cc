// Formats the traffic classes: the rates at which each class may send, and the amounts of its
// traffic.
#include "relay/client/reply.h"
#include "relay/gateway/uplink/class_counters.h"
#include "relay/satrelayctl/views/listing.h"
#include "relay/satrelayctl/views/render.h"
#include "relay/text/numbers.h"
#include "relay/text/table.h"

namespace satrelay::ctl {

namespace {

std::string class_name(const Json& each) {
  std::string name = text(each, "name");
  if (text(each, "changed") == "yes") name += " (set)";
  return name;
}

std::string dictionary(const Json& each) {
  const std::string fingerprint = text(each, "dictionary");
  return fingerprint.empty() ? "-" : fingerprint;
}

}  // namespace

std::string render_classes(const Json& classes, std::size_t width) {
  using gateway::ClassUse;
  return format_listing(
      classes,
      {words("class", class_name), figure_unless_zero("weight", "weight", text::plain),
       figure_unless_zero("guaranteed", "guaranteed_bps", bits_per_second),
       figure_unless_zero("maximum", "maximum_bps", bits_per_second),
       figure("hosts", "hosts", text::count), figure("waiting frames", "held_frames", text::count),
       figure("waiting", "held_bytes", text::binary_bytes),
       figure("relayed", field_of(&ClassUse::relayed_bytes)),
       figure("bridged frames", field_of(&ClassUse::bridged_frames)),
       figure("bridged", field_of(&ClassUse::bridged_bytes)),
       figure("had to wait", field_of(&ClassUse::waited_frames)),
       figure("dropped", field_of(&ClassUse::dropped_frames)), words("dictionary", dictionary)},
      width);
}

}  // namespace satrelay::ctl
