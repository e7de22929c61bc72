// The sessions of users that have logged in, and limits on failed logins. Knows no clock and no
// password.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "relay/satpanel/users/users.h"

namespace satrelay::panel {

struct Session {
  std::string user;
  Role role = Role::kViewer;
  std::string csrf;  // token that each changing request carries beside the cookie
  std::string password_hash;

  // Whether the session is still valid for the user as it is now.
  bool is_of(const User& now) const {
    return now.name == user && now.role == role && now.password_hash == password_hash;
  }
};

// Any thread. `now` is a time of the steady clock.
class Sessions {
 public:
  using Instant = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::minutes kIdle{30};
  static constexpr std::chrono::hours kLongest{12};
  static constexpr std::size_t kMost = 256;
  static constexpr std::size_t kMostOfUser = 16;

  struct Opened {
    std::string token;  // for the cookie
    Session session;
  };
  // If the user has too many sessions, the user's least recently used one ends. If there are too
  // many in total, the least recently used one of all ends.
  Opened open(const User& user, Instant now);
  // nullopt if there is none, or it has expired.
  std::optional<Session> find(const std::string& token, Instant now);
  // The same, but does not count as use.
  std::optional<Session> look_at(const std::string& token, Instant now);
  void close(const std::string& token);
  // After `users` has changed: ends the sessions of users that are gone or different.
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

// Limits failed logins. After three failures with one name from one address, each further one
// doubles the wait, from a second to a minute. After thirty failures from one address, each further
// try waits a second. An IPv6 address stands for its /64. Tries from other addresses lock no user
// out. Any thread.
class LoginThrottle {
 public:
  using Instant = Sessions::Instant;
  static constexpr std::size_t kMost = 4096;  // addresses, and names from them, that are remembered

  // Returns the time until the next try. Zero: it may be now, and counts as failed until
  // succeeded() is called. So many tries at once are counted, too.
  std::chrono::seconds begin_try(const std::string& name, const std::string& address, Instant now);
  void succeeded(const std::string& name, const std::string& address);

 private:
  struct Failures {
    std::uint32_t count = 0;
    Instant latest;
  };
  struct Limit {
    std::uint32_t free = 0;     // tries without a wait
    std::uint32_t doubled = 0;  // how often a second is doubled, at most
  };
  static constexpr Limit kOfName{3, 6};
  static constexpr Limit kOfAddress{30, 0};
  std::chrono::seconds left(const std::string& key, const Limit& limit, Instant now) const;
  void count(const std::string& key, Instant now);

  std::mutex mutex_;
  std::map<std::string, Failures> failures_;  // by the network, or by the network and a name
};

}  // namespace satrelay::panel
