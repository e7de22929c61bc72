#include "relay/satrelayd/reporting/port_event.h"

namespace satrelay::satrelayd {
namespace {

ops::EventKind event_of(dpdk::PortChangeKind kind) {
  using dpdk::PortChangeKind;
  using ops::EventKind;
  switch (kind) {
    case PortChangeKind::kUp:
      return EventKind::kPortUp;
    case PortChangeKind::kDown:
      return EventKind::kPortDown;
    case PortChangeKind::kGone:
      return EventKind::kPortGone;
    case PortChangeKind::kReturned:
      return EventKind::kPortReturned;
    case PortChangeKind::kRenamed:
      return EventKind::kPortRenamed;
    case PortChangeKind::kUnfit:
      break;
  }
  return EventKind::kPortUnfit;
}

}  // namespace

ops::Event event_of(const std::string& port, const dpdk::PortChange& change) {
  return {event_of(change.kind), "port " + port, change.detail};
}

}  // namespace satrelay::satrelayd
