// A report to the far gateway about this LAN, when a flow has ended here (docs/stp.md section 15).
#pragma once

#include <cstddef>
#include <cstdint>

#include "pep/base/image/image.h"
#include "pep/stp/types.h"
#include "relay/gateway/ids.h"

namespace satrelay::gateway {

// How many segments had to cross a LAN more than once. The far gateway's figures are for records
// only.
struct LanFigures {
  std::uint32_t retransmitted = 0;  // segments to the host
  std::uint32_t repeated = 0;       // segments of the host with bytes that had arrived before
  void image(Image& image) { image(retransmitted, repeated); }
  friend bool operator==(const LanFigures&, const LanFigures&) = default;
};

struct LanReport {
  stp::StreamId stream{};  // of the flow
  LanFigures figures;
};

// Receives the peer's reports.
class LanReportReader {
 public:
  virtual ~LanReportReader() = default;
  // The lane's session may not have the stream any more, or never had it.
  virtual void handle_report(LaneId lane, const LanReport& report) = 0;
};

}  // namespace satrelay::gateway
