// The notation of segments: reads it from a script, and describes seen segments in the same words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/conformance/script.h"

namespace satrelay::conformance {

// A cause without its place, which the caller knows.
class NotationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The words of a line; "<...>" is one word, whatever is in it.
std::vector<std::string> split_words(std::string_view line);
std::string_view trimmed(std::string_view text);  // Without spaces, tabs and the end of a line.
std::int64_t parse_number(std::string_view word);
std::vector<Option> parse_options(std::string_view text);  // "<mss 1460, sackOK>"
SegmentText parse_segment(const std::vector<std::string>& words);

// Origin of relative numbers; zero if it is not known yet.
struct Origin {
  std::uint32_t sequence = 0;        // The sender's initial number.
  std::uint32_t acknowledgment = 0;  // The other side's initial number.
  std::uint32_t timestamp = 0;       // Subtracted from TSval.
  std::uint32_t echo = 0;            // Subtracted from TSecr.
};
std::string describe(const Segment& segment, const Origin& origin);

}  // namespace satrelay::conformance
