// Finds out where a running program writes its log, by looking at the program's standard error.
// Also reads the last lines of a log.
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
    kSocket,  // for example the journal, if the program is a service
    kOther,   // a terminal, a pipe or /dev/null, from which the log cannot be read again
    kUnknown,
  };
  Kind kind = Kind::kUnknown;
  // Only for kFile: a path that opens the log, even if the file's name was removed.
  std::filesystem::path file;
  std::string words;  // describes the output, or says why it is not known
};

// `root` is a folder with proc/.
LogOutput log_output(const std::filesystem::path& root, pid_t program);
// Returns the systemd unit of the program, such as "satrelayd.service", or "" if it belongs to no
// unit.
std::string unit_of(const std::filesystem::path& root, pid_t program);
// Returns the last lines of the file: at most `lines` whole lines, and at most `bytes` bytes.
// Throws std::runtime_error if the file cannot be read.
std::string last_lines(const std::filesystem::path& file, std::size_t lines, std::size_t bytes);

}  // namespace satrelay::ctl
