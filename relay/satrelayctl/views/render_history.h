// Formats the last hour as lines of marks, for a terminal of 80 columns. The functions are pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "relay/client/reply.h"

namespace satrelay::ctl {

// The characters with which a line of marks is drawn.
enum class Marks : std::uint8_t {
  kBlocks,  // Unicode's eighths of a block
  kAscii,
};
// Returns the marks that a terminal of this locale can show. `locale`: the value of LC_ALL,
// LC_CTYPE or LANG, whichever is set first in this order.
Marks marks_of(std::string_view locale);

struct HistoryLook {
  std::string subject;  // "gateway", "peer remote"
  Marks marks = Marks::kAscii;
  std::size_t width = 80;
};

// `points`: as history_in_order() returns them, the oldest first.
std::string render_history(const Json& points, const HistoryLook& look);

// Returns the points from `since_ms` on, the oldest first, and only one point for each time. Points
// that are read page by page may repeat, since new points arrive meanwhile.
Json history_in_order(const Json& points, std::uint64_t since_ms);

}  // namespace satrelay::ctl
