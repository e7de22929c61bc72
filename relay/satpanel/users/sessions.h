// Who is logged in, and how often somebody may try. Knows no clock and no password.
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
  std::string csrf;  // what each changing request must carry beside the cookie
  std::string password_hash;

  // Whether that user, as it is now, may go on with it.
  bool is_of(const User& now) const {
    return now.name == user && now.role == role && now.password_hash == password_hash;
  }
};

// Any thread. `now` is of a steady clock.
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
  // The oldest gives way to one that is too many, of the same user first.
  Opened open(const User& user, Instant now);
  // nullopt: there is none, or it has run out.
  std::optional<Session> find(const std::string& token, Instant now);
  // The same, but that it does not count as use.
  std::optional<Session> look_at(const std::string& token, Instant now);
  void close(const std::string& token);
  // As `users` has changed: who is not in it as before is out.
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

// Failed logins. Of a name from an address, after three each further one doubles the wait, from a
// second to a minute; of all names from it, after thirty each further one waits a second. An
// address of IPv6 stands for its /64. Nobody is kept out by tries from elsewhere. Any thread.
class LoginThrottle {
 public:
  using Instant = Sessions::Instant;
  static constexpr std::size_t kMost = 4096;  // addresses, and names of them, that are remembered

  // How long to wait before the next try; zero: it may be now, and counts as failed until
  // succeeded() is called, so that many at once are not many tries.
  std::chrono::seconds begin_try(const std::string& name, const std::string& address, Instant now);
  void succeeded(const std::string& name, const std::string& address);

 private:
  struct Failures {
    std::uint32_t count = 0;
    Instant latest;
  };
  struct Limit {
    std::uint32_t free = 0;     // tries without a wait
    std::uint32_t doubled = 0;  // how often a second is doubled at most
  };
  static constexpr Limit kOfName{3, 6};
  static constexpr Limit kOfAddress{30, 0};
  std::chrono::seconds left(const std::string& key, const Limit& limit, Instant now) const;
  void count(const std::string& key, Instant now);

  std::mutex mutex_;
  std::map<std::string, Failures> failures_;  // by the network, and a name behind it
};

}  // namespace satrelay::panel
