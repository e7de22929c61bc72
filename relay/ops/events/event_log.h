// Numbers events, and writes each event as a line of the log. Limits the lines about one kind of
// event to as many as an operator can read. Limits the events of one kind in the ring, so that they
// do not displace all others.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "config/model/schema.h"
#include "pep/base/time.h"
#include "relay/ops/events/event.h"
#include "relay/ops/events/event_limit.h"
#include "relay/ops/events/event_ring.h"
#include "relay/ops/log/log_field.h"

namespace satrelay::ops {

class EventLog {
 public:
  // The limit of log lines about one kind of event.
  static constexpr EventLimit::Rate kLines{
      .burst = 10, .interval = Duration::seconds(30), .say_after = Duration::seconds(60)};
  // The limit of events of one kind in the ring. The burst is large, since all peers of a hub may
  // be lost at once. After the burst, an event that repeats endlessly needs days to displace the
  // others.
  static constexpr EventLimit::Rate kKept{
      .burst = 1000, .interval = Duration::seconds(60), .say_after = Duration::seconds(60)};
  // The largest number of events that wait for write(). Further events are counted as left out.
  static constexpr std::size_t kMostWaiting = 2048;
  // The largest length of an event's text in a log line, in bytes. The texts can be long: one of
  // them is the reason why a configuration was refused.
  static constexpr std::size_t kMostDetail = 1000;

  struct Environment {
    std::function<void(config::LogLevel, const std::string& line, std::span<const LogField>)> log;
    std::function<std::uint64_t()> time_ms;  // returns the time in milliseconds since 1970, UTC
    // Returns the name of a user; may be slow.
    std::function<std::string(std::uint32_t user)> name_of_user;
  };
  // `ring` must outlive this object.
  EventLog(EventRing& ring, Environment environment)
      : ring_(ring), environment_(std::move(environment)) {}

  // Adds an event, without waiting until its line is written. Any thread may call this.
  void tell(Event event);
  // Numbers and writes the events that wait. One thread calls this regularly. That thread must not
  // be a worker, since the log and the look-up of user names may be slow.
  void write(Instant now);

 private:
  struct Waiting {
    std::uint64_t time_ms = 0;
    Event event;
  };
  void write(Waiting waiting, Instant now);
  void write_line(const NumberedEvent& told, Instant now);
  void keep_left_out(EventKind kind);
  void write_left_out(EventKind kind);
  NumberedEvent named(Waiting waiting) const;

  EventRing& ring_;
  Environment environment_;
  std::mutex mutex_;  // guards waiting_ and overflow_
  std::vector<Waiting> waiting_;
  std::array<std::uint64_t, kEventKinds> overflow_{};
  EventLimit lines_{kLines};
  EventLimit kept_{kKept};
};

}  // namespace satrelay::ops
