// What is wrong with a gateway now, from its events and from what is read of it. Knows no clock and
// no thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "relay/metrics/readings.h"

namespace satrelay::panel {

// A subject and what it is about it that is wrong: "peer hub" and "heard". It has one alarm at a
// time, which becomes worse or better; another event of it takes its place.
struct Alarm {
  std::uint32_t index = 0;  // never used again, as long as the panel runs
  std::string name = {};    // of the event
  std::string severity = {};
  std::string subject = {};
  std::string text = {};
  std::string detail = {};
  std::string advice = {};
  std::uint64_t number = 0;    // of the event; 0: found by reading
  std::uint64_t since_ms = 0;  // UTC, since 1970: when it began, worse or better
  std::uint64_t told_ms = 0;   // when it was told last
  std::string matter = {};     // what is wrong about the subject: "heard", or the event's name
};

// What an event says, as an alarm would say it.
Alarm alarm_of(const nlohmann::ordered_json& event);

// That one was raised, or became another, or is over.
struct AlarmNotice {
  bool is_over = false;
  Alarm alarm;  // as it is now; of one that is over: name, text and number of what has ended it
};

class AlarmBook {
 public:
  // Nothing tells the end of some alarms: such are over if they have not been told again for so
  // long. The gateway repeats them once a minute.
  static constexpr std::uint64_t kForgottenAfterMs = 180'000;
  // For so long the events may be behind what is read of the gateway.
  static constexpr std::uint64_t kPatienceMs = 5'000;

  // An event as the gateway tells it, with its boot epoch, in their order.
  std::vector<AlarmNotice> handle_event(const nlohmann::ordered_json& event);
  // What was read at `now_ms`: peers and ports whose events were not seen, alarms whose end was
  // not, and whether the gateway answers at all.
  std::vector<AlarmNotice> handle_readings(const metrics::Readings& readings, std::uint64_t now_ms);

  // In the order of their indices.
  std::vector<Alarm> alarms() const;

 private:
  using Key = std::pair<std::string, std::string>;  // subject, what is wrong about it
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
