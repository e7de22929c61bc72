// The log of a program: one line a message on stderr; where that is systemd's journal, an entry
// there.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "config/model/schema.h"
#include "relay/ops/log/journal.h"
#include "relay/ops/log/log_field.h"

namespace satrelay::ops {

// Before the first message. Where stderr is the journal, messages go to its socket with their
// fields. What that does not take at once is a line on stderr that begins with its priority, as
// sd-daemon(3) describes. Elsewhere a line begins with the program's name and, if it is a problem,
// the level.
void open_log(std::string_view program, config::LogLevel level,
              std::string_view journal = kJournalSocket);

// From now on. Any thread.
void set_log_level(config::LogLevel level);

// Writes the message if its level is wanted. Control characters become '?', so that what came from
// a network cannot forge a line. `fields`: for the journal, beside the message. Any thread.
void log(config::LogLevel level, std::string_view message, std::span<const LogField> fields = {});

inline void log_error(std::string_view m) { log(config::LogLevel::kError, m); }
inline void log_warning(std::string_view m) { log(config::LogLevel::kWarning, m); }
inline void log_info(std::string_view m) { log(config::LogLevel::kInfo, m); }

// The line for one message, newline included.
std::string format_log_line(std::string_view program, config::LogLevel level,
                            std::string_view message, bool to_journal);

}  // namespace satrelay::ops
