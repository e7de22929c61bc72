// satrelayctl tech-support: collects information about a gateway and its machine for support, in
// one archive.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "relay/satrelayctl/commands/new_file.h"

namespace satrelay::ctl {

inline constexpr const char* kUsualConfiguration = "/etc/satrelay/gateway.yaml";

struct TechSupportOptions {
  std::filesystem::path file;  // name of the archive (.tar.gz)
  std::filesystem::path configuration = kUsualConfiguration;
  // The capture of each port. By default, a capture has the headers of frames, but only a few bytes
  // of the hosts' data.
  struct Capture {
    std::uint64_t packets = 1000;  // 0 means no capture
    std::uint32_t longest = 96;    // number of bytes of each frame to keep; 0 means all
  };
  Capture capture;
  Existing existing = Existing::kKeep;
  std::chrono::milliseconds interval = std::chrono::seconds(10);  // time between the two readings
  std::string version;                                            // version of this program
};

// `find_socket` returns the gateway's stats socket, or throws std::runtime_error if there is none.
// If no gateway runs, the archive has everything except the gateway's replies. Progress goes to
// stderr. Returns the program's exit status. If the user interrupts the program, it is 128 plus the
// number of SIGINT, and no file is left. Throws std::runtime_error if no archive can be made.
int tech_support(const TechSupportOptions& options,
                 const std::function<std::filesystem::path()>& find_socket);

}  // namespace satrelay::ctl
