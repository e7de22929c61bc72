// The judgements of `satrelayctl doctor`. Each is a pure function of the facts, and finds the
// faults of one kind.
#pragma once

#include "relay/doctor/facts.h"
#include "relay/machine/finding.h"

namespace satrelay::ctl::doctor {

machine::Findings judge_file(const Facts& facts);
machine::Findings judge_ports(const Facts& facts);
machine::Findings judge_peers(const Facts& facts);
machine::Findings judge_rates(const Facts& facts);
machine::Findings judge_rules(const Facts& facts);
machine::Findings judge_resources(const Facts& facts);

// The findings of all judgements, the worst first.
machine::Findings judge(const Facts& facts);

}  // namespace satrelay::ctl::doctor
