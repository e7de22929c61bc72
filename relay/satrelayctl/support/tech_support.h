// satrelayctl tech-support: what somebody who helps needs to know of a gateway and its machine, in
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
  std::filesystem::path file;  // .tar.gz
  std::filesystem::path configuration = kUsualConfiguration;
  // Of each port. By itself it has headers, and few bytes of what hosts say.
  struct Capture {
    std::uint64_t packets = 1000;  // 0: none
    std::uint32_t longest = 96;    // bytes of a frame that are kept; 0: all
  };
  Capture capture;
  Existing existing = Existing::kKeep;
  std::chrono::milliseconds interval = std::chrono::seconds(10);  // between the two readings
  std::string version;                                            // of this program
};

// `find_socket` is asked for the gateway's stats socket, and throws std::runtime_error if there is
// none: then the archive has what can be had without. Progress goes to stderr. The exit status of
// the program: 128 and the number of SIGINT if it was interrupted, which leaves no file. Throws
// std::runtime_error if there can be no archive.
int tech_support(const TechSupportOptions& options,
                 const std::function<std::filesystem::path()>& find_socket);

}  // namespace satrelay::ctl
