// Reads the gateway once a second on behalf of all clients, so that more clients do not cause more
// queries to the gateway. Keeps the latest readings, the latest events, the alarms, and the
// history.
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
  // The number of events that are kept, which is the same as in a gateway.
  static constexpr std::size_t kMostEvents = 10'000;

  // The observer's thread calls `news` whenever there are new events.
  Observer(GatewayLink& link, History& history, std::function<void()> news);
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  ~Observer();

  // The latest readings; never null.
  std::shared_ptr<const metrics::Readings> latest() const;

  // Reads the gateway, repeatedly if necessary, until the readings are newer than this call, but
  // for at most a second. So a caller that has changed the gateway's state finds the change in the
  // readings.
  void catch_up();

  // Events as the gateway reports them, with `boot_epoch` added, the oldest first. The observer
  // gives positions to all events since its own start: 1, 2, and so on. The positions continue when
  // the gateway restarts.
  struct EventPage {
    std::vector<Json> events = {};
    // The search covered positions [first, next). To get earlier events, pass `first` to
    // events_before(). To get later events, pass `next` to events().
    std::uint64_t first = 0;
    std::uint64_t next = 0;
    std::uint64_t oldest = 0;  // position of the oldest event that is kept
    // True if events at some of the requested positions are no longer kept.
    bool has_missed = false;
  };
  using IsWanted = std::function<bool(const Json& event)>;
  static bool all(const Json& /*event*/) { return true; }
  // Returns up to `most` wanted events from position `from` on. If `from` is 0, returns the latest
  // `most` wanted events.
  EventPage events(std::uint64_t from, std::size_t most, const IsWanted& is_wanted = all) const;
  // Returns the latest `most` wanted events before `position`.
  EventPage events_before(std::uint64_t position, std::size_t most,
                          const IsWanted& is_wanted = all) const;

  const AlarmKeeper& alarms() const { return alarms_; }

 private:
  void run();
  // Reads the gateway once. If `is_due`, this is the regular reading of the second, and the history
  // includes it.
  void look(bool is_due);
  void look_for_events();
  void fetch_events(const Json& numbers);
  void keep_event(Json event);

  // A few consecutive events. A search locks the mutex for one chunk at a time, so that it delays
  // other threads only briefly.
  using KeptEvent = std::shared_ptr<const Json>;
  struct Chunk {
    std::vector<KeptEvent> events;
    std::uint64_t begin = 0;   // position of the first event in `events`
    std::uint64_t oldest = 0;  // position of the oldest event that is kept
  };
  Chunk chunk_from(std::uint64_t position, std::size_t most) const;
  Chunk chunk_before(std::uint64_t position, std::size_t most) const;
  // The caller must hold the mutex.
  Chunk chunk(std::uint64_t begin, std::uint64_t end) const;

  GatewayLink& link_;
  History& history_;
  std::function<void()> news_;
  AlarmKeeper alarms_;

  mutable std::mutex mutex_;  // guards the following members
  std::condition_variable changed_;
  bool is_stopping_ = false;
  bool is_look_wanted_ = false;
  std::uint64_t looks_ = 0;  // number of completed readings
  // The latest readings show the state at this time or later.
  std::chrono::steady_clock::time_point seen_at_;
  std::shared_ptr<const metrics::Readings> latest_ = std::make_shared<metrics::Readings>();
  std::deque<KeptEvent> events_;
  std::uint64_t first_position_ = 1;  // position of events_.front()

  // Used by the observer's thread only.
  std::string boot_epoch_;
  std::uint64_t next_number_ = 1;
  std::thread thread_;
};

}  // namespace satrelay::panel
