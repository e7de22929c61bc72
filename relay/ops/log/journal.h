// Entries for systemd's journal, with fields of their own, as systemd documents its native protocol
// (systemd.io/JOURNAL_NATIVE_PROTOCOL): a datagram an entry, a line a field.
#pragma once

#include <sys/un.h>

#include <span>
#include <string>
#include <string_view>

#include "relay/ops/log/log_field.h"

namespace satrelay::ops {

inline constexpr std::string_view kJournalSocket = "/run/systemd/journal/socket";

// "NAME=value\n"; of a value with a line end in it the name, its length and the value itself, so
// that no value can pass for a field.
std::string format_journal_entry(std::span<const LogField> fields);

class JournalSender {
 public:
  // Opens a socket; nothing is sent yet. `path`: of at most 107 characters.
  explicit JournalSender(std::string_view path);
  JournalSender(const JournalSender&) = delete;
  JournalSender& operator=(const JournalSender&) = delete;
  ~JournalSender();

  // False if nobody takes it now: it does not wait. Any thread.
  bool send(std::string_view entry) const;

 private:
  sockaddr_un address_{};
  int descriptor_ = -1;
};

}  // namespace satrelay::ops
