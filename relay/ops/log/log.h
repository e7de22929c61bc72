// The log of a program. Each message becomes one line on stderr or, if stderr leads to systemd's
// journal, one entry of the journal.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "config/model/schema.h"
#include "relay/ops/log/journal.h"
#include "relay/ops/log/log_field.h"

namespace satrelay::ops {

// Call this before the first message. If stderr is the journal, messages go to its socket with
// their fields. A message that the socket does not take at once becomes a line on stderr that
// begins with its priority, as sd-daemon(3) describes. If stderr is not the journal, a line begins
// with the program's name and, for a warning, an error or a debug message, the level.
void open_log(std::string_view program, config::LogLevel level,
              std::string_view journal = kJournalSocket);

// Sets the lowest level that is logged from now on. Any thread may call this.
void set_log_level(config::LogLevel level);

// Logs the message if its level is enabled. Replaces control characters by '?', so that text from a
// network cannot forge a line. `fields` are named values that the journal stores with the message.
// Any thread may call this.
void log(config::LogLevel level, std::string_view message, std::span<const LogField> fields = {});

inline void log_error(std::string_view m) { log(config::LogLevel::kError, m); }
inline void log_warning(std::string_view m) { log(config::LogLevel::kWarning, m); }
inline void log_info(std::string_view m) { log(config::LogLevel::kInfo, m); }

// Returns the line for one message, with its newline.
std::string format_log_line(std::string_view program, config::LogLevel level,
                            std::string_view message, bool to_journal);

}  // namespace satrelay::ops
