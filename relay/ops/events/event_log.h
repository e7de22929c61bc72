// Numbers events, and writes each as a line of the log. Limits the lines of a kind to as many as an
// operator can read. Limits the kept events of a kind, so that they do not displace all others.
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
  // Limit of the lines of a kind.
  static constexpr EventLimit::Rate kLines{
      .burst = 10, .interval = Duration::seconds(30), .say_after = Duration::seconds(60)};
  // Limit of the events of a kind that the ring keeps. The burst is large, since all peers of a hub
  // may be lost at once. After it, an event that repeats without end takes days to displace the
  // others.
  static constexpr EventLimit::Rate kKept{
      .burst = 1000, .interval = Duration::seconds(60), .say_after = Duration::seconds(60)};
  // The largest number of events that wait for write(). Further events are counted as left out.
  static constexpr std::size_t kMostWaiting = 2048;
  // The largest length of an event's text in a line, in bytes. The reason why a configuration was
  // refused may be long.
  static constexpr std::size_t kMostDetail = 1000;

  struct Environment {
    std::function<void(config::LogLevel, const std::string& line, std::span<const LogField>)> log;
    std::function<std::uint64_t()> time_ms;                       // UTC, since 1970
    std::function<std::string(std::uint32_t user)> name_of_user;  // may be slow
  };
  // `ring` must outlive this object.
  EventLog(EventRing& ring, Environment environment)
      : ring_(ring), environment_(std::move(environment)) {}

  // Adds an event, without waiting until its line is written. Any thread.
  void tell(Event event);
  // Numbers and writes the events that wait. One thread calls this now and then. It must not be a
  // worker's, since the log and the look-up of user names may be slow.
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
  std::mutex mutex_;  // guards the next two
  std::vector<Waiting> waiting_;
  std::array<std::uint64_t, kEventKinds> overflow_{};
  EventLimit lines_{kLines};
  EventLimit kept_{kKept};
};

}  // namespace satrelay::ops
