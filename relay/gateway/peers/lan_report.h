// When a flow has ended here, a LAN report tells the far gateway about retransmissions of the flow
// on this LAN (docs/stp.md section 15).
#pragma once

#include <cstddef>
#include <cstdint>

#include "pep/base/image/image.h"
#include "pep/stp/types.h"
#include "relay/gateway/ids.h"

namespace satrelay::gateway {

// Numbers of segments of a flow that were sent again on one LAN. Numbers from the far gateway are
// used only in flow records.
struct LanFigures {
  std::uint32_t retransmitted = 0;  // retransmitted segments to the host
  std::uint32_t repeated = 0;       // segments of the host with bytes that had already arrived
  void image(Image& image) { image(retransmitted, repeated); }
  friend bool operator==(const LanFigures&, const LanFigures&) = default;
};

struct LanReport {
  stp::StreamId stream{};  // the flow's stream
  LanFigures figures;
};

// Receives the reports of a peer.
class LanReportReader {
 public:
  virtual ~LanReportReader() = default;
  // The session of the lane may not have the stream of the report any more, or may never have had
  // it.
  virtual void handle_report(LaneId lane, const LanReport& report) = 0;
};

}  // namespace satrelay::gateway
