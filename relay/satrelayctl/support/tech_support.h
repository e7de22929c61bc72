// satrelayctl tech-support: collects in one archive what support needs to know about a gateway and
// its machine.
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
  std::filesystem::path file;  // .tar.gz
  std::filesystem::path configuration = kUsualConfiguration;
  // The capture of each port. By default, a capture has the headers of frames, and few bytes of the
  // hosts' data.
  struct Capture {
    std::uint64_t packets = 1000;  // 0: no capture
    std::uint32_t longest = 96;    // how many bytes of each frame are kept; 0: all
  };
  Capture capture;
  Existing existing = Existing::kKeep;
  std::chrono::milliseconds interval = std::chrono::seconds(10);  // between the two readings
  std::string version;                                            // of this program
};

// `find_socket` returns the gateway's stats socket, or throws std::runtime_error if there is none.
// If no gateway runs, the archive has everything but the gateway's replies. Progress goes to
// stderr. Returns the program's exit status: 128 plus the number of SIGINT if the user interrupted
// it; then no file is left. Throws std::runtime_error if no archive can be made.
int tech_support(const TechSupportOptions& options,
                 const std::function<std::filesystem::path()>& find_socket);

}  // namespace satrelay::ctl
