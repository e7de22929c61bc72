// Traces of a link, recorded elsewhere: which frames it lost, and how its delay went. Text files, a
// line each, at most 64 MiB; empty lines and what follows a # do not count. Errors are ConfigError
// with file and line.
//
//   loss:   the number of a lost frame, from 0, ascending; `period N` anywhere: then anew
//   delay:  TIME DELAY, like `15s 30ms`, times ascending from the start of the run
#pragma once

#include <filesystem>
#include <vector>

#include "config/model/link_model.h"
#include "config/model/schema.h"

namespace satrelay::config {

LossTrace read_loss_trace(const std::filesystem::path& file);
std::vector<DelayStep> read_delay_trace(const std::filesystem::path& file);

}  // namespace satrelay::config
