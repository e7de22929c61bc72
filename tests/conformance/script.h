// A parsed script file: settings, then steps in the order of time. docs/testing.md describes the
// notation.
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

// A place in a file; `line` counts from 1.
struct Place {
  std::string file;
  int line = 0;
};

// A mistake in a script, or a deviation from it: "file:line: what".
class ScriptError : public std::runtime_error {
 public:
  ScriptError(const Place& place, const std::string& what)
      : std::runtime_error(place.file + ":" + std::to_string(place.line) + ": " + what) {}
};

enum class OptionsStated : std::uint8_t {
  kNo,   // Sent: timestamps if agreed; expected: no SACK blocks.
  kAny,  // <*>
  kAll,  // Exactly these.
};

// A segment in relative numbers: each side's SYN is at 0, its first byte at 1. An absent field
// matches anything. If the segment is sent, the comments below say what the field becomes.
struct SegmentText {
  // A segment that is expected without P may have P. Each stack decides where it pushes within a
  // run of data (RFC 9293 section 3.9.1.2).
  std::uint8_t flags = 0;
  std::optional<std::int64_t> begin;
  std::int64_t size = 0;  // Payload.
  std::optional<std::int64_t> ack;
  std::optional<std::uint16_t> window;  // As on the wire; sent: 65535.
  std::optional<std::uint16_t> urgent;  // Sent: 0.
  std::optional<Ecn> ecn;               // Sent: not ECT.
  OptionsStated options_stated = OptionsStated::kNo;
  std::vector<Option> options;
  std::optional<std::uint8_t> data_offset;
  int repetitions = 1;  // Each begins where the one before ended; P counts on the last only.

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
  kConnect,      // Offers Act::options, and ECN if `word` says so.
  kWrite,        // `count` bytes.
  kWriteUrgent,  // `count` bytes, the last of which is urgent.
  kAtMark,       // The next byte to read is urgent, as far as is known.
  kNoMark,       // It is not.
  kRead,         // `count` bytes, which must be there and right.
  kReadEnd,      // The peer has finished and everything is read.
  kReadable,     // `count` bytes wait, neither more nor less.
  kShutdown,     // Ends our direction only.
  kAbort,
  kState,           // Must be `word`.
  kError,           // The application must get the error `word`.
  kNothing,         // No segment until then.
  kNewIncarnation,  // The peer's next connection; its sequence begins `count` later.
  kUnreachable,     // ICMP: destination unreachable, code `count`; quotes the segment at `begin`.
  kTooBig,          // ICMP: packets may have `count` bytes; quotes the segment at `begin`.
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
  std::string text;  // Without its time.
  When when;
  For for_whom = For::kBoth;
  std::variant<Send, Expect, Act> what;
};

// The owner's choices for the TCP under test.
struct Settings {
  std::uint16_t mss = 1460;
  std::optional<std::uint32_t> window;  // Receive buffer, bytes.
  std::optional<std::uint32_t> send_buffer;
  std::uint8_t scale = 7;
  std::uint32_t isn = 10'000;  // The kernel chooses its own.
  std::uint32_t peer_isn = 500'000;
  bool nagle = false;  // For the kernel; the endpoint has none.
};

struct Script {
  std::string name;  // TOPIC/NAME
  std::string file;
  std::string title;
  std::string rfc;
  Settings settings;
  std::string kernel_skip;               // Why the kernel does not play it; empty: it does.
  std::string pending;                   // Why the endpoint does not pass yet; empty: it must.
  std::vector<std::string> differences;  // Each "kernel differs: " text.
  std::map<std::string, std::string> sysctls;
  std::vector<Step> steps;
};

}  // namespace satrelay::conformance
