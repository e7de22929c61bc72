// What the processor counts between begin() and end() in user space, of this thread: instructions,
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
  // Of linux/perf_event.h.
  struct Event {
    std::uint32_t type = 0;
    std::uint64_t config = 0;
  };
  static constexpr std::size_t kMostEvents = 3;
  using Counts = std::array<std::uint64_t, kMostEvents>;

  CoreCounters();                                        // instructions, cycles, misses
  explicit CoreCounters(std::span<const Event> events);  // counted together, kMostEvents at most
  CoreCounters(const CoreCounters&) = delete;
  CoreCounters& operator=(const CoreCounters&) = delete;
  ~CoreCounters();

  // All of the events can be counted; if not, why, and everything else does nothing.
  bool counts() const { return why_not_.empty(); }
  const std::string& why_not() const { return why_not_; }

  void begin();
  // Adds what was counted since to the totals, if it is to be kept.
  void end(bool keep);
  void reset() { totals_ = {}; }
  const Counts& totals() const { return totals_; }  // in the order of the events

 private:
  void close_all();

  std::array<int, kMostEvents> files_{-1, -1, -1};  // the first leads the group
  std::size_t events_ = 0;
  std::string why_not_;
  Counts totals_{};
};

}  // namespace satrelay::bench
