// Turns Ctrl-C, SIGTERM and SIGHUP into a flag, which the program checks at points where it can
// end.
#pragma once

#include <chrono>

namespace satrelay::ctl {

// From now on SIGINT, SIGTERM and SIGHUP only set the flag.
void heed_interruptions();
bool is_interrupted();
// Waits for `time`. Returns false if the program was interrupted before or during the wait.
bool waits(std::chrono::milliseconds time);

}  // namespace satrelay::ctl
