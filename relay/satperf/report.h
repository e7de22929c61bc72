// Formats a run as text for people and as JSON lines for programs. The names of JSON fields have
// the units (_bps bits a second, _bytes, _us, _ns, _ppm parts per million). Numbers are whole. null
// means that a value is unknown at this end.
#pragma once

#include <optional>
#include <string>

#include "relay/satperf/plan.h"
#include "relay/satperf/snapshot.h"

namespace satrelay::satperf {

enum class Format : std::uint8_t { kText, kJson };
enum class LossReport : std::uint8_t { kOff, kOn };

// The snapshots of one end at two times of its clock.
struct Span {
  Snapshot from, to;
};
// Both ends, as far as they are known here.
struct BothEnds {
  std::optional<Span> sender;
  std::optional<Span> receiver;
};
enum class Outcome : std::uint8_t { kComplete, kInterrupted, kFailed };

class Report {
 public:
  Report(Format format, LossReport losses) : format_(format), losses_(losses) {}

  // Each text ends with a newline, or is empty if the format has nothing for it.
  std::string start(const Plan& plan, End end, const std::string& peer) const;
  std::string interval(std::uint64_t time_ns, const BothEnds& ends) const;
  // The spans start at the beginning of the run. `why`: the reason if the run did not complete.
  std::string summary(const BothEnds& ends, Outcome outcome, const std::string& why) const;
  // A notice about waiting, refusals and the like. The JSON format has notices, too, so that the
  // file of --output is complete.
  std::string notice(const std::string& text) const;

 private:
  Format format_;
  LossReport losses_;
};

// The rate of payload taken in order, from the first byte to the last, in bits a second. 0 if there
// is no payload.
double goodput(const Snapshot& receiver);

}  // namespace satrelay::satperf
