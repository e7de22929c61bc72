// Limits how much work on octets an engine does in one call: copying, compressing, decompressing,
// computing repairs. The work is computed from the number of octets and tables of nominal costs
// (below, and in pep/compress/codec_work.h). So unlike measured time, the work is the same in each
// run. Its unit is the nominal nanosecond: about a nanosecond of one core of the machine in
// docs/measurements.md.
//
// A call stops once the budget is spent, so it exceeds the budget by at most one piece of work. The
// remaining work waits for the next call. Calls at the same instant share a budget, so the result
// is the same whether frames are passed together or one by one. handle_timeout() renews the budget.
#pragma once

#include <cstdint>

namespace satrelay {

using Work = std::uint64_t;  // nominal nanoseconds

// Work on `octets` octets that cost `picoseconds` each.
constexpr Work work_of(std::uint64_t octets, std::uint64_t picoseconds) {
  return octets * picoseconds / 1000;
}
// Work of copying memory that is not in a cache near the core.
constexpr Work copying_work(std::uint64_t octets) { return work_of(octets, 250); }

class WorkBudget {
 public:
  static constexpr Work kOfACall = 250'000;

  // Begins a new budget. The new call has already done the work `done`.
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
