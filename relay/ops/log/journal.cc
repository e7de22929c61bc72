#include "relay/ops/log/journal.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

namespace satrelay::ops {

std::string format_journal_entry(std::span<const LogField> fields) {
  std::string entry;
  for (const LogField& field : fields) {
    entry += field.name;
    if (field.value.find('\n') == std::string::npos) {
      entry += '=';
    } else {
      entry += '\n';
      std::uint64_t size = field.value.size();
      for (int i = 0; i < 8; ++i, size >>= 8) entry += static_cast<char>(size & 0xff);
    }
    entry += field.value;
    entry += '\n';
  }
  return entry;
}

JournalSender::JournalSender(std::string_view path) {
  address_.sun_family = AF_UNIX;
  if (path.size() >= sizeof address_.sun_path) return;
  std::ranges::copy(path, address_.sun_path);
  descriptor_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}

JournalSender::~JournalSender() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

// The socket is not connected: a connected socket would be useless after a restart of the journal.
bool JournalSender::send(std::string_view entry) const {
  return ::sendto(descriptor_, entry.data(), entry.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                  reinterpret_cast<const sockaddr*>(&address_),
                  sizeof address_) == static_cast<ssize_t>(entry.size());
}

}  // namespace satrelay::ops
