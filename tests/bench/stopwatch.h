// Time spent between start() and stop(), by the CPU's time stamp counter. It is cheap enough to
// wrap a batch of frames. A batch is left out if the scheduler ran another task on this core
// meanwhile, as that task's time would be measured.
#pragma once

#include <sys/resource.h>
#include <x86intrin.h>

#include <chrono>
#include <cstdint>

namespace satrelay::bench {

class Stopwatch {
 public:
  void start() {
    switches_ = context_switches();
    _mm_lfence();
    begin_ = __rdtsc();
  }
  // Returns whether the time was counted.
  bool stop() {
    _mm_lfence();
    const std::uint64_t end = __rdtsc();
    if (context_switches() != switches_) {
      ++discarded_;
      return false;
    }
    cycles_ += end - begin_;
    return true;
  }
  void reset() {
    cycles_ = 0;
    discarded_ = 0;
  }
  double nanoseconds() const { return static_cast<double>(cycles_) / cycles_per_nanosecond(); }
  std::uint64_t discarded() const { return discarded_; }

  // Measured once against the steady clock, over 50 ms.
  static double cycles_per_nanosecond() {
    static const double value = [] {
      using Clock = std::chrono::steady_clock;
      const auto from = Clock::now();
      const std::uint64_t begin = __rdtsc();
      while (Clock::now() - from < std::chrono::milliseconds(50)) {
      }
      const auto elapsed = Clock::now() - from;
      return static_cast<double>(__rdtsc() - begin) /
             static_cast<double>(
                 std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count());
    }();
    return value;
  }

 private:
  static long context_switches() {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw + usage.ru_nvcsw;
  }
  std::uint64_t begin_ = 0;
  std::uint64_t cycles_ = 0;
  std::uint64_t discarded_ = 0;
  long switches_ = 0;
};

}  // namespace satrelay::bench
