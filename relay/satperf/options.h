// The command line. Values have the same format as in gateway.yaml: 50Mbit, 100MB, 10s.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include "relay/satperf/plan.h"
#include "relay/satperf/report.h"

namespace satrelay::satperf {

// The exit statuses, which --help also lists.
enum class Exit : int {
  kComplete = 0,
  kFailed = 1,  // the run began but did not complete, or payload was damaged
  kBadOptions = 2,
  // No run began: the server was unreachable, refused, was busy, or has another version.
  kNoServer = 3,
  kInterrupted = 130,  // Ctrl-C
  kTerminated = 143,   // SIGTERM
};

struct Options {
  End end = End::kClient;
  Plan plan;           // only used by the client
  std::string server;  // only used by the client: name or address of the server
  std::string bind;    // local address; empty means any address
  std::uint16_t port = kDefaultPort;
  ByteCount buffer;  // size of the buffer; zero means that it is computed from the rate
  Duration timeout = Duration::seconds(10);
  std::optional<unsigned> cpu;
  bool find = false;  // true if the client must find the rates of both directions
  bool once = false;  // true if the server must end after its first run
  Format format = Format::kText;
  LossReport losses = LossReport::kOff;
  std::string output;  // file to which the report is also written; empty if there is none
};

struct ParsedOptions {
  // If this is nullopt, the program must exit with status `exit`. All messages have been printed.
  std::optional<Options> options;
  Exit exit = Exit::kComplete;
};

// Help goes to `out`, errors to `err`.
ParsedOptions parse_options(int argc, const char* const* argv, std::ostream& out,
                            std::ostream& err);

}  // namespace satrelay::satperf
