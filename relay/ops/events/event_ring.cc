#include "relay/ops/events/event_ring.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace satrelay::ops {
namespace {

// Cuts a text, and replaces characters that are not printable ASCII. Parts of the texts come from
// hosts, peers and files, and must not control a terminal. DPDK leaves out characters that are not
// ASCII.
std::string printable(std::string_view text, std::size_t most) {
  constexpr std::string_view kCut = "...";
  std::string out(text.substr(0, most));
  for (char& c : out) {
    if (c < 0x20 || c > 0x7e) c = '?';
  }
  // Replace the last characters instead of appending, so that the text needs no more memory.
  if (text.size() > most) out.replace(most - kCut.size(), kCut.size(), kCut);
  return out;
}

}  // namespace

EventRing::Numbers EventRing::numbers() const {
  const std::lock_guard lock(mutex_);
  return {.boot_epoch = boot_epoch_, .oldest = latest_ + 1 - events_.size(), .latest = latest_};
}

std::vector<NumberedEvent> EventRing::from(std::uint64_t first, std::size_t count) const {
  const std::lock_guard lock(mutex_);
  const std::uint64_t oldest = latest_ + 1 - events_.size();
  first = std::max(first, oldest);
  if (first > latest_) return {};
  const auto begin = events_.begin() + static_cast<std::ptrdiff_t>(first - oldest);
  const auto left = static_cast<std::size_t>(events_.end() - begin);
  return {begin, begin + static_cast<std::ptrdiff_t>(std::min(count, left))};
}

std::uint64_t EventRing::add(NumberedEvent event) {
  event.event.subject = printable(event.event.subject, kMostName);
  event.event.detail = printable(event.event.detail, kMostEventText);
  event.event.before = printable(event.event.before, kMostEventText);
  event.event.after = printable(event.event.after, kMostEventText);
  if (event.event.fault) {
    Fault& fault = *event.event.fault;
    fault.cause = printable(fault.cause, kMostEventText);
    fault.cure = printable(fault.cure, kMostEventText);
  }
  event.event.caller.reset();  // not needed, since `user` already has the caller's name
  event.user = printable(event.user, kMostName);
  const std::lock_guard lock(mutex_);
  event.number = ++latest_;
  events_.push_back(std::move(event));
  if (events_.size() > kMostEvents) events_.pop_front();
  return latest_;
}

}  // namespace satrelay::ops
