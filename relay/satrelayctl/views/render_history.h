// The last hour as lines of marks, for a terminal of 80 columns. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "relay/client/reply.h"

namespace satrelay::ctl {

// What a line is drawn with.
enum class Marks : std::uint8_t {
  kBlocks,  // eighths of a block, of Unicode
  kAscii,
};
// As a terminal of that locale shows them: LC_ALL, LC_CTYPE, LANG, the first that is set.
Marks marks_of(std::string_view locale);

struct HistoryLook {
  std::string subject;  // "gateway", "peer remote"
  Marks marks = Marks::kAscii;
  std::size_t width = 80;
};

// `points`: of /satrelay/history, the newest first.
std::string render_history(const Json& points, const HistoryLook& look);

// Oldest first, each moment once, without those before `since_ms`: what a program gets of points
// that were read page by page meanwhile.
Json history_in_order(const Json& points, std::uint64_t since_ms);

}  // namespace satrelay::ctl
