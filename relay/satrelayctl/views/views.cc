#include "relay/satrelayctl/views/views.h"

#include "relay/satrelayctl/views/render.h"

namespace satrelay::ctl {
namespace {

constexpr View kViews[] = {
    {"status", "Uptime, flows, memory, and sums over all flows", Paging::kWhole, Subject::kGateway,
     render_status},
    {"ports", "The LAN and the WAN port, with their errors", Paging::kWhole, Subject::kGateway,
     render_ports},
    {"peers", "The far gateways: state, round-trip time, loss", Paging::kPaged, Subject::kGateway,
     render_peers},
    {"links", "The rates of each link: as configured, as set, as they are now", Paging::kPaged,
     Subject::kGateway, render_links},
    {"rules", "The traffic of each rule: connections, bytes, frames", Paging::kPaged,
     Subject::kGateway, render_rules},
    {"classes", "The traffic classes: rates, waiting and sent bytes", Paging::kPaged,
     Subject::kGateway, render_classes},
    {"histograms", "Times: waits for the link, rounds of the workers, compression", Paging::kPaged,
     Subject::kGateway, render_histograms},
    {"explain", "Which rule holds for a connection or a packet, and why", Paging::kWhole,
     Subject::kOne, render_explanation},
    {"flows", "Every relayed TCP connection", Paging::kPaged, Subject::kConnections, render_flows},
    {"flow", "Both halves of one connection, and what each direction waits for", Paging::kWhole,
     Subject::kOne, render_flow},
    {"bridged", "The latest connections that were bridged instead of relayed, and why",
     Paging::kPaged, Subject::kConnections, render_bridged},
    {"records", "Records of flows that have ended: written, exported, lost", Paging::kWhole,
     Subject::kGateway, render_records},
    {"counters", "Why frames were bridged or dropped and flows ended", Paging::kWhole,
     Subject::kGateway,
     [](const Json& reply, std::size_t width) {
       return render_counters(reply, Zeros::kHide, width);
     }},
};

}  // namespace

std::span<const View> views() { return kViews; }

}  // namespace satrelay::ctl
