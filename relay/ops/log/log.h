// The log of a program: one line for each message on stderr, or an entry in systemd's journal if
// stderr leads there.
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

// Sets the level of all later messages. Any thread.
void set_log_level(config::LogLevel level);

// Writes the message if messages of its level are written. Replaces control characters by '?', so
// that text from a network cannot forge a line. `fields`: named values that the journal stores with
// the message. Any thread.
void log(config::LogLevel level, std::string_view message, std::span<const LogField> fields = {});

inline void log_error(std::string_view m) { log(config::LogLevel::kError, m); }
inline void log_warning(std::string_view m) { log(config::LogLevel::kWarning, m); }
inline void log_info(std::string_view m) { log(config::LogLevel::kInfo, m); }

// Returns the line for one message, with its newline.
std::string format_log_line(std::string_view program, config::LogLevel level,
                            std::string_view message, bool to_journal);

}  // namespace satrelay::ops
