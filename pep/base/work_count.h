// Counts the objects that an engine visited: frames of packets, packets that reports acknowledge or
// declare lost, streams, flows, timers, entries of lists. Unlike time, the count is the same in
// each run. So a simulation can require that no call visits many objects, however many there are.
#pragma once

#include <cstddef>
#include <cstdint>

namespace satrelay {

class WorkCount {
 public:
  void add(std::uint64_t objects = 1) { total_ += objects; }
  std::uint64_t total() const { return total_; }

 private:
  std::uint64_t total_ = 0;
};

}  // namespace satrelay
