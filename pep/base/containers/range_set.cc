#include "pep/base/containers/range_set.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace satrelay {

namespace {

// make_room() puts a part of the free slots in front of the ranges: half of them if a new range
// needs a slot at the front, but only a quarter if it needs a slot at the end, because most new
// ranges are inserted at the end.
constexpr std::size_t kHalfInFront = 2;
constexpr std::size_t kQuarterInFront = 4;

// An image is rejected if it has a set with more slots than this.
constexpr std::size_t kMostRoom = std::size_t{1} << 24;

}  // namespace

RangeSet::StorePtr RangeSet::make_store(std::size_t room) {
  void* const memory = ::operator new(sizeof(Store) + room * sizeof(Range));
  auto* const store = new (memory) Store;
  store->room = room;
  std::uninitialized_default_construct_n(store->slots(), room);
  return StorePtr(store);
}

void RangeSet::make_room(std::size_t free_share_in_front) {
  constexpr std::size_t kMinSlots = 8;
  const std::size_t count = range_count();
  const std::size_t wanted = std::max(kMinSlots, 2 * (count + 1));
  if (!store_ || store_->room < wanted) {
    // Twice the wanted slots, so that a growing set seldom allocates.
    StorePtr larger = make_store(2 * wanted);
    const std::size_t head = (larger->room - count) / free_share_in_front;
    if (store_) {
      std::copy_n(at(0), count, larger->slots() + head);
      larger->total = store_->total;
      larger->moved = store_->moved;
    }
    larger->head = head;
    store_ = std::move(larger);
  } else {
    const std::size_t head = (store_->room - count) / free_share_in_front;
    Range* const from = at(0);
    Range* const to = store_->slots() + head;
    if (to < from) {
      std::copy(from, from + count, to);
    } else {
      std::copy_backward(from, from + count, to + count);
    }
    store_->head = head;
  }
  store_->moved += count;
  store_->tail = store_->head + count;
}

void RangeSet::insert_at(std::size_t index, Range range) {
  if (index < range_count() / 2) {
    if (store_->head == 0) make_room(kHalfInFront);
    std::copy(at(0), at(index), at(0) - 1);
    --store_->head;
    store_->moved += index;
  } else {
    if (!store_ || store_->tail == store_->room) make_room(kQuarterInFront);
    Range* const end = store_->slots() + store_->tail;
    store_->moved += range_count() - index;
    std::copy_backward(at(index), end, end + 1);
    ++store_->tail;
  }
  *at(index) = range;
}

void RangeSet::erase_at(std::size_t index, std::size_t count) {
  if (count == 0) return;
  const std::size_t behind = range_count() - index - count;
  store_->moved += std::min(index, behind);
  if (index < behind) {
    std::copy_backward(at(0), at(index), at(index + count));
    store_->head += count;
  } else {
    std::copy(at(index + count), at(index + count + behind), at(index));
    store_->tail -= count;
  }
}

std::size_t RangeSet::first_ending_after(std::uint64_t value) const {
  const auto all = ranges();
  // Checks both ends first, because nearly all lookups fall there.
  if (all.empty() || all.front().end > value) return 0;
  if (all.back().end <= value) return all.size();
  const auto found = std::upper_bound(all.begin(), all.end(), value,
                                      [](std::uint64_t v, const Range& r) { return v < r.end; });
  return static_cast<std::size_t>(found - all.begin());
}

bool RangeSet::contains(std::uint64_t value) const {
  const std::size_t index = first_ending_after(value);
  return index < range_count() && ranges()[index].begin <= value;
}

bool RangeSet::touches(std::uint64_t begin, std::uint64_t end) const {
  const std::size_t index = begin == 0 ? 0 : first_ending_after(begin - 1);
  return index < range_count() && ranges()[index].begin <= end;
}

RangeSet::Overlap RangeSet::overlap(std::uint64_t begin, std::uint64_t end) const {
  Overlap result;
  const auto all = ranges();
  for (std::size_t i = first_ending_after(begin); i < all.size() && all[i].begin < end; ++i) {
    const Range piece{std::max(all[i].begin, begin), std::min(all[i].end, end)};
    if (result.total == 0) result.first = piece;
    result.total += piece.size();
  }
  return result;
}

std::uint64_t RangeSet::insert(std::uint64_t begin, std::uint64_t end) {
  if (begin >= end) return 0;
  // The first range that overlaps or touches [begin, end): it ends at or after `begin`.
  const std::size_t index = begin == 0 ? 0 : first_ending_after(begin - 1);
  std::size_t after = index;
  std::uint64_t present = 0;
  Range merged{begin, end};
  for (; after < range_count() && at(after)->begin <= end; ++after) {
    const Range& r = *at(after);
    present += std::min(r.end, end) - std::max(r.begin, begin);
    merged.begin = std::min(merged.begin, r.begin);
    merged.end = std::max(merged.end, r.end);
  }
  if (after == index) {
    insert_at(index, merged);
  } else {
    *at(index) = merged;
    erase_at(index + 1, after - index - 1);
  }
  const std::uint64_t added = end - begin - present;
  store_->total += added;
  return added;
}

std::uint64_t RangeSet::erase(std::uint64_t begin, std::uint64_t end) {
  if (begin >= end) return 0;
  std::size_t index = first_ending_after(begin);
  if (index == range_count() || at(index)->begin >= end) return 0;

  const Range first = *at(index);
  if (first.begin < begin && first.end > end) {  // a hole inside one range
    at(index)->begin = end;
    insert_at(index, {first.begin, begin});
    store_->total -= end - begin;
    return end - begin;
  }
  std::uint64_t removed = 0;
  if (first.begin < begin) {
    removed += first.end - begin;
    at(index)->end = begin;
    ++index;
  }
  std::size_t after = index;
  for (; after < range_count() && at(after)->end <= end; ++after) {
    removed += at(after)->size();
  }
  if (after < range_count() && at(after)->begin < end) {
    removed += end - at(after)->begin;
    at(after)->begin = end;
  }
  erase_at(index, after - index);
  store_->total -= removed;
  return removed;
}

void RangeSet::clear() {
  if (!store_) return;
  store_->head = 0;
  store_->tail = 0;
  store_->total = 0;
}

void RangeSet::image(Image& image) {
  if (!image.same(store_ != nullptr)) return store_.reset();
  std::size_t head = 0, room = 0;
  std::uint64_t moved = 0;
  if (!image.reads()) {
    head = store_->head;
    room = store_->room;
    moved = store_->moved;
  }
  image(head, room, moved);
  const std::size_t count = image.count(range_count());
  if (image.reads()) {
    if (room > kMostRoom || head > room || count > room - head) image.fail();
    if (image.failed()) return store_.reset();
    store_ = make_store(room);
    store_->head = head;
    store_->tail = head + count;
    store_->moved = moved;
  }
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < count; ++i) {
    Range& range = *at(i);
    image(range);
    if (range.end <= range.begin || (i > 0 && range.begin <= before)) image.fail();
    before = range.end;
    if (image.reads()) store_->total += range.size();
  }
}

}  // namespace satrelay
