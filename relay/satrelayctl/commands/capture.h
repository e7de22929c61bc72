// satrelayctl capture: writes the frames that pass a port of a running gateway to a file.
#pragma once

#include <filesystem>
#include <string>

#include "relay/client/capture_session.h"

namespace satrelay::ctl {

struct CaptureOptions {
  CaptureRequested wish;
  std::string file;  // "-": standard output
};

// Returns at the end of the capture, or at Ctrl-C, with the program's exit status. Throws
// std::runtime_error that says what is wrong, for example with the filter.
int capture(const std::filesystem::path& socket, const CaptureOptions& options);

}  // namespace satrelay::ctl
