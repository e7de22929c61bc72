// Who is logged in, and how often somebody may try. Knows no clock and no password.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "relay/satpanel/users.h"

namespace satrelay::panel {

struct Session {
  std::string user;
  Role role = Role::kViewer;
  std::string csrf;  // what each changing request must carry beside the cookie
};

// Any thread. `now` is of a steady clock.
class Sessions {
 public:
  using Instant = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::minutes kIdle{30};
  static constexpr std::chrono::hours kLongest{12};
  static constexpr std::size_t kMost = 256;

  struct Opened {
    std::string token;  // for the cookie
    Session session;
  };
  // The oldest gives way to one that is too many.
  Opened open(const User& user, Instant now);
  // nullopt: there is none, or it has run out.
  std::optional<Session> find(const std::string& token, Instant now);
  // The same, but that it does not count as use.
  bool is_open(const std::string& token, Instant now);
  void close(const std::string& token);
  // Of everybody, as `users` has changed: who is not in it, or has another role, is out.
  void keep(const Users& users);

 private:
  struct Entry {
    Session session;
    Instant opened, used;
  };
  bool has_run_out(const Entry& entry, Instant now) const {
    return now - entry.used > kIdle || now - entry.opened > kLongest;
  }
  std::mutex mutex_;
  std::map<std::string, Entry> entries_;  // by the hash of the token
};

// Failed logins by address, of IPv6 by its /64: after three each further one doubles the wait, from
// a second to a minute. Not by name: nobody shall be able to keep another one out. Any thread.
class LoginThrottle {
 public:
  using Instant = Sessions::Instant;
  static constexpr std::size_t kMost = 4096;  // addresses that are remembered

  // How long to wait before the next try; zero: it may be now, and counts as failed until
  // succeeded() is called, so that many at once are not many tries.
  std::chrono::seconds begin_try(const std::string& address, Instant now);
  void succeeded(const std::string& address);

 private:
  struct Failures {
    std::uint32_t count = 0;
    Instant latest;
  };
  static std::chrono::seconds wait_of(const Failures& failures);
  void forget(Instant now);

  std::mutex mutex_;
  std::map<std::string, Failures> failures_;
};

}  // namespace satrelay::panel
