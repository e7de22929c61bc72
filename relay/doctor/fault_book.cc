#include "relay/doctor/fault_book.h"

#include <algorithm>
#include <string_view>

namespace satrelay::ctl::doctor {
namespace {

using machine::Finding;
using machine::Findings;
using ops::Severity;

bool is_told(const Finding& finding, const Json& events) {
  const machine::ToldBy& by = finding.told_by;
  if (by.begin.empty() || by.end.empty()) return !by.begin.empty();
  const std::string_view subject = by.subject.empty() ? finding.subject : by.subject;
  bool is_under_way = false;
  for (const Json& event : events) {
    if (!has_word(event, "subject", subject)) continue;
    if (has_word(event, "name", by.begin)) is_under_way = true;
    if (has_word(event, "name", by.end)) is_under_way = false;
  }
  return is_under_way;
}

Finding more_faults(std::size_t count) {
  return {.check = FaultBook::kMore,
          .severity = Severity::kWarning,
          .subject = "gateway",
          .seen = std::to_string(count) + " more faults were found",
          .cause = "events tell of " + std::to_string(FaultBook::kMost) + " faults at a time",
          .cure = "satrelayctl doctor shows all of them",
          .page = "guide.md#faults-that-the-gateway-finds-by-itself"};
}

}  // namespace

Findings without_known(Findings findings, const Json& events) {
  std::erase_if(findings, [&](const Finding& each) {
    return each.severity == Severity::kInfo || is_told(each, events);
  });
  return findings;
}

std::vector<FaultBook::Change> FaultBook::look(const Findings& findings) {
  std::vector<Change> changes;
  std::set<Key> seen;
  for (const Finding& finding : findings) seen.emplace(finding.subject, finding.check);
  end_all_but(seen, changes);
  std::size_t more = 0;
  for (const Finding& finding : findings) {
    const Key key(finding.subject, finding.check);
    const auto known = told_.find(key);
    if (known != told_.end()) {
      // One event more if it is worse now. The severities begin with the worst one.
      if (finding.severity >= known->second.severity) continue;
      known->second = finding;
      changes.push_back({.is_over = false, .finding = finding});
    } else if (begins(key, finding)) {
      if (told_.size() >= kMost) {
        ++more;
        continue;
      }
      told_.emplace(key, finding);
      changes.push_back({.is_over = false, .finding = finding});
    }
  }
  tell_of_more(more, changes);
  seen_ = std::move(seen);
  return changes;
}

void FaultBook::end_all_but(const std::set<Key>& seen, std::vector<Change>& changes) {
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

bool FaultBook::begins(const Key& key, const Finding& finding) const {
  if (seen_.contains(key)) return true;
  return finding.severity == Severity::kError && std::ranges::find(ended_, key) == ended_.end();
}

void FaultBook::tell_of_more(std::size_t count, std::vector<Change>& changes) {
  const bool has_more = count > 0;
  if (has_more == has_more_) return;
  has_more_ = has_more;
  changes.push_back({.is_over = !has_more, .finding = more_faults(count)});
}

}  // namespace satrelay::ctl::doctor
