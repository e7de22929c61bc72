// Writes events, each as a line of the log, and no more of a kind than an operator can read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "config/schema.h"
#include "pep/base/time.h"
#include "relay/ops/event.h"

namespace satrelay::ops {

class EventLog {
 public:
  // Of a kind so many lines at once, and then one an interval. What is left out is counted, and
  // said no later than kSayLeftOutAfter.
  static constexpr std::uint32_t kBurst = 10;
  static constexpr Duration kInterval = Duration::seconds(30);
  static constexpr Duration kSayLeftOutAfter = Duration::seconds(60);
  // Events that wait to be written; those beyond it are counted as left out.
  static constexpr std::size_t kMostWaiting = 256;

  using Sink = std::function<void(config::LogLevel, const std::string& line)>;
  explicit EventLog(Sink sink) : sink_(std::move(sink)) {}

  // Any thread; never waits for a line to be written.
  void tell(Event event);
  // Writes what waits. One thread, now and then: what it writes to may take its time.
  void write(Instant now);

 private:
  struct Kind {
    std::uint32_t lines = kBurst;  // that may be written now
    Instant more_at;               // when there is one more, if there are fewer than kBurst
    std::uint64_t left_out = 0;
    std::string last_subject;  // of those left out
    Instant say_at = Instant::never();
  };
  void write(const Event& event, Instant now);
  void leave_out(Kind& kind, const std::string& subject, Instant now);
  void say_left_out(EventKind kind_of_all);

  Sink sink_;
  std::mutex mutex_;  // guards the next two
  std::vector<Event> waiting_;
  std::array<std::uint64_t, kEventKinds> overflow_{};
  std::array<Kind, kEventKinds> kinds_;
};

}  // namespace satrelay::ops
