#include "pep/base/range_set.h"

#include <algorithm>

namespace satrelay {

namespace {

// Of the free room, this fraction (one in ...) goes in front of the ranges. New ranges mostly come
// at the top, so a set that filled up there leaves less in front.
constexpr std::size_t kHalfInFront = 2;
constexpr std::size_t kQuarterInFront = 4;

}  // namespace

void RangeSet::make_room(std::size_t free_share_in_front) {
  constexpr std::size_t kMinSlots = 8;
  const std::size_t count = range_count();
  const std::size_t wanted = std::max(kMinSlots, 2 * (count + 1));
  moved_ += count;
  if (slots_.size() < wanted) {
    // Twice what is needed again, so that a growing set seldom comes here.
    std::vector<Range> larger(2 * wanted);
    const std::size_t head = (larger.size() - count) / free_share_in_front;
    std::copy(slots_.data() + head_, slots_.data() + tail_, larger.data() + head);
    slots_ = std::move(larger);
    head_ = head;
  } else {
    const std::size_t head = (slots_.size() - count) / free_share_in_front;
    Range* const from = slots_.data() + head_;
    Range* const to = slots_.data() + head;
    if (to < from) {
      std::copy(from, from + count, to);
    } else {
      std::copy_backward(from, from + count, to + count);
    }
    head_ = head;
  }
  tail_ = head_ + count;
}

void RangeSet::insert_at(std::size_t index, Range range) {
  if (index < range_count() / 2) {
    if (head_ == 0) make_room(kHalfInFront);
    std::copy(at(0), at(index), at(0) - 1);
    --head_;
    moved_ += index;
  } else {
    if (tail_ == slots_.size()) make_room(kQuarterInFront);
    Range* const end = slots_.data() + tail_;
    moved_ += range_count() - index;
    std::copy_backward(at(index), end, end + 1);
    ++tail_;
  }
  *at(index) = range;
}

void RangeSet::erase_at(std::size_t index, std::size_t count) {
  if (count == 0) return;
  const std::size_t behind = range_count() - index - count;
  moved_ += std::min(index, behind);
  if (index < behind) {
    std::copy_backward(at(0), at(index), at(index + count));
    head_ += count;
  } else {
    std::copy(at(index + count), at(index + count + behind), at(index));
    tail_ -= count;
  }
}

std::size_t RangeSet::first_ending_after(std::uint64_t value) const {
  const auto all = ranges();
  // Both ends first: that is where nearly all questions fall.
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
  // The first range that overlaps or touches: its end is at or after begin.
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
  total_ += added;
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
    total_ -= end - begin;
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
  total_ -= removed;
  return removed;
}

void RangeSet::clear() {
  head_ = 0;
  tail_ = 0;
  total_ = 0;
}

}  // namespace satrelay
