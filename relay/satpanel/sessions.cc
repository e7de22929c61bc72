#include "relay/satpanel/sessions.h"

#include <arpa/inet.h>

#include <algorithm>
#include <utility>

namespace satrelay::panel {
namespace {

constexpr std::uint32_t kFree = 3;
constexpr std::chrono::seconds kLongestWait(60);
constexpr std::chrono::minutes kForgotten(15);

// What one client has of addresses.
std::string network_of(const std::string& address) {
  in6_addr parsed{};
  if (::inet_pton(AF_INET6, address.c_str(), &parsed) != 1) return address;
  return std::string(reinterpret_cast<const char*>(parsed.s6_addr), 8);
}

}  // namespace

Sessions::Opened Sessions::open(const User& user, Instant now) {
  Opened opened{random_token(), {user.name, user.role, random_token()}};
  const std::lock_guard lock(mutex_);
  std::erase_if(entries_, [&](const auto& each) { return has_run_out(each.second, now); });
  if (entries_.size() >= kMost) {
    entries_.erase(
        std::ranges::min_element(entries_, {}, [](const auto& each) { return each.second.used; }));
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

bool Sessions::is_open(const std::string& token, Instant now) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(hash_token(token));
  return found != entries_.end() && !has_run_out(found->second, now);
}

void Sessions::close(const std::string& token) {
  const std::lock_guard lock(mutex_);
  entries_.erase(hash_token(token));
}

void Sessions::keep(const Users& users) {
  const std::lock_guard lock(mutex_);
  std::erase_if(entries_, [&](const auto& each) {
    const User* user = users.find(each.second.session.user);
    return user == nullptr || user->role != each.second.session.role;
  });
}

std::chrono::seconds LoginThrottle::wait_of(const Failures& failures) {
  if (failures.count < kFree) return std::chrono::seconds(0);
  const std::uint32_t doublings = std::min<std::uint32_t>(failures.count - kFree, 6);
  return std::min(std::chrono::seconds(1LL << doublings), kLongestWait);
}

void LoginThrottle::forget(Instant now) {
  std::erase_if(failures_, [&](const auto& each) { return now - each.second.latest > kForgotten; });
  if (failures_.size() >= kMost) {
    failures_.erase(std::ranges::min_element(failures_, {},
                                             [](const auto& each) { return each.second.latest; }));
  }
}

std::chrono::seconds LoginThrottle::begin_try(const std::string& address, Instant now) {
  const std::lock_guard lock(mutex_);
  const std::string key = network_of(address);
  if (const auto found = failures_.find(key); found != failures_.end()) {
    const auto until = found->second.latest + wait_of(found->second);
    if (until > now) return std::chrono::ceil<std::chrono::seconds>(until - now);
  } else {
    forget(now);
  }
  Failures& failures = failures_[key];
  ++failures.count;
  failures.latest = now;
  return std::chrono::seconds(0);
}

void LoginThrottle::succeeded(const std::string& address) {
  const std::lock_guard lock(mutex_);
  failures_.erase(network_of(address));
}

}  // namespace satrelay::panel
