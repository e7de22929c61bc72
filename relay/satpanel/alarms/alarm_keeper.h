// Shares the panel's alarm book among threads. The observer writes to the book. Other parts of the
// panel read the current alarms, or the notices of alarms that began, changed or ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "relay/satpanel/alarms/alarm_book.h"

namespace satrelay::panel {

// All functions may be called from any thread.
class AlarmKeeper {
 public:
  // The number of notices that are kept for readers that read only from time to time.
  static constexpr std::size_t kMostNotices = 200;

  // Both functions call the function of AlarmBook with the same name, and keep the new notices.
  void handle_event(const nlohmann::ordered_json& event);
  void handle_readings(const metrics::Readings& readings, std::uint64_t now_ms);

  // The current alarms; never null. The pointer stays the same until an alarm changes.
  std::shared_ptr<const std::vector<Alarm>> alarms() const;

  struct NoticePage {
    std::vector<AlarmNotice> notices;
    std::uint64_t next = 0;  // position for the next call of notices()
  };
  // Returns the notices from position `from` on. Leaves out notices that are no longer kept. The
  // first notice has position 1.
  NoticePage notices(std::uint64_t from) const;

 private:
  void keep(std::vector<AlarmNotice> notices);

  mutable std::mutex mutex_;  // guards the following members
  AlarmBook book_;
  std::shared_ptr<const std::vector<Alarm>> alarms_ = std::make_shared<std::vector<Alarm>>();
  std::deque<AlarmNotice> notices_;
  std::uint64_t first_position_ = 1;  // position of notices_.front()
};

}  // namespace satrelay::panel
