// Formats a run as text for people, or as JSON lines for programs. The names of the JSON fields end
// with their units (_bps for bits a second, _bytes, _us, _ns, _ppm for parts per million). Numbers
// are integers. null means that this end does not know the value.
#pragma once

#include <optional>
#include <string>

#include "relay/satperf/plan.h"
#include "relay/satperf/snapshot.h"

namespace satrelay::satperf {

enum class Format : std::uint8_t { kText, kJson };
enum class LossReport : std::uint8_t { kOff, kOn };

// Two snapshots of one end, at two times of that end's clock.
struct Span {
  Snapshot from, to;
};
// The spans of both ends. A span is nullopt if this end does not know it.
struct BothEnds {
  std::optional<Span> sender;
  std::optional<Span> receiver;
};
enum class Outcome : std::uint8_t { kComplete, kInterrupted, kFailed };

class Report {
 public:
  Report(Format format, LossReport losses) : format_(format), losses_(losses) {}

  // Each function returns a text that ends with a newline, or "" if the format has no such output.
  std::string start(const Plan& plan, End end, const std::string& peer) const;
  std::string interval(std::uint64_t time_ns, const BothEnds& ends) const;
  // The spans start at the beginning of the run. If the run did not complete, `why` is the reason.
  std::string summary(const BothEnds& ends, Outcome outcome, const std::string& why) const;
  // Returns a notice, for example about waiting or a refusal. The JSON format has notices as well,
  // so that the file of --output is complete.
  std::string notice(const std::string& text) const;

 private:
  Format format_;
  LossReport losses_;
};

// Returns the rate of in-order payload in bits a second, from the first byte to the last. Returns 0
// if there was no payload.
double goodput(const Snapshot& receiver);

}  // namespace satrelay::satperf
