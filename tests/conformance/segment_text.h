// The notation of segments: reading it from a script, and writing what was seen in the same words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/conformance/script.h"

namespace satrelay::conformance {

// A cause without its place; the caller knows that.
class NotationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The words of a line; "<...>" is one word, whatever is in it.
std::vector<std::string> split_words(std::string_view line);
std::string_view trimmed(std::string_view text);  // of spaces, tabs and the end of a line
std::int64_t parse_number(std::string_view word);
std::vector<Option> parse_options(std::string_view text);  // "<mss 1460, sackOK>"
SegmentText parse_segment(const std::vector<std::string>& words);

// Relative to what: zero for what is not known yet.
struct Origin {
  std::uint32_t sequence = 0;        // the sender's initial one
  std::uint32_t acknowledgment = 0;  // the other side's
  std::uint32_t timestamp = 0;       // taken off TSval
  std::uint32_t echo = 0;            // taken off TSecr
};
std::string describe(const Segment& segment, const Origin& origin);

}  // namespace satrelay::conformance
