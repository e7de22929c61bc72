#include "relay/satpanel/alarms/alarm_keeper.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace satrelay::panel {

void AlarmKeeper::handle_event(const nlohmann::ordered_json& event) {
  const std::lock_guard lock(mutex_);
  keep(book_.handle_event(event));
}

void AlarmKeeper::handle_readings(const metrics::Readings& readings, std::uint64_t now_ms) {
  const std::lock_guard lock(mutex_);
  keep(book_.handle_readings(readings, now_ms));
}

void AlarmKeeper::keep(std::vector<AlarmNotice> notices) {
  if (notices.empty()) return;
  alarms_ = std::make_shared<const std::vector<Alarm>>(book_.alarms());
  std::ranges::move(notices, std::back_inserter(notices_));
  for (; notices_.size() > kMostNotices; notices_.pop_front()) ++first_position_;
}

std::shared_ptr<const std::vector<Alarm>> AlarmKeeper::alarms() const {
  const std::lock_guard lock(mutex_);
  return alarms_;
}

AlarmKeeper::NoticePage AlarmKeeper::notices(std::uint64_t from) const {
  const std::lock_guard lock(mutex_);
  const std::uint64_t end = first_position_ + notices_.size();
  const std::uint64_t begin = std::clamp(from, first_position_, end);
  return {.notices = {notices_.begin() + static_cast<std::ptrdiff_t>(begin - first_position_),
                      notices_.end()},
          .next = end};
}

}  // namespace satrelay::panel
