// The one book of alarms of a panel: its observer writes in it, and whoever asks reads what is
// wrong now, or is notified of what has begun and what is over.
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
  // For who was away.
  static constexpr std::size_t kMostNotices = 200;

  // As AlarmBook has them.
  void handle_event(const nlohmann::ordered_json& event);
  void handle_readings(const metrics::Readings& readings, std::uint64_t now_ms);

  // What is wrong now; never null, and the same one as long as nothing has changed.
  std::shared_ptr<const std::vector<Alarm>> alarms() const;

  struct NoticePage {
    std::vector<AlarmNotice> notices;
    std::uint64_t next = 0;  // what to ask for next
  };
  // Those from position `from` on that are kept; the first has 1.
  NoticePage notices(std::uint64_t from) const;

 private:
  void keep(std::vector<AlarmNotice> notices);

  mutable std::mutex mutex_;  // guards what follows
  AlarmBook book_;
  std::shared_ptr<const std::vector<Alarm>> alarms_ = std::make_shared<std::vector<Alarm>>();
  std::deque<AlarmNotice> notices_;
  std::uint64_t first_position_ = 1;  // of notices_.front()
};

}  // namespace satrelay::panel
