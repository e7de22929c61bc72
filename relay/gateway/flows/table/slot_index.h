// Finds slots by a hash of something that they hold; several slots may have the same hash. The
// index consists of chains through arrays of a fixed size. So each operation takes a few steps,
// however many slots there are, and only the first insert() allocates. The hashes must be keyed, or
// be numbers that no host or peer can influence.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "relay/gateway/flows/table/flow_table.h"

namespace satrelay::gateway {

class SlotIndex {
 public:
  explicit SlotIndex(std::uint32_t slots) : slots_(slots) {}

  // Allocates the memory. Otherwise the first insert() allocates, which takes long if there are
  // many slots.
  void make_room() {
    links_.resize(slots_);
    heads_.assign(std::bit_ceil(slots_), kNoSlot);
  }
  bool contains(std::uint32_t slot) const { return !links_.empty() && links_[slot].is_in; }
  // `slot` must not be in the index.
  void insert(std::uint64_t hash, std::uint32_t slot) {
    if (links_.empty()) make_room();
    std::uint32_t& head = heads_[hash & (heads_.size() - 1)];
    links_[slot] = {.bucket = static_cast<std::uint32_t>(hash & (heads_.size() - 1)),
                    .next = head,
                    .is_in = true};
    if (head != kNoSlot) links_[head].previous = slot;
    head = slot;
  }
  // Has no effect if `slot` is not in the index.
  void erase(std::uint32_t slot) {
    if (!contains(slot)) return;
    const Link link = links_[slot];
    (link.previous != kNoSlot ? links_[link.previous].next : heads_[link.bucket]) = link.next;
    if (link.next != kNoSlot) links_[link.next].previous = link.previous;
    links_[slot] = {};
  }
  // To find the slots of a hash, call first(), and then next() for each slot, until kNoSlot is
  // returned. The results may include slots with other hashes.
  std::uint32_t first(std::uint64_t hash) const {
    return heads_.empty() ? kNoSlot : heads_[hash & (heads_.size() - 1)];
  }
  std::uint32_t next(std::uint32_t slot) const { return links_[slot].next; }
  // Whether first() and next() find this slot for this hash.
  bool finds(std::uint64_t hash, std::uint32_t slot) const {
    return contains(slot) && links_[slot].bucket == (hash & (heads_.size() - 1));
  }

 private:
  struct Link {
    std::uint32_t bucket = 0;
    std::uint32_t previous = kNoSlot;
    std::uint32_t next = kNoSlot;
    bool is_in = false;
  };
  std::uint32_t slots_;
  std::vector<Link> links_;           // by slot
  std::vector<std::uint32_t> heads_;  // by hash
};

}  // namespace satrelay::gateway
