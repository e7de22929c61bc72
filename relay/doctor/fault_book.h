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
  // has ended begins again like a warning, so that one that comes and goes makes few events. A
  // finding of severity info is no fault. A fault that another event of the gateway reports does
  // not begin; if it was told before, it ends as the others do. `events`: the latest events, the
  // oldest first.
  std::vector<Change> look(const machine::Findings& findings, const Json& events = Json::array());

 private:
  using Key = std::pair<std::string, std::string>;  // (subject, check)

  using Seen = std::map<Key, const machine::Finding*>;

  void end_all_but(const Seen& seen, std::vector<Change>& changes);
  void note_told_elsewhere(const Seen& seen, const Json& events);
  bool begins(const Key& key, const machine::Finding& finding) const;
  void tell_of_more(std::size_t count, std::vector<Change>& changes);

  std::map<Key, machine::Finding> told_;
  std::set<Key> seen_;            // in the latest run
  std::set<Key> told_elsewhere_;  // those of seen_ that another event reports
  std::deque<Key> ended_;         // the latest kMost ones
  bool has_more_ = false;
};

}  // namespace satrelay::ctl::doctor
