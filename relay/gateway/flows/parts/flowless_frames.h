// Frames for hosts of this LAN that belong to no flow in the table. Each queue has a fixed size.
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

  // Resets for the hosts of removed flows: flows that a new flow has replaced, or that were
  // answered in another VLAN.
  SegmentQueue final_segments{kMostFinalSegments};
  FailedSyns failed_syns;  // ICMP errors for clients: their SYN has failed behind the far gateway
  SegmentQueue late_answers{kMostLateAnswers};  // of connections in TIME-WAIT; flows go first
};

}  // namespace satrelay::gateway
