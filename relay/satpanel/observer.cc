#include "relay/satpanel/observer.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <limits>
#include <utility>

#include "relay/client/reply.h"
#include "relay/satpanel/wall_clock.h"

namespace satrelay::panel {
namespace {

constexpr std::chrono::seconds kEvery(1);
// The time between two readings while catch_up() waits.
constexpr std::chrono::milliseconds kBetweenLooks(30);
constexpr std::size_t kEventsAPage = 500;
constexpr std::size_t kEventsAChunk = 100;
constexpr std::uint64_t kBehindAll = std::numeric_limits<std::uint64_t>::max();

}  // namespace

Observer::Observer(GatewayLink& link, History& history, std::function<void()> news)
    : link_(link), history_(history), news_(std::move(news)), thread_([this] { run(); }) {}

Observer::~Observer() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Observer::run() {
  auto next = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  while (!is_stopping_) {
    is_look_wanted_ = false;
    const bool is_due = std::chrono::steady_clock::now() >= next;
    lock.unlock();
    try {
      look(is_due);
    } catch (const std::exception&) {
      // Out of memory, or a malformed answer. Keep the earlier readings, and continue with the next
      // readings.
    }
    // On a busy machine, readings may be skipped. The observer does not make up for them later.
    if (is_due) next = std::max(next + kEvery, std::chrono::steady_clock::now());
    lock.lock();
    ++looks_;
    changed_.notify_all();
    changed_.wait_until(lock, next, [&] { return is_stopping_ || is_look_wanted_; });
  }
}

void Observer::look(bool is_due) {
  const auto begin = std::chrono::steady_clock::now();
  auto readings = std::make_shared<metrics::Readings>(link_.read());
  if (is_due) history_.add(*readings, wall_clock_ms() / 1000);
  {
    const std::lock_guard lock(mutex_);
    latest_ = readings;
    seen_at_ =
        begin - std::chrono::milliseconds(ctl::number(readings->status, "age_ms").value_or(0));
  }
  if (readings->up) look_for_events();
  // Handle the readings after the events: an alarm from an event has more details than an alarm
  // from a reading.
  alarms_.handle_readings(*readings, wall_clock_ms());
}

void Observer::catch_up() {
  const auto called_at = std::chrono::steady_clock::now();
  const auto deadline = called_at + kEvery;
  std::unique_lock lock(mutex_);
  while (seen_at_ < called_at && !is_stopping_ && std::chrono::steady_clock::now() < deadline) {
    is_look_wanted_ = true;
    changed_.notify_all();
    const auto until = std::min(deadline, std::chrono::steady_clock::now() + kBetweenLooks);
    changed_.wait_until(lock, until, [&] { return is_stopping_ || seen_at_ >= called_at; });
  }
}

void Observer::look_for_events() {
  try {
    fetch_events(link_.query("/satrelay/event_numbers"));
  } catch (const std::exception&) {
    // The next regular reading fetches the new events.
  }
}

void Observer::fetch_events(const Json& numbers) {
  const std::string epoch = ctl::identifier(numbers, "boot_epoch");
  const std::uint64_t latest = ctl::number(numbers, "latest").value_or(0);
  if (epoch != boot_epoch_) {
    // When the panel starts, fetch no more events than the panel keeps. When the gateway has
    // restarted, fetch all its events.
    next_number_ = boot_epoch_.empty() && latest > kMostEvents ? latest - kMostEvents + 1 : 1;
    boot_epoch_ = epoch;
  }
  next_number_ = std::max(next_number_, ctl::number(numbers, "oldest").value_or(0));
  bool has_news = false;
  while (next_number_ <= latest) {
    const Json page = link_.query_page("/satrelay/events", next_number_, kEventsAPage);
    if (page.empty()) break;
    for (const Json& event : page) {
      next_number_ = std::max(next_number_, ctl::number(event, "number").value_or(0)) + 1;
      keep_event(event);
    }
    has_news = true;
  }
  if (has_news) news_();
}

void Observer::keep_event(Json event) {
  event["boot_epoch"] = boot_epoch_;
  alarms_.handle_event(event);
  const std::lock_guard lock(mutex_);
  events_.push_back(std::make_shared<const Json>(std::move(event)));
  if (events_.size() <= kMostEvents) return;
  events_.pop_front();
  ++first_position_;
}

std::shared_ptr<const metrics::Readings> Observer::latest() const {
  const std::lock_guard lock(mutex_);
  return latest_;
}

Observer::Chunk Observer::chunk(std::uint64_t begin, std::uint64_t end) const {
  const auto at = [&](std::uint64_t position) {
    return events_.begin() + static_cast<std::ptrdiff_t>(position - first_position_);
  };
  return {.events = {at(begin), at(end)}, .begin = begin, .oldest = first_position_};
}

Observer::Chunk Observer::chunk_from(std::uint64_t position, std::size_t most) const {
  const std::lock_guard lock(mutex_);
  const std::uint64_t end = first_position_ + events_.size();
  // A position beyond the end comes from an earlier run of the panel. After a restart, the panel
  // counts from 1 again.
  const std::uint64_t begin = std::clamp(position, first_position_, end);
  return chunk(begin, begin + std::min<std::uint64_t>(most, end - begin));
}

Observer::Chunk Observer::chunk_before(std::uint64_t position, std::size_t most) const {
  const std::lock_guard lock(mutex_);
  const std::uint64_t end = std::clamp(position, first_position_, first_position_ + events_.size());
  return chunk(end - std::min<std::uint64_t>(most, end - first_position_), end);
}

Observer::EventPage Observer::events_before(std::uint64_t position, std::size_t most,
                                            const IsWanted& is_wanted) const {
  Chunk part = chunk_before(position, kEventsAChunk);
  const std::uint64_t behind = part.begin + part.events.size();
  EventPage page{.first = behind, .next = behind, .oldest = part.oldest};
  while (page.events.size() < most && !part.events.empty()) {
    for (; !part.events.empty() && page.events.size() < most; part.events.pop_back()) {
      --page.first;
      if (is_wanted(*part.events.back())) page.events.push_back(*part.events.back());
    }
    if (page.events.size() < most) part = chunk_before(page.first, kEventsAChunk);
    page.oldest = part.oldest;
  }
  std::ranges::reverse(page.events);
  return page;
}

Observer::EventPage Observer::events(std::uint64_t from, std::size_t most,
                                     const IsWanted& is_wanted) const {
  if (from == 0) return events_before(kBehindAll, most, is_wanted);
  Chunk part = chunk_from(from, kEventsAChunk);
  EventPage page{.first = part.begin,
                 .next = part.begin,
                 .oldest = part.oldest,
                 .has_missed = from < part.oldest};
  while (page.events.size() < most && !part.events.empty()) {
    for (const KeptEvent& event : part.events) {
      if (page.events.size() == most) break;
      ++page.next;
      if (is_wanted(*event)) page.events.push_back(*event);
    }
    if (page.events.size() == most) break;
    part = chunk_from(page.next, kEventsAChunk);
    page.has_missed |= page.next < part.oldest;
    page.next = std::max(page.next, part.begin);
    page.oldest = part.oldest;
  }
  return page;
}

}  // namespace satrelay::panel
