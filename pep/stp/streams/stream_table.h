// The streams of one association: slots that are made on first use and then kept, found by slot
// number or, through open-addressing hashes, by id. The ids are spread over many small hashes, each
// of which grows by itself, so that no insertion moves more than a small part of them.
//
// Beside the table, which ids either end has used: they are monotonic, so one below the highest
// seen that is neither present nor still unopened is closed.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "pep/base/arena.h"
#include "pep/base/containers/range_set.h"
#include "pep/base/containers/slab_list.h"
#include "pep/stp/streams/stream.h"

namespace satrelay::stp {

class StreamTable {
 public:
  // `secret`: so that no peer can choose ids that all fall into one place of a hash.
  StreamTable(Arena& arena, std::size_t max_slots, std::uint64_t secret)
      : arena_(&arena), max_slots_(max_slots), multiplier_(secret | 1U) {}

  // What is done to one stream asks for it many times.
  Stream* find(std::uint64_t id) const {
    if (latest_ == nullptr || latest_->id != id) latest_ = look_up(id);
    return latest_;
  }
  Stream& at(std::uint32_t index) const { return slots_[index]; }
  // A slot for `id`, which is not present; nullptr when all are in use.
  Stream* insert(std::uint64_t id);
  // Gives the slot back; the caller has taken the stream out of all lists.
  void erase(Stream& stream);

  std::size_t size() const { return used_; }
  bool full() const { return used_ == max_slots_; }
  std::size_t slot_count() const { return slots_.size(); }
  // For a table that nothing is looked for in any more: the last slot is no more.
  void drop_last() { slots_.pop_back(); }

 private:
  // Of an id it has a part of the hash: the stream itself is looked at only if that is the same.
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
  // Multiply-shift (Dietzfelbinger et al., 1997): of the product the upper bits count.
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
  mutable Stream* latest_ = nullptr;  // that was found, and is present
};

// Which stream ids this end has used; they go on whoever the peer is.
class OwnIds {
 public:
  explicit OwnIds(bool even) : parity_(even ? 0 : 1) {}

  bool is_ours(std::uint64_t id) const { return (id & 1U) == parity_; }
  // Of one of ours.
  bool was_used(std::uint64_t id) const { return id < next(); }
  std::uint64_t next() const { return next_index_ * 2 + parity_; }
  void use_next() { ++next_index_; }

 private:
  std::uint64_t parity_;
  std::uint64_t next_index_ = 0;
};

// Which stream ids of the peer have been opened.
class PeerIds {
 public:
  // Many separate runs of unopened ids come from no working peer, and each id used moves half.
  static constexpr std::size_t kMaxRuns = 1U << 13;

  // `index`: the id without its parity bit.
  bool is_new(std::uint64_t index) const { return index >= next_ || unopened_.contains(index); }
  // False if the bookkeeping would outgrow its bound.
  bool mark_used(std::uint64_t index);

 private:
  std::uint64_t next_ = 0;
  RangeSet unopened_;
};

}  // namespace satrelay::stp
