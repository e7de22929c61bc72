#include "pep/base/containers/timer_heap.h"

#include <algorithm>

#include "pep/base/check.h"

namespace satrelay {

namespace {

// The heap has half the depth of a binary heap, and siblings share a cache line.
constexpr std::size_t kArity = 4;

constexpr std::size_t parent_of(std::size_t index) { return (index - 1) / kArity; }
constexpr std::size_t first_child_of(std::size_t index) { return index * kArity + 1; }

}  // namespace

TimerHeap::TimerHeap(std::uint32_t slots) : position_(slots, kUnarmed) { heap_.reserve(slots); }

void TimerHeap::set(std::uint32_t slot, Instant deadline) {
  SATRELAY_CHECK(slot < position_.size());
  const std::uint32_t at = position_[slot];
  if (deadline.is_never()) {
    if (at == kUnarmed) return;
    position_[slot] = kUnarmed;
    const Entry last = heap_.back();
    heap_.pop_back();
    if (at < heap_.size()) settle(at, last);
    return;
  }
  const Entry entry{deadline, slot};
  if (at != kUnarmed) {
    if (heap_[at].deadline != deadline) settle(at, entry);
    return;
  }
  heap_.push_back(entry);
  sift_up(heap_.size() - 1, entry);
}

void TimerHeap::place(std::size_t index, Entry entry) {
  heap_[index] = entry;
  position_[entry.slot] = static_cast<std::uint32_t>(index);
}

// Puts `entry` into the free place at `index`, then moves it up or down to its position.
void TimerHeap::settle(std::size_t index, Entry entry) {
  if (index > 0 && entry.deadline < heap_[parent_of(index)].deadline) {
    sift_up(index, entry);
  } else {
    sift_down(index, entry);
  }
}

void TimerHeap::sift_up(std::size_t index, Entry entry) {
  while (index > 0) {
    const std::size_t parent = parent_of(index);
    if (heap_[parent].deadline <= entry.deadline) break;
    place(index, heap_[parent]);
    index = parent;
  }
  place(index, entry);
}

void TimerHeap::sift_down(std::size_t index, Entry entry) {
  for (;;) {
    const std::size_t begin = first_child_of(index);
    if (begin >= heap_.size()) break;
    const std::size_t end = std::min(begin + kArity, heap_.size());
    std::size_t least = begin;
    for (std::size_t child = begin + 1; child < end; ++child) {
      if (heap_[child].deadline < heap_[least].deadline) least = child;
    }
    if (entry.deadline <= heap_[least].deadline) break;
    place(index, heap_[least]);
    index = least;
  }
  place(index, entry);
}

}  // namespace satrelay
