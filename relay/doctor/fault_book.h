// Compares the findings of successive runs, and decides which of them begin and end.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "relay/doctor/facts.h"
#include "relay/machine/finding.h"

namespace satrelay::ctl::doctor {

// Leaves out the findings that are no faults (severity info), and those that an event of the
// gateway reports already. `events`: the latest events, the oldest first.
machine::Findings without_known(machine::Findings findings, const Json& events);

class FaultBook {
 public:
  // The largest number of faults that are told at a time. If there are more, one fault with the
  // name kMore has their number.
  static constexpr std::size_t kMost = 64;
  static constexpr const char* kMore = "more_faults";

  struct Change {
    bool is_over = false;
    machine::Finding finding;
  };
  // Takes the findings of a run, the worst first. An error begins at once, a warning if the run
  // before has seen it as well. A fault ends in the first run that does not see it. An error that
  // has ended begins again like a warning, so that one that comes and goes makes few events.
  std::vector<Change> look(const machine::Findings& findings);

 private:
  using Key = std::pair<std::string, std::string>;  // (subject, check)

  void end_all_but(const std::set<Key>& seen, std::vector<Change>& changes);
  bool begins(const Key& key, const machine::Finding& finding) const;
  void tell_of_more(std::size_t count, std::vector<Change>& changes);

  std::map<Key, machine::Finding> told_;
  std::set<Key> seen_;     // in the latest run
  std::deque<Key> ended_;  // the latest kMost ones
  bool has_more_ = false;
};

}  // namespace satrelay::ctl::doctor
