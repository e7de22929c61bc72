// The command line. Values are written as in gateway.yaml: 50Mbit, 100MB, 10s.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include "relay/satperf/plan.h"
#include "relay/satperf/report.h"

namespace satrelay::satperf {

// Exit statuses, also in --help.
enum class Exit : int {
  kComplete = 0,
  kFailed = 1,  // the run began and did not complete, or payload was damaged
  kBadOptions = 2,
  kNoServer = 3,       // no run began: unreachable, refused, busy, another version
  kInterrupted = 130,  // Ctrl-C
  kTerminated = 143,   // SIGTERM
};

struct Options {
  End end = End::kClient;
  Plan plan;           // for the client
  std::string server;  // for the client: name or address of the server
  std::string bind;    // empty: any address
  std::uint16_t port = kDefaultPort;
  ByteCount buffer;  // zero: computed from the rate
  Duration timeout = Duration::seconds(10);
  std::optional<unsigned> cpu;
  bool find = false;  // the client finds the rates of both directions
  bool once = false;  // the server ends after its first run
  Format format = Format::kText;
  LossReport losses = LossReport::kOff;
  std::string output;  // a file that gets the report as well; empty: none
};

struct ParsedOptions {
  // If this is nullopt, the program must end with status `exit`. All messages are printed.
  std::optional<Options> options;
  Exit exit = Exit::kComplete;
};

// Help goes to `out`, errors to `err`.
ParsedOptions parse_options(int argc, const char* const* argv, std::ostream& out,
                            std::ostream& err);

}  // namespace satrelay::satperf
