// Frames for hosts on this LAN that belong to no flow in the table. Each queue has a fixed size.
#pragma once

#include <cstddef>

#include "relay/gateway/flows/table/failed_syns.h"
#include "relay/gateway/frames/segment_queue.h"

namespace satrelay::gateway {

struct FlowlessFrames {
  static constexpr std::size_t kMostFinalSegments = 256;
  static constexpr std::size_t kMostLateAnswers = 256;

  bool empty() const {
    return final_segments.empty() && failed_syns.empty() && late_answers.empty();
  }

  // Resets for the hosts of removed flows: a new flow has replaced the flow, or the server has
  // answered in another VLAN.
  SegmentQueue final_segments{kMostFinalSegments};
  FailedSyns failed_syns;  // ICMP errors for clients, about SYNs that failed behind the far gateway
  // Answers for connections in TIME-WAIT; frames of flows are sent first.
  SegmentQueue late_answers{kMostLateAnswers};
};

}  // namespace satrelay::gateway
