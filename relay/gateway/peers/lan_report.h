// What a gateway tells the far one of its LAN when a flow has ended there (docs/stp.md section 15).
#pragma once

#include <cstddef>
#include <cstdint>

#include "pep/stp/types.h"

namespace satrelay::gateway {

// How often what crossed a LAN had to be said again. As the far gateway has counted it, it is a
// figure to be written down, and nothing else.
struct LanFigures {
  std::uint32_t retransmitted = 0;  // segments to the host
  std::uint32_t repeated = 0;       // segments of the host with bytes that had come before
  friend bool operator==(const LanFigures&, const LanFigures&) = default;
};

struct LanReport {
  stp::StreamId stream{};  // of the flow
  LanFigures figures;
};

// Who wants to know.
class LanReportReader {
 public:
  virtual ~LanReportReader() = default;
  // `session`: its number. The stream may be one that nobody knows any more, or never did.
  virtual void handle_report(std::size_t session, const LanReport& report) = 0;
};

}  // namespace satrelay::gateway
