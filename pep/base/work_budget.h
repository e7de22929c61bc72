// Limits the work on octets that an engine does in one call: copying, compressing, decompressing,
// computing repairs. Octets are weighted by tables of what such work costs (below, and in
// pep/compress/codec_work.h). So unlike time, the work is the same in each run. Its unit is the
// nominal nanosecond: about a nanosecond of one core of the machine of docs/measurements.md.
//
// A call goes on until the budget is spent, so it exceeds the budget by one piece of work at most.
// The rest waits for the next call. Calls at one instant share a budget, so that it makes no
// difference whether frames come and go together or one by one. handle_timeout() renews the budget.
#pragma once

#include <cstdint>

namespace satrelay {

using Work = std::uint64_t;  // nominal nanoseconds

// Work on `octets` with a weight in picoseconds an octet.
constexpr Work work_of(std::uint64_t octets, std::uint64_t picoseconds) {
  return octets * picoseconds / 1000;
}
// Copying from and to memory that is in no near cache.
constexpr Work copying_work(std::uint64_t octets) { return work_of(octets, 250); }

class WorkBudget {
 public:
  static constexpr Work kOfACall = 250'000;

  // The next call begins. It has done `done` already.
  void renew(Work done = 0) { spent_ = done; }
  void spend(Work work) {
    spent_ += work;
    total_ += work;
  }
  bool is_spent() const { return spent_ >= kOfACall; }
  Work total() const { return total_; }  // since the engine began

 private:
  Work spent_ = 0;
  Work total_ = 0;
};

}  // namespace satrelay
