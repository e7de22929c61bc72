// Writes findings for people, and for programs.
#pragma once

#include <cstddef>
#include <string>

#include "relay/doctor/facts.h"
#include "relay/machine/finding.h"

namespace satrelay::ctl::doctor {

// Findings with their cause and cure, in lines of at most `width` characters, and the checks that
// could not be made.
std::string findings_text(const machine::Findings& findings, const Facts& facts, std::size_t width);
// {"findings": [{"check", "severity", "subject", "seen", "cause", "cure", "page"}], "left_out": []}
std::string findings_json(const machine::Findings& findings, const Facts& facts);

}  // namespace satrelay::ctl::doctor
