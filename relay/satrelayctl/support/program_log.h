// Where a running program logs to, as its standard error shows, and the last that it has logged.
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
    kSocket,  // as of a service whose log is the journal
    kOther,   // a terminal, a pipe, nothing: what was written there cannot be read again
    kUnknown,
  };
  Kind kind = Kind::kUnknown;
  std::filesystem::path file;  // of kFile, to be opened; also if its name is gone
  std::string words;           // what it is, or why that is not known
};

// `root` has proc/.
LogOutput log_output(const std::filesystem::path& root, pid_t program);
// The unit of systemd that it belongs to: "satrelayd.service"; "" if it belongs to none.
std::string unit_of(const std::filesystem::path& root, pid_t program);
// Whole lines, of at most so many bytes. Throws std::runtime_error if it cannot be read.
std::string last_lines(const std::filesystem::path& file, std::size_t lines, std::size_t bytes);

}  // namespace satrelay::ctl
