// The sessions of users that have logged in, and limits on failed logins. The code reads no clock
// and checks no passwords.
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
  // The token that must accompany the cookie in each request that changes something.
  std::string csrf;
  std::string password_hash;

  // Whether the session is still valid. `now` is the current entry of the user: it must have the
  // same name, role and password as at the login.
  bool is_of(const User& now) const {
    return now.name == user && now.role == role && now.password_hash == password_hash;
  }
};

// All functions may be called from any thread. `now` is a time of the steady clock.
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
  // If the user has too many sessions, ends the least recently used session of this user. If there
  // are too many sessions in total, ends the least recently used of all.
  Opened open(const User& user, Instant now);
  // Returns nullopt if no session has this token, or if the session has expired.
  std::optional<Session> find(const std::string& token, Instant now);
  // Does the same as find(), but does not count as use of the session.
  std::optional<Session> look_at(const std::string& token, Instant now);
  void close(const std::string& token);
  // Ends the sessions of users that are no longer in `users`, or that have changed there.
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
  std::map<std::string, Entry> entries_;  // the key is the hash of the token
};

// Limits failed logins. After three failures with the same name from the same address, the client
// must wait a second, and each further failure doubles the wait, up to a minute. After thirty
// failures from the same address, each further try must wait a second. All addresses in an IPv6 /64
// count as one address. Tries from other addresses do not lock a user out. All functions may be
// called from any thread.
class LoginThrottle {
 public:
  using Instant = Sessions::Instant;
  static constexpr std::size_t kMost = 4096;  // largest number of entries in failures_

  // Returns how long the client must wait before its next try. Zero means that it may try now. The
  // try counts as failed until succeeded() is called, so that simultaneous tries are limited as
  // well.
  std::chrono::seconds begin_try(const std::string& name, const std::string& address, Instant now);
  void succeeded(const std::string& name, const std::string& address);

 private:
  struct Failures {
    std::uint32_t count = 0;
    Instant latest;
  };
  struct Limit {
    std::uint32_t free = 0;     // number of tries without a wait
    std::uint32_t doubled = 0;  // how many times the wait of one second is doubled at most
  };
  static constexpr Limit kOfName{3, 6};
  static constexpr Limit kOfAddress{30, 0};
  std::chrono::seconds left(const std::string& key, const Limit& limit, Instant now) const;
  void count(const std::string& key, Instant now);

  std::mutex mutex_;
  std::map<std::string, Failures> failures_;  // the key is the network, or the network and a name
};

}  // namespace satrelay::panel
