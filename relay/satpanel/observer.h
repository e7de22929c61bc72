// Looks at the gateway once a second, for everybody: however many clients ask, the gateway is asked
// no more often. Keeps what it saw last, the events since it began, the alarms, and the history.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "relay/metrics/readings.h"
#include "relay/satpanel/alarms/alarm_keeper.h"
#include "relay/satpanel/gateway_link.h"
#include "relay/satpanel/history.h"

namespace satrelay::panel {

class Observer {
 public:
  // As many as a gateway keeps.
  static constexpr std::size_t kMostEvents = 10'000;

  // `news` is called, in a thread of this, whenever there are events.
  Observer(GatewayLink& link, History& history, std::function<void()> news);
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  ~Observer();

  // What was seen last; never null.
  std::shared_ptr<const metrics::Readings> latest() const;

  // Looks at once, and again until what is seen is of after this call: for who has changed
  // something. Gives up after a second.
  void catch_up();

  // Events as the gateway tells them, with `boot_epoch` beside, oldest first. Each has a position,
  // which counts over restarts of the gateway; the first has 1.
  struct EventPage {
    std::vector<Json> events = {};
    std::uint64_t first = 0;  // what to ask for next of those before: all from it on were looked at
    std::uint64_t next = 0;   // the same of those behind
    std::uint64_t oldest = 0;  // the first that is kept
    bool has_missed = false;   // some between are kept no more
  };
  using IsWanted = std::function<bool(const Json& event)>;
  static bool all(const Json& /*event*/) { return true; }
  // Those that are wanted from position `from` on, at most `most`; 0: the latest `most`.
  EventPage events(std::uint64_t from, std::size_t most, const IsWanted& is_wanted = all) const;
  // The latest `most` of those before position `before`.
  EventPage events_before(std::uint64_t position, std::size_t most,
                          const IsWanted& is_wanted = all) const;

  const AlarmKeeper& alarms() const { return alarms_; }

 private:
  void run();
  // `is_due`: it is one of those of each second, of which the history is made.
  void look(bool is_due);
  void look_for_events();
  void fetch_events(const Json& numbers);
  void keep_event(Json event);

  // A few that follow one another: who looks through all holds up nobody for long.
  using KeptEvent = std::shared_ptr<const Json>;
  struct Chunk {
    std::vector<KeptEvent> events;
    std::uint64_t begin = 0;   // position of the first of them
    std::uint64_t oldest = 0;  // of all that are kept
  };
  Chunk chunk_from(std::uint64_t position, std::size_t most) const;
  Chunk chunk_before(std::uint64_t position, std::size_t most) const;
  // The mutex is held.
  Chunk chunk(std::uint64_t begin, std::uint64_t end) const;

  GatewayLink& link_;
  History& history_;
  std::function<void()> news_;
  AlarmKeeper alarms_;

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  bool is_stopping_ = false;
  bool is_look_wanted_ = false;
  std::uint64_t looks_ = 0;                        // that are over
  std::chrono::steady_clock::time_point seen_at_;  // the worker told at this time, or later
  std::shared_ptr<const metrics::Readings> latest_ = std::make_shared<metrics::Readings>();
  std::deque<KeptEvent> events_;
  std::uint64_t first_position_ = 1;  // of events_.front()

  // Of the observer's thread.
  std::uint64_t boot_epoch_ = 0;
  std::uint64_t next_number_ = 1;
  std::thread thread_;
};

}  // namespace satrelay::panel
