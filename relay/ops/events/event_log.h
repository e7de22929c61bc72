// Numbers events and writes each as a line of the log, and of a kind no more than an operator can
// read, nor so many that all others would be forgotten.
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
  // Of the lines of a kind.
  static constexpr EventLimit::Rate kLines{
      .burst = 10, .interval = Duration::seconds(30), .say_after = Duration::seconds(60)};
  // Of those that the ring keeps: all peers of a hub may be lost at once, and one name that comes
  // without end takes days to wash out the others.
  static constexpr EventLimit::Rate kKept{
      .burst = 1000, .interval = Duration::seconds(60), .say_after = Duration::seconds(60)};
  // Events that wait for write(); those beyond it are counted as left out.
  static constexpr std::size_t kMostWaiting = 2048;
  // Of a text of a line, in bytes: why a configuration was refused may be long.
  static constexpr std::size_t kMostDetail = 1000;

  struct Environment {
    std::function<void(config::LogLevel, const std::string& line, std::span<const LogField>)> log;
    std::function<std::uint64_t()> time_ms;                       // UTC, since 1970
    std::function<std::string(std::uint32_t user)> name_of_user;  // may take its time
  };
  // `ring` must outlive this.
  EventLog(EventRing& ring, Environment environment)
      : ring_(ring), environment_(std::move(environment)) {}

  // Any thread; never waits for a line to be written.
  void tell(Event event);
  // Numbers and writes what waits. One thread, now and then: what it writes to, and who knows the
  // names of users, may take their time.
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
