// Looks at the gateway once a second, for everybody: however many clients ask, the gateway is asked
// no more often. Keeps what it saw last, the events since it began, the alarms, and the history.
#pragma once

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
#include "relay/satpanel/alarm_keeper.h"
#include "relay/satpanel/gateway_link.h"
#include "relay/satpanel/history.h"

namespace satrelay::panel {

class Observer {
 public:
  static constexpr std::size_t kMostEvents = 2'000;

  // `news` is called, in a thread of this, whenever there are events.
  Observer(GatewayLink& link, History& history, std::function<void()> news);
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  ~Observer();

  // What was seen last; never null.
  std::shared_ptr<const metrics::Readings> latest() const;

  // Events as the gateway tells them, with `boot_epoch` beside, oldest first.
  struct EventPage {
    std::vector<Json> events;
    std::uint64_t next = 0;   // what to ask for next: counts over restarts of the gateway
    bool has_missed = false;  // some between are kept no more
  };
  // From position `from` on, at most `most`; 0: the latest `most`.
  EventPage events(std::uint64_t from, std::size_t most) const;

  const AlarmKeeper& alarms() const { return alarms_; }

 private:
  void run();
  void look();
  void look_for_events();
  void fetch_events(const Json& numbers);
  void keep_event(Json event);

  GatewayLink& link_;
  History& history_;
  std::function<void()> news_;
  AlarmKeeper alarms_;

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  bool is_stopping_ = false;
  std::shared_ptr<const metrics::Readings> latest_ = std::make_shared<metrics::Readings>();
  std::deque<Json> events_;
  std::uint64_t first_position_ = 1;  // of events_.front()

  // Of the observer's thread.
  std::uint64_t boot_epoch_ = 0;
  std::uint64_t next_number_ = 1;
  std::thread thread_;
};

}  // namespace satrelay::panel
