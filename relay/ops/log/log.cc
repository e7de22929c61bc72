#include "relay/ops/log/log.h"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

namespace satrelay::ops {
namespace {

struct Log {
  std::string program = "satrelay";
  std::optional<JournalSender> journal;
};
Log the_log;  // set before other threads start, and constant afterwards
std::atomic<config::LogLevel> the_level{config::LogLevel::kInfo};

// True if the journal reads stderr. systemd sets JOURNAL_STREAM to the "device:inode" of the stream
// that it reads.
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

// The priority as a digit, as in syslog(3).
char priority_of(config::LogLevel level) {
  switch (level) {
    case config::LogLevel::kError:
      return '3';
    case config::LogLevel::kWarning:
      return '4';
    case config::LogLevel::kInfo:
      return '6';
    case config::LogLevel::kDebug:
      return '7';
  }
  return '6';
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

std::string visible(std::string_view message) {
  std::string text(message);
  for (char& c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 0x20 || code == 0x7f) c = '?';
  }
  return text;
}

std::string entry_of(config::LogLevel level, std::string_view message,
                     std::span<const LogField> fields) {
  std::vector<LogField> all{{"MESSAGE", visible(message)},
                            {"PRIORITY", std::string(1, priority_of(level))},
                            {"SYSLOG_IDENTIFIER", the_log.program}};
  all.insert(all.end(), fields.begin(), fields.end());
  return format_journal_entry(all);
}

}  // namespace

std::string format_log_line(std::string_view program, config::LogLevel level,
                            std::string_view message, bool to_journal) {
  std::string line;
  if (to_journal) line.append("<").append(1, priority_of(level)).append(">");
  line.append(program).append(": ");
  if (!to_journal) line += plain_word(level);
  return line.append(visible(message)).append("\n");
}

void open_log(std::string_view program, config::LogLevel level, std::string_view journal) {
  the_log.program = program;
  the_log.journal.reset();
  if (stderr_is_journal()) the_log.journal.emplace(journal);
  the_level = level;
}

void set_log_level(config::LogLevel level) { the_level = level; }

void log(config::LogLevel level, std::string_view message, std::span<const LogField> fields) {
  if (level > the_level.load(std::memory_order_relaxed)) return;
  if (the_log.journal && the_log.journal->send(entry_of(level, message, fields))) return;
  const std::string line =
      format_log_line(the_log.program, level, message, the_log.journal.has_value());
  // Write each line with one system call, so that lines of several threads do not mix. An error
  // cannot be reported anywhere.
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace satrelay::ops
