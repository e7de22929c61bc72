// Finds the place to which a running program logs, by the program's standard error, and reads the
// last lines of a log.
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
    kSocket,  // for example if a service logs to the journal
    kOther,   // a terminal, a pipe or /dev/null: the log cannot be read again
    kUnknown,
  };
  Kind kind = Kind::kUnknown;
  // For kFile: a path by which the log can be opened, even if the file's name is gone.
  std::filesystem::path file;
  std::string words;  // what the output is, or why that is not known
};

// `root` has proc/.
LogOutput log_output(const std::filesystem::path& root, pid_t program);
// Returns the systemd unit of the program, like "satrelayd.service", or "" if the program belongs
// to no unit.
std::string unit_of(const std::filesystem::path& root, pid_t program);
// Returns the last whole lines: at most `lines` lines, and at most `bytes` bytes. Throws
// std::runtime_error if the file cannot be read.
std::string last_lines(const std::filesystem::path& file, std::size_t lines, std::size_t bytes);

}  // namespace satrelay::ctl
