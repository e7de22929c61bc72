// Keeps the current alarms of a gateway, which it derives from the gateway's events and from the
// panel's readings. Uses neither clocks nor threads.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "relay/metrics/readings.h"

namespace satrelay::panel {

// An alarm is about a subject, such as "peer hub", and a matter, such as "heard" (whether packets
// from the peer arrive). There is at most one alarm for each such pair. If the matter becomes worse
// or better, a later event about the same pair replaces the alarm.
struct Alarm {
  std::uint32_t index = 0;  // not reused for another alarm while the panel runs
  std::string name = {};    // name of the event
  std::string severity = {};
  std::string subject = {};
  std::string text = {};
  std::string detail = {};
  std::string advice = {};
  std::uint64_t number = 0;    // number of the event; 0 means that a reading caused the alarm
  std::uint64_t since_ms = 0;  // time at which it began or last changed; ms since 1970, UTC
  std::uint64_t told_ms = 0;   // time at which it was last reported; ms since 1970, UTC
  std::string matter = {};     // such as "heard", or the event's name
};

// Returns the alarm that corresponds to the event.
Alarm alarm_of(const nlohmann::ordered_json& event);

// Reports that an alarm was raised, has changed, or is over.
struct AlarmNotice {
  bool is_over = false;
  // The current alarm. If it is over, its name, text and number are from the event that ended it.
  Alarm alarm;
};

class AlarmBook {
 public:
  // For some alarms there is no event that ends them. The gateway repeats such an alarm once a
  // minute. If the gateway has not repeated the alarm for this time, the alarm is over.
  static constexpr std::uint64_t kForgottenAfterMs = 180'000;
  // The longest time by which the events may lag behind the readings.
  static constexpr std::uint64_t kPatienceMs = 5'000;

  // Handles an event as the gateway reports it, with its boot epoch. Pass the events in the order
  // of their numbers.
  std::vector<AlarmNotice> handle_event(const nlohmann::ordered_json& event);
  // Handles the readings taken at `now_ms`. If the panel missed events, raises and ends alarms
  // about peers and ports. Also raises and ends the alarm about a gateway that does not answer.
  std::vector<AlarmNotice> handle_readings(const metrics::Readings& readings, std::uint64_t now_ms);

  // Sorted by index.
  std::vector<Alarm> alarms() const;

 private:
  using Key = std::pair<std::string, std::string>;  // (subject, matter)
  using Notices = std::vector<AlarmNotice>;

  void raise(const Key& key, Alarm alarm, Notices& notices);
  void end(const Key& key, Alarm by, Notices& notices);
  void handle_end_of_fault(const std::string& check, Alarm told, Notices& notices);
  void compare(const Key& key, Alarm found, bool is_wrong, std::uint64_t now_ms, Notices& notices);
  void look_at_gateway(const metrics::Readings& readings, std::uint64_t now_ms, Notices& notices);

  std::string boot_epoch_;
  std::uint32_t last_index_ = 0;
  bool has_looked_ = false;
  std::map<Key, Alarm> alarms_;
  std::map<Key, std::uint64_t> differs_since_ms_;
};

}  // namespace satrelay::panel
