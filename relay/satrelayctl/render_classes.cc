// The classes of traffic: what each may send, and what became of it.
#include <vector>

#include "relay/satrelayctl/render.h"
#include "relay/satrelayctl/reply.h"
#include "relay/satrelayctl/scale.h"
#include "relay/satrelayctl/table.h"

namespace satrelay::ctl {

namespace {

std::string dictionary(const Json& each) {
  const std::string fingerprint = text(each, "dictionary");
  return fingerprint.empty() ? "-" : fingerprint;
}

}  // namespace

std::string render_classes(const Json& classes) {
  std::vector<std::vector<std::string>> rows;
  for (const Json& each : classes) {
    std::string name = text(each, "name");
    if (text(each, "changed") == "yes") name += " (set)";
    rows.push_back(
        {name, unless_zero(each, "weight", plain), unless_zero(each, "guaranteed_bps", human_rate),
         unless_zero(each, "maximum_bps", human_rate), shown(each, "hosts", human_count),
         shown(each, "held_frames", human_count), shown(each, "held_bytes", human_bytes),
         shown(each, "relayed_bytes", human_bytes), shown(each, "bridged_frames", human_count),
         shown(each, "bridged_bytes", human_bytes), shown(each, "waited_frames", human_count),
         shown(each, "dropped_frames", human_count), dictionary(each)});
  }
  return format_table({{"class"},
                       {"weight", Align::kRight},
                       {"guaranteed", Align::kRight},
                       {"maximum", Align::kRight},
                       {"hosts", Align::kRight},
                       {"waiting frames", Align::kRight},
                       {"waiting", Align::kRight},
                       {"relayed", Align::kRight},
                       {"bridged frames", Align::kRight},
                       {"bridged", Align::kRight},
                       {"had to wait", Align::kRight},
                       {"dropped", Align::kRight},
                       {"dictionary"}},
                      rows);
}

}  // namespace satrelay::ctl
