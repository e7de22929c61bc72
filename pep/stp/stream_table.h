// The streams of a session: slots that are made on first use and then kept, found by slot number
// or, through an open-addressing hash, by id. Also remembers which ids have been used: ids are
// monotonic, so one below the highest seen that is neither present nor still unopened is closed.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "pep/base/arena.h"
#include "pep/base/range_set.h"
#include "pep/stp/stream.h"

namespace satrelay::stp {

class StreamTable {
 public:
  StreamTable(Arena& arena, std::size_t max_slots);

  Stream* find(std::uint64_t id) const;
  Stream& at(std::uint32_t index) const { return *slots_[index]; }
  // A slot for `id`, which is not present; nullptr when all are in use.
  Stream* insert(std::uint64_t id);
  // Gives the slot back; the caller has taken the stream out of all lists.
  void erase(Stream& stream);

  std::size_t size() const { return used_; }
  bool full() const { return used_ == max_slots_; }
  std::size_t slot_count() const { return slots_.size(); }

 private:
  struct Entry {
    std::uint64_t id;
    std::uint32_t index;
  };
  static constexpr std::uint32_t kEmpty = 0xffff'ffffU;
  std::size_t home(std::uint64_t id) const {
    return static_cast<std::size_t>((id * 0x9E3779B97F4A7C15ULL) >> 32) & mask_;
  }
  void rehash(std::size_t capacity);
  void place(Entry entry);
  Arena& arena_;
  std::size_t max_slots_;
  std::size_t used_ = 0;
  std::vector<std::unique_ptr<Stream>> slots_;
  std::vector<std::uint32_t> free_;
  std::vector<Entry> entries_;
  std::size_t mask_ = 0;
};

// Which stream ids of the peer have been opened.
class PeerIds {
 public:
  // Many separate runs of unopened ids come from no working peer.
  static constexpr std::size_t kMaxRuns = 1U << 16;

  // `index`: the id without its parity bit.
  bool is_new(std::uint64_t index) const { return index >= next_ || unopened_.contains(index); }
  // False if the bookkeeping would outgrow its bound.
  bool mark_used(std::uint64_t index);
  void clear() {
    next_ = 0;
    unopened_.clear();
  }

 private:
  std::uint64_t next_ = 0;
  RangeSet unopened_;
};

}  // namespace satrelay::stp
