#include "relay/doctor/judgements.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace satrelay::ctl::doctor {

machine::Findings judge(const Facts& facts) {
  machine::Findings findings;
  for (const auto& judgement :
       {judge_file, judge_ports, judge_peers, judge_rates, judge_rules, judge_resources}) {
    machine::Findings more = judgement(facts);
    std::ranges::move(more, std::back_inserter(findings));
  }
  std::ranges::stable_sort(findings, {}, &machine::Finding::severity);
  return findings;
}

}  // namespace satrelay::ctl::doctor
