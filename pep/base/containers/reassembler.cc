#include "pep/base/containers/reassembler.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "pep/base/check.h"

namespace satrelay {

std::size_t Reassembler::insert(std::uint64_t offset, ConstBytes bytes, std::uint64_t limit) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t window_end = limit > kMax - consumed() ? kMax : consumed() + limit;
  if (offset >= window_end) return 0;
  const std::uint64_t end = offset + std::min<std::uint64_t>(bytes.size(), window_end - offset);
  if (end <= in_order_) return 0;

  if (offset == in_order_ && out_of_order_.empty()) [[likely]] {
    const std::size_t n = store(offset, bytes.first(end - offset));
    in_order_ += n;
    return n;
  }
  return insert_gaps({std::max(offset, in_order_), end, limit}, offset, bytes);
}

// Stores the parts of `place` that are not stored yet. bytes[0] is the byte at offset `base`.
std::size_t Reassembler::insert_gaps(Place place, std::uint64_t base, ConstBytes bytes) {
  std::uint64_t position = place.begin;
  const std::uint64_t end = place.end;
  std::size_t total = 0;
  while (position < end) {
    const std::size_t index = out_of_order_.first_ending_after(position);
    std::uint64_t gap_end = end;
    if (index < out_of_order_.range_count()) {
      const Range next = out_of_order_.ranges()[index];
      if (next.begin <= position) {
        position = next.end;
        continue;
      }
      gap_end = std::min(end, next.begin);
    }
    if (!has_place(position, gap_end, place.limit)) break;
    const std::size_t wanted = gap_end - position;
    const std::size_t n = store(position, bytes.subspan(position - base, wanted));
    total += n;
    if (position == in_order_) {
      in_order_ += n;
      join_in_order();
    } else if (n > 0) {
      // If memory ran out, the piece is shorter and may no longer touch the piece after it.
      if (!has_place(position, position + n, place.limit)) return total - n;
      out_of_order_.insert(position, position + n);
    }
    if (n < wanted) break;
    position = std::max(gap_end, in_order_);  // join_in_order() may have moved past gap_end
  }
  return total;
}

// Adds the first piece beyond the gap to the in-order bytes, if the gap is closed now.
void Reassembler::join_in_order() {
  if (out_of_order_.empty()) return;
  const Range first = out_of_order_.ranges().front();
  if (first.begin != in_order_) return;
  in_order_ = first.end;
  out_of_order_.erase(first.begin, first.end);
}

std::size_t Reassembler::store(std::uint64_t offset, ConstBytes bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const MutableBytes room = blocks_.room_at(offset + done, bytes.size() - done);
    if (room.empty()) break;
    const std::size_t n = std::min(bytes.size() - done, room.size());
    std::memcpy(room.data(), bytes.data() + done, n);
    done += n;
  }
  return done;
}

std::uint64_t Reassembler::highest() const {
  return out_of_order_.empty() ? in_order_ : out_of_order_.ranges().back().end;
}

ConstBytes Reassembler::run_at(std::uint64_t offset) const {
  const ConstBytes run = blocks_.at(offset);
  return run.first(std::min<std::uint64_t>(run.size(), in_order_ - offset));
}

ConstBytes Reassembler::front(std::uint64_t skip) const {
  if (readable() <= skip) return {};
  return run_at(consumed() + skip);
}

std::size_t Reassembler::front(std::uint64_t most, std::span<ConstBytes> out) const {
  std::uint64_t left = std::min(most, readable());
  std::size_t count = 0;
  for (std::uint64_t at = consumed(); left > 0 && count < out.size(); ++count) {
    ConstBytes run = run_at(at);
    run = run.first(static_cast<std::size_t>(std::min<std::uint64_t>(run.size(), left)));
    out[count] = run;
    at += run.size();
    left -= run.size();
  }
  return count;
}

void Reassembler::copy_front(MutableBytes out, std::uint64_t skip) const {
  SATRELAY_CHECK(skip <= readable() && out.size() <= readable() - skip);
  std::size_t done = 0;
  while (done < out.size()) {
    const ConstBytes run = run_at(consumed() + skip + done);
    const std::size_t n = std::min(out.size() - done, run.size());
    std::memcpy(out.data() + done, run.data(), n);
    done += n;
  }
}

void Reassembler::consume(std::uint64_t count) {
  SATRELAY_CHECK(count <= readable());
  if (count == 0) return;
  if (count == stored()) {
    // A stream with no stored bytes holds no memory, not even its last partial block.
    blocks_.clear(consumed() + count);
  } else {
    blocks_.release_below(consumed() + count);
  }
}

bool Reassembler::is_stored() const {
  if (in_order_ < consumed() || !blocks_.covers({consumed(), in_order_})) return false;
  if (!out_of_order_.empty() && out_of_order_.ranges().front().begin <= in_order_) return false;
  return std::ranges::all_of(out_of_order_.ranges(),
                             [&](const Range& range) { return blocks_.covers(range); });
}

void Reassembler::reset() {
  blocks_.clear(0);
  out_of_order_.clear();
  in_order_ = 0;
}

}  // namespace satrelay
