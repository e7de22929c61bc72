// The datagrams before a session: the client asks for a run, and the server accepts or refuses with
// a reason. These datagrams begin with eight ASCII characters. No STP packet begins with these, so
// requests and STP packets can use the same port.
//
//     request  "satperf?" version (8) run (64) plan
//     answer   "satperf!" version (8) run (64) verdict (8)
//
// All integers are big-endian. The client repeats a request until it gets an answer. Two requests
// with the same run number belong to the same run.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "pep/base/bytes.h"
#include "relay/satperf/plan.h"

namespace satrelay::satperf {

inline constexpr std::uint8_t kRequestVersion = 3;

enum class Verdict : std::uint8_t {
  kAccepted = 0,
  kBusy = 1,        // the server serves another client
  kVersion = 2,     // the server expects another version of requests
  kImpossible = 3,  // a value is out of range
  kTooLarge = 4,    // the server's interface cannot carry packets of the requested size
};
inline constexpr std::uint8_t kLastVerdict = 4;

struct Request {
  std::uint64_t run = 0;  // chosen by the client at random; not 0
  Plan plan;
};
struct Answer {
  std::uint64_t run = 0;
  Verdict verdict = Verdict::kAccepted;
};

inline constexpr std::size_t kRequestSize = 17 + 1 + 1 + 1 + 4 * 8 + 4 + 2 + 8 + 4 + 4 + 8;
inline constexpr std::size_t kAnswerSize = 18;

// The result of parsing a datagram from an unknown address.
struct RequestParse {
  enum class Kind : std::uint8_t {
    kForeign,     // not a request
    kVersion,     // a request of another version
    kImpossible,  // values out of range
    kGood,
  };
  Kind kind = Kind::kForeign;
  Request request;  // for kVersion and kImpossible, only `run` is set
};

std::array<std::byte, kRequestSize> write_request(const Request& request);
std::array<std::byte, kAnswerSize> write_answer(const Answer& answer);
RequestParse parse_request(ConstBytes datagram);
std::optional<Answer> parse_answer(ConstBytes datagram);  // nullopt if it is not an answer

}  // namespace satrelay::satperf
