// Received repairs that wait for the next call. If many packets of a long window are missing, a
// repair takes up to half a millisecond, and many repairs may arrive at once.
#pragma once

#include <cstddef>
#include <vector>

#include "pep/base/bytes.h"
#include "pep/stp/wire/repair_frame.h"

namespace satrelay::stp {

class RepairBacklog {
 public:
  static constexpr std::size_t kMost = 64;

  // `longest` is the size of the longest symbol. Each slot allocates memory once, when it is first
  // used, until release_memory().
  explicit RepairBacklog(std::size_t longest) : longest_(longest) {}
  bool empty() const { return count_ == 0; }
  // The backlog must not be empty.
  const RepairFrame& front() const { return entries_[first_].frame; }
  void pop() {
    first_ = (first_ + 1) % kMost;
    --count_;
  }
  // Stores the repair with a copy of its symbol. Returns false if no slot is free.
  [[nodiscard]] bool push(const RepairFrame& frame) {
    if (count_ == kMost || frame.symbol.size() > longest_) return false;
    if (entries_.empty()) entries_.resize(kMost);
    Entry& entry = entries_[(first_ + count_++) % kMost];
    entry.symbol.reserve(longest_);
    entry.symbol.assign(frame.symbol.begin(), frame.symbol.end());
    entry.frame = frame;
    entry.frame.symbol = entry.symbol;
    return true;
  }
  void clear() { count_ = 0; }
  // Frees the memory if the backlog is empty.
  void release_memory() {
    if (empty() && !entries_.empty()) std::vector<Entry>().swap(entries_);
  }

 private:
  struct Entry {
    RepairFrame frame;
    std::vector<std::byte> symbol;
  };
  std::size_t longest_;
  std::vector<Entry> entries_;  // empty, or of size kMost
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

}  // namespace satrelay::stp
