// Plays scripts on either side.
#pragma once

#include <string>
#include <vector>

#include "tests/conformance/report.h"

namespace satrelay::conformance {

void run_on_endpoint(std::vector<Row>& rows);

// Plays each script in a process and a network namespace of its own, several at the same time, as
// they mostly wait. Returns why the machine cannot do it, or an empty string.
std::string run_on_kernel(std::vector<Row>& rows);

}  // namespace satrelay::conformance
