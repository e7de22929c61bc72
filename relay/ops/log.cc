#include "relay/ops/log.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

namespace satrelay::ops {
namespace {

// systemd.exec(5): JOURNAL_STREAM holds device and inode of the journal's socket; stderr may have
// been redirected since.
bool stderr_is_journal() {
  const char* stream = std::getenv("JOURNAL_STREAM");
  struct stat status {};
  if (stream == nullptr || fstat(STDERR_FILENO, &status) != 0) return false;
  return std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino) == stream;
}

std::string_view priority(Level level) {
  switch (level) {
    case Level::kError:
      return "<3>";
    case Level::kWarning:
      return "<4>";
    case Level::kInfo:
      return "<6>";
    case Level::kDebug:
      return "<7>";
  }
  return "<6>";
}

std::string_view word(Level level) {
  switch (level) {
    case Level::kError:
      return "error: ";
    case Level::kWarning:
      return "warning: ";
    case Level::kInfo:
    case Level::kDebug:
      return "";
  }
  return "";
}

}  // namespace

Log::Log(std::string program, Level level)
    : program_(std::move(program)), level_(level), journal_(stderr_is_journal()) {}

void Log::write(Level level, std::string_view message) const {
  if (level > level_) return;
  std::string line;
  if (journal_) {
    line.append(priority(level));
  } else {
    line.append(program_).append(": ").append(word(level));
  }
  line.append(message).push_back('\n');
  // One call a line, so that lines of several processes on one terminal do not mix. A full pipe
  // loses the message rather than stop the gateway.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace satrelay::ops
