// The streams of one association. A slot is created when it is first needed, and is kept
// afterwards. A stream is found by its slot number, or by its id in hash tables with open
// addressing. The ids are spread over many small tables that grow separately. So an insertion moves
// at most the ids of one small table.
//
// This file also records which ids either end has used. Each end uses its ids in ascending order.
// So an id below the highest one seen belongs to a closed stream, unless it is in the table, or its
// OPEN has not arrived yet.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "pep/base/arena.h"
#include "pep/base/containers/range_set.h"
#include "pep/base/containers/slab_list.h"
#include "pep/stp/streams/stream.h"
#include "pep/stp/types.h"

namespace satrelay::stp {

class StreamTable {
 public:
  // `secret` keeps a peer from choosing ids that all have the same hash.
  StreamTable(Arena& arena, std::size_t max_slots, std::uint64_t secret)
      : arena_(&arena), max_slots_(max_slots), multiplier_(secret | 1U) {}

  // Remembers the last result, since the same stream is often looked up many times.
  Stream* find(std::uint64_t id) const {
    if (latest_ == nullptr || latest_->id != id) latest_ = look_up(id);
    return latest_;
  }
  Stream& at(std::uint32_t index) const { return slots_[index]; }
  // Returns a slot for `id`, which must not be in the table. nullptr if all slots are in use.
  Stream* insert(std::uint64_t id);
  // Frees the slot. The caller has removed the stream from all lists.
  void erase(Stream& stream);

  std::size_t size() const { return used_; }
  bool full() const { return used_ == max_slots_; }
  std::size_t slot_count() const { return slots_.size(); }
  void add_held(BlocksHeld& held) const;
  // Destroys the last slot. Only allowed if find() is not called any more.
  void drop_last() { slots_.pop_back(); }

 private:
  // `tag` is a part of the id's hash. The stream itself is read only if the tag matches.
  struct Entry {
    std::uint32_t tag;
    std::uint32_t index;
  };
  static constexpr std::uint32_t kEmpty = 0xffff'ffffU;
  struct Part {
    std::vector<Entry> entries;
    std::size_t used = 0;
    std::size_t mask = 0;

    std::size_t home(std::uint32_t tag) const { return tag & mask; }
    void place(Entry entry);
  };
  static constexpr unsigned kPartBits = 6;
  // Multiply-shift hashing (Dietzfelbinger et al., 1997), which uses the upper bits of the product.
  std::uint64_t hash_of(std::uint64_t id) const { return id * multiplier_; }
  static std::size_t part_of(std::uint64_t hash) { return hash >> (64 - kPartBits); }
  static std::uint32_t tag_of(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32); }
  static void make_room(Part& part);
  Stream* look_up(std::uint64_t id) const;

  Arena* arena_;
  std::size_t max_slots_;
  std::uint64_t multiplier_;
  std::size_t used_ = 0;
  SlabList<Stream> slots_;
  std::vector<std::uint32_t> free_;
  std::array<Part, 1U << kPartBits> parts_;
  mutable Stream* latest_ = nullptr;  // the result of the last find(), while this stream exists
};

// The stream ids that this end has used. They are not reused for another boot epoch of the peer.
class OwnIds {
 public:
  explicit OwnIds(bool even) : parity_(even ? 0 : 1) {}

  bool is_ours(std::uint64_t id) const { return (id & 1U) == parity_; }
  // `id` must be one of our ids.
  bool was_used(std::uint64_t id) const { return id < next(); }
  std::uint64_t next() const { return next_index_ * 2 + parity_; }
  void use_next() { ++next_index_; }

 private:
  std::uint64_t parity_;
  std::uint64_t next_index_ = 0;
};

// The stream ids that the peer has opened.
class PeerIds {
 public:
  // Maximum number of separate runs of unopened ids below the highest id. A working peer does not
  // reach it. The limit bounds the time of mark_used(), which moves half of the runs in memory on
  // average.
  static constexpr std::size_t kMaxRuns = 1U << 13;

  // `index` is the id without its parity bit.
  bool is_new(std::uint64_t index) const { return index >= next_ || unopened_.contains(index); }
  // Returns false if there would be more than kMaxRuns runs.
  bool mark_used(std::uint64_t index);

 private:
  std::uint64_t next_ = 0;
  RangeSet unopened_;
};

}  // namespace satrelay::stp
