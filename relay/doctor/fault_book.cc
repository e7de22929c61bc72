#include "relay/doctor/fault_book.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace satrelay::ctl::doctor {
namespace {

using machine::Finding;
using machine::Findings;
using ops::Severity;

// Whether the latest events show that another event reports the finding; nullopt if they show
// neither its begin nor its end.
std::optional<bool> is_told(const Finding& finding, const Json& events) {
  const machine::ToldBy& by = finding.told_by;
  if (by.begin.empty() || by.end.empty()) return !by.begin.empty();
  const std::string_view subject = by.subject.empty() ? finding.subject : by.subject;
  std::optional<bool> is_under_way;
  for (const Json& event : events) {
    if (!has_word(event, "subject", subject)) continue;
    if (has_word(event, "name", by.begin)) is_under_way = true;
    if (has_word(event, "name", by.end)) is_under_way = false;
  }
  return is_under_way;
}

Finding more_faults(std::size_t count, Severity worst) {
  return {.check = FaultBook::kMore,
          .severity = worst,
          .subject = "gateway",
          .seen = std::to_string(count) + " more faults were found",
          .cause = "events tell of " + std::to_string(FaultBook::kMost) + " faults at a time",
          .cure = "satrelayctl doctor shows all of them",
          .page = "guide.md#faults-that-the-gateway-finds-by-itself"};
}

}  // namespace

std::vector<FaultBook::Change> FaultBook::look(const Findings& findings, const Json& events) {
  std::vector<Change> changes;
  Seen seen;  // an info is no fault
  for (const Finding& each : findings) {
    if (each.severity != Severity::kInfo) seen.try_emplace(Key(each.subject, each.check), &each);
  }
  end_all_but(seen, changes);
  note_told_elsewhere(seen, events);
  for (const Finding& finding : findings) {
    const Key key(finding.subject, finding.check);
    if (!seen.contains(key) || told_elsewhere_.contains(key)) continue;
    const auto known = told_.find(key);
    if (known != told_.end()) {
      // One event more if it is worse now. The severities begin with the worst one.
      if (finding.severity >= known->second.severity) continue;
      known->second = finding;
    } else {
      if (!begins(key, finding)) continue;
      if (told_.size() >= kMost && !make_room(finding.severity, changes)) continue;
      told_.emplace(key, finding);
    }
    changes.push_back({.finding = finding});
  }
  tell_of_more(seen, changes);
  seen_.clear();
  for (const auto& [key, finding] : seen) seen_.insert(key);
  return changes;
}

void FaultBook::end_all_but(const Seen& seen, std::vector<Change>& changes) {
  for (auto each = told_.begin(); each != told_.end();) {
    if (seen.contains(each->first)) {
      ++each;
      continue;
    }
    changes.push_back({.is_over = true, .finding = std::move(each->second)});
    ended_.push_back(each->first);
    if (ended_.size() > kMost) ended_.pop_front();
    each = told_.erase(each);
  }
}

void FaultBook::note_told_elsewhere(const Seen& seen, const Json& events) {
  // Many events may have pushed the one that counts out of the latest ones.
  std::set<Key> told;
  for (const auto& [key, finding] : seen) {
    if (is_told(*finding, events).value_or(told_elsewhere_.contains(key))) told.insert(key);
  }
  told_elsewhere_ = std::move(told);
}

bool FaultBook::begins(const Key& key, const Finding& finding) const {
  if (seen_.contains(key)) return true;
  return finding.severity == Severity::kError && std::ranges::find(ended_, key) == ended_.end();
}

bool FaultBook::make_room(Severity severity, std::vector<Change>& changes) {
  const auto mildest =
      std::ranges::max_element(told_, {}, [](const auto& each) { return each.second.severity; });
  if (mildest->second.severity <= severity) return false;
  changes.push_back({.is_over = true, .gives_way = true, .finding = std::move(mildest->second)});
  told_.erase(mildest);
  return true;
}

void FaultBook::tell_of_more(const Seen& seen, std::vector<Change>& changes) {
  More more;
  for (const auto& [key, finding] : seen) {
    if (told_.contains(key) || told_elsewhere_.contains(key) || !begins(key, *finding)) continue;
    ++more.count;
    more.worst = std::min(more.worst, finding->severity);
  }
  if (more.count == 0) {
    if (more_.count > 0) {
      changes.push_back({.is_over = true, .finding = more_faults(more_.count, more_.worst)});
    }
    more_ = {};
    return;
  }
  if (more_.count > 0 && more.count < 2 * more_.count && more.worst >= more_.worst) return;
  // A severity or a number that goes down and up again is not told twice.
  more_ = {.count = std::max(more.count, more_.count), .worst = std::min(more.worst, more_.worst)};
  changes.push_back({.finding = more_faults(more.count, more_.worst)});
}

}  // namespace satrelay::ctl::doctor
