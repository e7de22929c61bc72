#include "relay/satpanel/users/sessions.h"

#include <arpa/inet.h>

#include <algorithm>
#include <utility>

namespace satrelay::panel {
namespace {

constexpr std::chrono::seconds kLongestWait(60);
constexpr std::chrono::minutes kForgotten(15);

// Returns a key that is the same for all addresses that one client may have. For IPv4 it is the
// address, and for IPv6 the /64 prefix.
std::string network_of(const std::string& address) {
  in6_addr parsed{};
  if (::inet_pton(AF_INET6, address.c_str(), &parsed) != 1) return address;
  return std::string(reinterpret_cast<const char*>(parsed.s6_addr), 8);
}

}  // namespace

Sessions::Opened Sessions::open(const User& user, Instant now) {
  Opened opened{random_token(), {user.name, user.role, random_token(), user.password_hash}};
  const std::lock_guard lock(mutex_);
  std::erase_if(entries_, [&](const auto& each) { return has_run_out(each.second, now); });
  const auto oldest_of = [&](const auto& is_one) {
    auto oldest = entries_.end();
    for (auto at = entries_.begin(); at != entries_.end(); ++at) {
      if (!is_one(at->second)) continue;
      if (oldest == entries_.end() || at->second.used < oldest->second.used) oldest = at;
    }
    return oldest;
  };
  const auto is_own = [&](const Entry& entry) { return entry.session.user == user.name; };
  const auto own =
      std::ranges::count_if(entries_, [&](const auto& each) { return is_own(each.second); });
  if (static_cast<std::size_t>(own) >= kMostOfUser) {
    entries_.erase(oldest_of(is_own));
  } else if (entries_.size() >= kMost) {
    entries_.erase(oldest_of([](const Entry&) { return true; }));
  }
  entries_[hash_token(opened.token)] = {opened.session, now, now};
  return opened;
}

std::optional<Session> Sessions::find(const std::string& token, Instant now) {
  if (token.empty()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(hash_token(token));
  if (found == entries_.end()) return std::nullopt;
  if (has_run_out(found->second, now)) {
    entries_.erase(found);
    return std::nullopt;
  }
  found->second.used = now;
  return found->second.session;
}

std::optional<Session> Sessions::look_at(const std::string& token, Instant now) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(hash_token(token));
  if (found == entries_.end() || has_run_out(found->second, now)) return std::nullopt;
  return found->second.session;
}

void Sessions::close(const std::string& token) {
  const std::lock_guard lock(mutex_);
  entries_.erase(hash_token(token));
}

void Sessions::keep(const Users& users) {
  const std::lock_guard lock(mutex_);
  std::erase_if(entries_, [&](const auto& each) {
    const User* user = users.find(each.second.session.user);
    return user == nullptr || !each.second.session.is_of(*user);
  });
}

std::chrono::seconds LoginThrottle::left(const std::string& key, const Limit& limit,
                                         Instant now) const {
  const auto found = failures_.find(key);
  if (found == failures_.end() || found->second.count < limit.free) return {};
  const std::uint32_t doublings = std::min(found->second.count - limit.free, limit.doubled);
  const auto wait = std::min(std::chrono::seconds(1LL << doublings), kLongestWait);
  const auto until = found->second.latest + wait;
  return until > now ? std::chrono::ceil<std::chrono::seconds>(until - now)
                     : std::chrono::seconds(0);
}

void LoginThrottle::count(const std::string& key, Instant now) {
  if (!failures_.contains(key) && failures_.size() >= kMost) {
    std::erase_if(failures_,
                  [&](const auto& each) { return now - each.second.latest > kForgotten; });
    if (failures_.size() >= kMost) {
      failures_.erase(std::ranges::min_element(
          failures_, {}, [](const auto& each) { return each.second.latest; }));
    }
  }
  Failures& failures = failures_[key];
  if (now - failures.latest > kForgotten) failures.count = 0;
  ++failures.count;
  failures.latest = now;
}

std::chrono::seconds LoginThrottle::begin_try(const std::string& name, const std::string& address,
                                              Instant now) {
  const std::lock_guard lock(mutex_);
  const std::string network = network_of(address);
  const std::string of_name = network + ' ' + name.substr(0, 64);
  const auto wait = std::max(left(of_name, kOfName, now), left(network, kOfAddress, now));
  if (wait > std::chrono::seconds(0)) return wait;
  count(of_name, now);
  count(network, now);
  return std::chrono::seconds(0);
}

void LoginThrottle::succeeded(const std::string& name, const std::string& address) {
  const std::lock_guard lock(mutex_);
  const std::string network = network_of(address);
  failures_.erase(network + ' ' + name.substr(0, 64));
  // For the address, subtract only this try: earlier failures from the address may belong to other
  // names.
  if (const auto found = failures_.find(network); found != failures_.end()) --found->second.count;
}

}  // namespace satrelay::panel
