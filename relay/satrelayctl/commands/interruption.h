// Ctrl-C, and what else asks a program to end, as a question that it asks itself when it can end.
#pragma once

#include <chrono>

namespace satrelay::ctl {

// From now on SIGINT, SIGTERM and SIGHUP end nothing by themselves.
void heed_interruptions();
bool is_interrupted();
// False if it was interrupted before or meanwhile.
bool waits(std::chrono::milliseconds time);

}  // namespace satrelay::ctl
