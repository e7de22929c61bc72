// satrelayctl capture: writes down the frames that pass a port of a running gateway.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace satrelay::ctl {

struct CaptureOptions {
  std::string port;  // "lan" or "wan"
  bool decrypted = false;
  std::string filter;              // in libpcap's language; "": everything
  std::string file;                // "-": standard output
  std::uint64_t packets = 10'000;  // after which it ends
  std::uint32_t seconds = 0;       // the same; 0: no matter how long
  std::uint32_t longest = 0;       // bytes of a frame that are kept; 0: all
};

// Returns at the end of the capture, which Ctrl-C brings about too; the exit status of the program.
// Throws std::runtime_error with what is wrong, among other things with the filter.
int capture(const std::filesystem::path& socket, const CaptureOptions& options);

}  // namespace satrelay::ctl
