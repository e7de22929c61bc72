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
  // The largest number of faults that are told at a time. A worse one then takes the place of the
  // mildest one. One fault with the name kMore has the number of the others, and their worst
  // severity. It is told again when its number has doubled or its severity is worse.
  static constexpr std::size_t kMost = 64;
  static constexpr const char* kMore = "more_faults";

  struct Change {
    bool is_over = false;
    bool gives_way = false;  // it is over only since a worse one takes its place
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
  // Ends the mildest fault if it is milder than `severity`. Returns false if there is none.
  bool make_room(ops::Severity severity, std::vector<Change>& changes);
  void tell_of_more(const Seen& seen, std::vector<Change>& changes);

  struct More {
    std::size_t count = 0;
    ops::Severity worst = ops::Severity::kInfo;
  };

  std::map<Key, machine::Finding> told_;
  std::set<Key> seen_;            // in the latest run
  std::set<Key> told_elsewhere_;  // those of seen_ that another event reports
  std::deque<Key> ended_;         // the latest kMost ones
  More more_;                     // as it was told
};

}  // namespace satrelay::ctl::doctor
