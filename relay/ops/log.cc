#include "relay/ops/log.h"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <string>

namespace satrelay::ops {
namespace {

struct Log {
  std::string program = "satrelay";
  bool to_journal = false;
};
Log the_log;  // set once, before other threads start
std::atomic<config::LogLevel> the_level{config::LogLevel::kInfo};

// systemd sets JOURNAL_STREAM to "device:inode" of the stream that it reads.
bool stderr_is_journal() {
  const char* stream = std::getenv("JOURNAL_STREAM");
  if (stream == nullptr) return false;
  const std::string_view text(stream);
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return false;
  unsigned long long device = 0;
  unsigned long long inode = 0;
  std::from_chars(text.data(), text.data() + colon, device);
  std::from_chars(text.data() + colon + 1, text.data() + text.size(), inode);
  struct stat status {};
  return ::fstat(STDERR_FILENO, &status) == 0 && status.st_dev == device && status.st_ino == inode;
}

// Priorities of syslog(3).
std::string_view journal_prefix(config::LogLevel level) {
  switch (level) {
    case config::LogLevel::kError:
      return "<3>";
    case config::LogLevel::kWarning:
      return "<4>";
    case config::LogLevel::kInfo:
      return "<6>";
    case config::LogLevel::kDebug:
      return "<7>";
  }
  return "<6>";
}

std::string_view plain_word(config::LogLevel level) {
  switch (level) {
    case config::LogLevel::kError:
      return "error: ";
    case config::LogLevel::kWarning:
      return "warning: ";
    case config::LogLevel::kInfo:
      return "";
    case config::LogLevel::kDebug:
      return "debug: ";
  }
  return "";
}

}  // namespace

std::string format_log_line(std::string_view program, config::LogLevel level,
                            std::string_view message, bool to_journal) {
  std::string line;
  if (to_journal) line += journal_prefix(level);
  line.append(program).append(": ");
  if (!to_journal) line += plain_word(level);
  for (const char c : message) {
    const auto code = static_cast<unsigned char>(c);
    line += code < 0x20 || code == 0x7f ? '?' : c;
  }
  line += '\n';
  return line;
}

void open_log(std::string_view program, config::LogLevel level) {
  the_log = {.program = std::string(program), .to_journal = stderr_is_journal()};
  the_level = level;
}

void set_log_level(config::LogLevel level) { the_level = level; }

void log(config::LogLevel level, std::string_view message) {
  if (level > the_level.load(std::memory_order_relaxed)) return;
  const std::string line = format_log_line(the_log.program, level, message, the_log.to_journal);
  // One write a line: lines of several threads do not mix. Nobody can be told if it fails.
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace satrelay::ops
