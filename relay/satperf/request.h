// The datagrams before the session: the client asks for a run, and the server accepts or refuses
// with a reason. They begin with eight ASCII characters, with which no STP packet begins, so
// requests and packets share the port.
//
//     request  "satperf?" version (8) run (64) plan
//     answer   "satperf!" version (8) run (64) verdict (8)
//
// All integers are big-endian. The client repeats a request until it is answered. Two requests with
// the same run number are for the same run.
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
  kBusy = 1,        // the server has another client
  kVersion = 2,     // the server knows another version of requests
  kImpossible = 3,  // values out of range
  kTooLarge = 4,    // the server's interface does not carry packets of that size
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
  Request request;  // kVersion and kImpossible: only `run`
};

std::array<std::byte, kRequestSize> write_request(const Request& request);
std::array<std::byte, kAnswerSize> write_answer(const Answer& answer);
RequestParse parse_request(ConstBytes datagram);
std::optional<Answer> parse_answer(ConstBytes datagram);  // nullopt if it is not an answer

}  // namespace satrelay::satperf
