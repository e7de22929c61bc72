// Formats the last hour as text graphs (sparklines), for a terminal of 80 columns. The functions
// are pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "relay/client/reply.h"

namespace satrelay::ctl {

// The set of characters that draw a text graph, one character for each value.
enum class Marks : std::uint8_t {
  kBlocks,  // Unicode blocks from one eighth to eight eighths of the full height
  kAscii,
};
// Returns the set of characters that a terminal with this locale can show. `locale` is the value of
// the first variable that is set among LC_ALL, LC_CTYPE and LANG.
Marks marks_of(std::string_view locale);

struct HistoryLook {
  std::string subject;  // such as "gateway" or "peer remote"
  Marks marks = Marks::kAscii;
  std::size_t width = 80;
};

// `points` must be in the order of history_in_order(), the oldest first.
std::string render_history(const Json& points, const HistoryLook& look);

// Returns the points from `since_ms` on, the oldest first, and only one point for each time. A
// point may occur twice if the points were read page by page, since new points arrive in between.
Json history_in_order(const Json& points, std::uint64_t since_ms);

}  // namespace satrelay::ctl
