#include "relay/sim/network/link_meter.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace satrelay::sim {
namespace {

constexpr double kTolerance = 1.02;
constexpr double kBurst = 0.004;  // seconds

constexpr const char* kNames[] = {"malformed",     "not IP", "ARP", "fragments", "IP with options",
                                  "extended IPv6", "TCP",    "UDP", "ICMP",      "other IP"};

double octets_a_second(BitRate rate) { return static_cast<double>(rate.to_bits_per_second()) / 8; }

}  // namespace

double LinkMeter::allowed(const Limit& limit, Duration window) {
  return octets_a_second(limit.rate) * (kTolerance * window.to_seconds() + kBurst) +
         static_cast<double>(limit.beside.value());
}

void LinkMeter::append(std::deque<Start>& hull, const Start& start) {
  const auto turns_up = [&](const Start& a, const Start& b) {
    const double first = static_cast<double>(b.before - a.before) * (start.at - a.at).to_seconds();
    const double second = static_cast<double>(start.before - a.before) * (b.at - a.at).to_seconds();
    return first < second;
  };
  // If several windows start at the same instant, keep only the first. It contains the most octets,
  // since the fewest were sent before it.
  if (!hull.empty() && hull.back().at == start.at) return;
  while (hull.size() >= 2 && !turns_up(hull[hull.size() - 2], hull.back())) hull.pop_back();
  hull.push_back(start);
}

void LinkMeter::look(const Start& start, const Limit& limit, Instant end) {
  const Duration window = end - start.at;
  const double excess = static_cast<double>(sent_ - start.before) - allowed(limit, window);
  if (excess <= worst_.excess) return;
  worst_ = {.excess = excess, .window = window, .end = end, .limit = limit};
  for (std::size_t i = 0; i < worst_.of.size(); ++i) worst_.of[i] = sent_of_[i] - start.of[i];
}

// Moves each start that is at least kShortestWindow old from recent_ to its group.
void LinkMeter::age(Instant now) {
  while (!recent_.empty() && now - recent_.front().start.at >= kShortestWindow) {
    const Recent& oldest = recent_.front();
    look(oldest.start, oldest.limit, oldest.start.at + kShortestWindow);
    if (groups_.empty() || groups_.back().limit != oldest.limit) {
      groups_.push_back({oldest.limit, {}});
    }
    append(groups_.back().hull, oldest.start);
    recent_.pop_front();
  }
}

void LinkMeter::raise(const Limit& limit) {
  if (limit == limit_) return;
  limit_ = limit;
  const auto raised = [&](const Limit& old) {
    return Limit{std::max(old.rate, limit.rate), std::max(old.beside, limit.beside)};
  };
  for (Recent& recent : recent_) recent.limit = raised(recent.limit);
  std::vector<Group> groups;
  for (Group& group : groups_) {
    group.limit = raised(group.limit);
    if (groups.empty() || groups.back().limit != group.limit) {
      groups.push_back(std::move(group));
    } else {
      for (const Start& start : group.hull) append(groups.back().hull, start);
    }
  }
  groups_ = std::move(groups);
}

void LinkMeter::add(std::uint64_t octets, const Sort& sort, const Limit& limit, Instant now) {
  age(now);
  raise(limit);
  recent_.push_back({{now, sent_, sent_of_}, limit});
  sent_ += octets;
  sent_of_[static_cast<std::size_t>(sort.kind) + (sort.is_own ? kKinds : 0)] += octets;
  for (Group& group : groups_) {
    const double rate = kTolerance * octets_a_second(group.limit.rate);
    // The rate of a group never falls. So a start that is earlier than the start of the present
    // worst window can never again be the start of the worst window.
    const auto is_worse = [&](const Start& a, const Start& b) {
      return static_cast<double>(b.before - a.before) < rate * (b.at - a.at).to_seconds();
    };
    while (group.hull.size() >= 2 && is_worse(group.hull[0], group.hull[1])) group.hull.pop_front();
    look(group.hull.front(), group.limit, now);
  }
}

void LinkMeter::settle() {
  if (!recent_.empty()) age(recent_.back().start.at + kShortestWindow);
}

double LinkMeter::excess() {
  settle();
  return worst_.excess;
}

std::string LinkMeter::worst() {
  settle();
  if (worst_.excess <= 0) return {};
  std::string sorts;
  std::uint64_t sent = 0;
  for (std::size_t i = 0; i < worst_.of.size(); ++i) {
    if (worst_.of[i] == 0) continue;
    sent += worst_.of[i];
    sorts += fmt::format("{}{} {} {}", sorts.empty() ? "" : ", ", worst_.of[i],
                         i < kKinds ? "bridged" : "own", kNames[i % kKinds]);
  }
  return fmt::format(
      "{} octets in {:.3f} ms until {:.6f} s, {:.0f} are allowed at {:.3f} Mbit/s: {}", sent,
      worst_.window.to_seconds() * 1e3, (worst_.end - Instant()).to_seconds(),
      allowed(worst_.limit, worst_.window),
      static_cast<double>(worst_.limit.rate.to_bits_per_second()) / 1e6, sorts);
}

}  // namespace satrelay::sim
