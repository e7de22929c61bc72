// What a run looks like as text for people and as JSON lines for programs. Only formats; units are
// in the names of JSON fields (_bps bits a second, _bytes, _us, _ns, _ppm parts per million), and
// numbers are whole. null: not known at this end.
#pragma once

#include <optional>
#include <string>

#include "relay/satperf/plan.h"
#include "relay/satperf/snapshot.h"

namespace satrelay::satperf {

enum class Format : std::uint8_t { kText, kJson };
enum class LossReport : std::uint8_t { kOff, kOn };

// One end between two moments of its own clock.
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

  // Each ends with a newline, or is empty where the format has nothing to say.
  std::string start(const Plan& plan, End end, const std::string& peer) const;
  std::string interval(std::uint64_t time_ns, const BothEnds& ends) const;
  // Spans from the run's beginning; `why` for what did not complete.
  std::string summary(const BothEnds& ends, Outcome outcome, const std::string& why) const;
  // Waiting, refusals and the like; JSON too, so that FILE has the whole story.
  std::string notice(const std::string& text) const;

 private:
  Format format_;
  LossReport losses_;
};

// Payload taken in order, from the first byte to the last; 0 if there is none.
double goodput(const Snapshot& receiver);

}  // namespace satrelay::satperf
