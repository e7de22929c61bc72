// The last hour as lines of marks, for a terminal of 80 columns. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "relay/client/reply.h"

namespace satrelay::ctl {

// The characters of which a line is drawn.
enum class Marks : std::uint8_t {
  kBlocks,  // Unicode's eighths of a block
  kAscii,
};
// The marks that a terminal of this locale can show. `locale`: the first that is set of LC_ALL,
// LC_CTYPE, LANG.
Marks marks_of(std::string_view locale);

struct HistoryLook {
  std::string subject;  // "gateway", "peer remote"
  Marks marks = Marks::kAscii;
  std::size_t width = 80;
};

// `points`: as history_in_order() returns them, the oldest first.
std::string render_history(const Json& points, const HistoryLook& look);

// The points from `since_ms` on, the oldest first, each time once. Points that are read page by
// page may come twice, since new points arrive meanwhile.
Json history_in_order(const Json& points, std::uint64_t since_ms);

}  // namespace satrelay::ctl
