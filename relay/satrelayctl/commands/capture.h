// satrelayctl capture: writes down the frames that pass a port of a running gateway.
#pragma once

#include <filesystem>
#include <string>

#include "relay/client/capture_session.h"

namespace satrelay::ctl {

struct CaptureOptions {
  CaptureRequested wish;
  std::string file;  // "-": standard output
};

// Returns at the end of the capture, which Ctrl-C brings about too; the exit status of the program.
// Throws std::runtime_error with what is wrong, among other things with the filter.
int capture(const std::filesystem::path& socket, const CaptureOptions& options);

}  // namespace satrelay::ctl
