// What a script file says, parsed: settings, then steps in the order of time. docs/testing.md
// describes the notation.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "pep/base/time.h"
#include "tests/conformance/segment.h"

namespace satrelay::conformance {

// Where something stands; `line` counts from 1.
struct Place {
  std::string file;
  int line = 0;
};

// A mistake in a script, or something that was not as the script says: "file:line: what".
class ScriptError : public std::runtime_error {
 public:
  ScriptError(const Place& place, const std::string& what)
      : std::runtime_error(place.file + ":" + std::to_string(place.line) + ": " + what) {}
};

enum class OptionsStated : std::uint8_t {
  kNo,   // sent: timestamps if agreed; expected: no SACK blocks, all else as it likes
  kAny,  // <*>
  kAll,  // exactly these
};

// A segment in relative numbers: each side's SYN is at 0, its first byte at 1. What is absent
// matches anything; where it is sent, SegmentText says what it becomes.
struct SegmentText {
  // Expected without P, a segment may have it: where a stack pushes within a run of data is its own
  // affair (RFC 9293 section 3.9.1.2).
  std::uint8_t flags = 0;
  std::optional<std::int64_t> begin;
  std::int64_t size = 0;  // of the payload
  std::optional<std::int64_t> ack;
  std::optional<std::uint16_t> window;  // as on the wire; sent: 65535
  std::optional<std::uint16_t> urgent;  // sent: 0
  std::optional<Ecn> ecn;               // sent: not ECT
  OptionsStated options_stated = OptionsStated::kNo;
  std::vector<Option> options;
  std::optional<std::uint8_t> data_offset;
  int repetitions = 1;  // each begins where the one before ended; P counts on the last only

  bool has(std::uint8_t flag) const { return (flags & flag) != 0; }
};

// "+10", "+200..300" or "50": relative to the step before, or from the script's zero.
struct When {
  bool relative = true;
  Duration earliest;
  Duration latest;
};

enum class Verb : std::uint8_t {
  kListen,
  kConnect,      // offers Act::options, and ECN if word says so
  kWrite,        // count bytes
  kWriteUrgent,  // count bytes, the last of which is urgent
  kAtMark,       // the next byte to read is urgent, as far as is known
  kNoMark,       // it is not
  kRead,         // count bytes, which must be there and right
  kReadEnd,      // the peer has finished and everything is read
  kReadable,     // count bytes wait, neither more nor less
  kShutdown,     // ends our direction only
  kAbort,
  kState,           // must be word
  kError,           // the application must be told word
  kNothing,         // no segment until then
  kNewIncarnation,  // the peer's next connection; its sequence begins count later
  kUnreachable,     // ICMP: destination unreachable, code count; quotes the segment at `begin`
  kTooBig,          // ICMP: packets may have count bytes; quotes the segment at `begin`
};

struct Send {
  SegmentText segment;
};
struct Expect {
  SegmentText segment;
};
struct Act {
  Verb verb = Verb::kNothing;
  std::int64_t count = 0;
  std::int64_t begin = 0;
  std::string word;
  std::vector<Option> options;
};

enum class For : std::uint8_t { kBoth, kEndpoint, kKernel };

struct Step {
  int line = 0;
  std::string text;  // without its time
  When when;
  For for_whom = For::kBoth;
  std::variant<Send, Expect, Act> what;
};

// The owner's choices for the TCP under test.
struct Settings {
  std::uint16_t mss = 1460;
  std::optional<std::uint32_t> window;  // receive buffer, bytes
  std::optional<std::uint32_t> send_buffer;
  std::uint8_t scale = 7;
  std::uint32_t isn = 10'000;  // the kernel chooses its own
  std::uint32_t peer_isn = 500'000;
  bool nagle = false;  // for the kernel; the endpoint has none
};

struct Script {
  std::string name;  // topic/name
  std::string file;
  std::string title;
  std::string rfc;
  Settings settings;
  std::string kernel_skip;               // why the kernel does not play this script; empty: it does
  std::string pending;                   // why the endpoint does not pass yet; empty: it must
  std::vector<std::string> differences;  // each "kernel differs: "
  std::map<std::string, std::string> sysctls;
  std::vector<Step> steps;
};

}  // namespace satrelay::conformance
