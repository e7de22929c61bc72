// The alarms of a gateway now, from its events and from the readings of it. Knows no clock and no
// thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "relay/metrics/readings.h"

namespace satrelay::panel {

// An alarm is about a subject and a matter, like "peer hub" and "heard". There is one alarm for
// each such pair. Another event of the pair replaces it, as the matter becomes worse or better.
struct Alarm {
  std::uint32_t index = 0;  // never used again while the panel runs
  std::string name = {};    // name of the event
  std::string severity = {};
  std::string subject = {};
  std::string text = {};
  std::string detail = {};
  std::string advice = {};
  std::uint64_t number = 0;    // of the event; 0: found by reading
  std::uint64_t since_ms = 0;  // UTC, ms since 1970: when it began, or became worse or better
  std::uint64_t told_ms = 0;   // when it was last reported
  std::string matter = {};     // "heard" and the like, or the event's name
};

// The alarm that reports the same as the event.
Alarm alarm_of(const nlohmann::ordered_json& event);

// Reports that an alarm was raised, has changed, or is over.
struct AlarmNotice {
  bool is_over = false;
  Alarm alarm;  // as it is now; if over: name, text and number of the event that ended it
};

class AlarmBook {
 public:
  // Some alarms have no event that ends them. They are over if the gateway has not reported them
  // again for this time. It repeats them once a minute.
  static constexpr std::uint64_t kForgottenAfterMs = 180'000;
  // How long the events may lag behind the readings.
  static constexpr std::uint64_t kPatienceMs = 5'000;

  // Handles an event as the gateway reports it, with its boot epoch. Events must come in their
  // order.
  std::vector<AlarmNotice> handle_event(const nlohmann::ordered_json& event);
  // Handles the readings of `now_ms`. They show peers and ports in trouble if an event was missed,
  // alarms that are over, and whether the gateway answers at all.
  std::vector<AlarmNotice> handle_readings(const metrics::Readings& readings, std::uint64_t now_ms);

  // Sorted by index.
  std::vector<Alarm> alarms() const;

 private:
  using Key = std::pair<std::string, std::string>;  // subject, matter
  using Notices = std::vector<AlarmNotice>;

  void raise(const Key& key, Alarm alarm, Notices& notices);
  void end(const Key& key, Alarm by, Notices& notices);
  void compare(const Key& key, Alarm found, bool is_wrong, std::uint64_t now_ms, Notices& notices);
  void look_at_gateway(const metrics::Readings& readings, std::uint64_t now_ms, Notices& notices);

  std::uint64_t boot_epoch_ = 0;
  std::uint32_t last_index_ = 0;
  bool has_looked_ = false;
  std::map<Key, Alarm> alarms_;
  std::map<Key, std::uint64_t> differs_since_ms_;
};

}  // namespace satrelay::panel
