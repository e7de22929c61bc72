// The panel's one book of alarms. The observer writes to it. Others read the current alarms, or the
// notices of alarms that began or ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "relay/satpanel/alarms/alarm_book.h"

namespace satrelay::panel {

// Any thread.
class AlarmKeeper {
 public:
  // For readers that were away for a while.
  static constexpr std::size_t kMostNotices = 200;

  // As the functions of AlarmBook.
  void handle_event(const nlohmann::ordered_json& event);
  void handle_readings(const metrics::Readings& readings, std::uint64_t now_ms);

  // The current alarms; never null. The pointer stays the same until an alarm changes.
  std::shared_ptr<const std::vector<Alarm>> alarms() const;

  struct NoticePage {
    std::vector<AlarmNotice> notices;
    std::uint64_t next = 0;  // position to ask for next
  };
  // The notices from position `from` on that are kept. The first position is 1.
  NoticePage notices(std::uint64_t from) const;

 private:
  void keep(std::vector<AlarmNotice> notices);

  mutable std::mutex mutex_;  // guards the following members
  AlarmBook book_;
  std::shared_ptr<const std::vector<Alarm>> alarms_ = std::make_shared<std::vector<Alarm>>();
  std::deque<AlarmNotice> notices_;
  std::uint64_t first_position_ = 1;  // of notices_.front()
};

}  // namespace satrelay::panel
