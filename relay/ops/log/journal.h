// Sends entries with additional fields to systemd's journal, in its native protocol
// (systemd.io/JOURNAL_NATIVE_PROTOCOL): one datagram for each entry, one line for each field.
#pragma once

#include <sys/un.h>

#include <span>
#include <string>
#include <string_view>

#include "relay/ops/log/log_field.h"

namespace satrelay::ops {

inline constexpr std::string_view kJournalSocket = "/run/systemd/journal/socket";

// Writes "NAME=value\n" for each field. If the value contains a newline, writes the name, the
// length of the value, and the value. So no value can be mistaken for another field.
std::string format_journal_entry(std::span<const LogField> fields);

class JournalSender {
 public:
  // Opens a socket, and sends nothing yet. `path` may have at most 107 characters.
  explicit JournalSender(std::string_view path);
  JournalSender(const JournalSender&) = delete;
  JournalSender& operator=(const JournalSender&) = delete;
  ~JournalSender();

  // Sends an entry without blocking. Returns false if the journal cannot take it now. Any thread
  // may call this.
  bool send(std::string_view entry) const;

 private:
  sockaddr_un address_{};
  int descriptor_ = -1;
};

}  // namespace satrelay::ops
