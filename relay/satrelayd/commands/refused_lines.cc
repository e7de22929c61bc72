#include "relay/satrelayd/commands/refused_lines.h"

#include <cstddef>
#include <string_view>
#include <utility>

namespace satrelay::satrelayd {
namespace {

// The first worker forwards no frames while it logs, and each line is a system call.
constexpr std::size_t kMostRefusedLines = 10;
constexpr std::size_t kMostRefusedLine = 1000;

}  // namespace

std::vector<std::string> refused_lines(const std::vector<std::string>& mistakes) {
  constexpr std::string_view kMore = "...";
  std::vector<std::string> lines;
  for (const std::string& mistake : mistakes) {
    if (lines.size() == kMostRefusedLines) {
      // The last line of several mistakes has their number.
      lines.push_back("reload: " + mistakes.back() + "; satrelayd --check tells them");
      break;
    }
    std::string line = "reload: " + mistake;
    if (line.size() > kMostRefusedLine) {
      line.resize(kMostRefusedLine - kMore.size());
      line += kMore;
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace satrelay::satrelayd
