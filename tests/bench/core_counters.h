// Counts of the processor in user space between begin() and end(), for this thread: instructions,
// cycles, misses of the last-level cache. Virtual machines often have no such counters.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace satrelay::bench {

class CoreCounters {
 public:
  // Fields of linux/perf_event.h.
  struct Event {
    std::uint32_t type = 0;
    std::uint64_t config = 0;
  };
  static constexpr std::size_t kMostEvents = 3;
  using Counts = std::array<std::uint64_t, kMostEvents>;

  CoreCounters();                                        // Instructions, cycles, misses.
  explicit CoreCounters(std::span<const Event> events);  // Counted together, kMostEvents at most.
  CoreCounters(const CoreCounters&) = delete;
  CoreCounters& operator=(const CoreCounters&) = delete;
  ~CoreCounters();

  // True if all events can be counted. If not, why_not() says why, and the other functions do
  // nothing.
  bool counts() const { return why_not_.empty(); }
  const std::string& why_not() const { return why_not_; }

  void begin();
  // Adds the counts since begin() to the totals, if `keep` is true.
  void end(bool keep);
  void reset() { totals_ = {}; }
  const Counts& totals() const { return totals_; }  // In the order of the events.

 private:
  void close_all();

  std::array<int, kMostEvents> files_{-1, -1, -1};  // The first is the leader of the group.
  std::size_t events_ = 0;
  std::string why_not_;
  Counts totals_{};
};

}  // namespace satrelay::bench
