// Traces of a link that were recorded elsewhere: the frames that it lost, and the steps of its
// delay. Traces are text files of at most 64 MiB, with one entry on each line. Empty lines and the
// text after a # are ignored. Errors are ConfigError with file and line.
//
//   loss:   the number of a lost frame, from 0, ascending; a line `period N` repeats the trace
//   delay:  TIME DELAY, like `15s 30ms`; times ascend, and count from the start of the run
#pragma once

#include <filesystem>
#include <vector>

#include "config/model/link_model.h"
#include "config/model/schema.h"

namespace satrelay::config {

LossTrace read_loss_trace(const std::filesystem::path& file);
std::vector<DelayStep> read_delay_trace(const std::filesystem::path& file);

}  // namespace satrelay::config
