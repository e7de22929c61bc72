// The place to which a running program logs, as its standard error shows, and its last lines.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace satrelay::ctl {

struct LogOutput {
  enum class Kind : std::uint8_t {
    kFile,
    kSocket,  // for example of a service that logs to the journal
    kOther,   // a terminal, a pipe, nothing: what was written there cannot be read again
    kUnknown,
  };
  Kind kind = Kind::kUnknown;
  std::filesystem::path file;  // of kFile: can be opened, even if its name is gone
  std::string words;           // what the output is, or why that is not known
};

// `root` has proc/.
LogOutput log_output(const std::filesystem::path& root, pid_t program);
// The systemd unit of the program: "satrelayd.service"; "" if it belongs to none.
std::string unit_of(const std::filesystem::path& root, pid_t program);
// Returns whole lines, at most `bytes` bytes. Throws std::runtime_error if the file cannot be read.
std::string last_lines(const std::filesystem::path& file, std::size_t lines, std::size_t bytes);

}  // namespace satrelay::ctl
