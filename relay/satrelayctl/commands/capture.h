// satrelayctl capture: writes the frames that pass a port of a running gateway to a file.
#pragma once

#include <filesystem>
#include <string>

#include "relay/client/capture_session.h"

namespace satrelay::ctl {

struct CaptureOptions {
  CaptureRequested wish;
  std::string file;  // name of the file; "-" means standard output
};

// Returns the program's exit status when the capture ends, or at Ctrl-C. Throws std::runtime_error
// with the reason, for example a wrong filter.
int capture(const std::filesystem::path& socket, const CaptureOptions& options);

}  // namespace satrelay::ctl
