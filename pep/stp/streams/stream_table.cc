#include "pep/stp/streams/stream_table.h"

#include <algorithm>
#include <utility>

namespace satrelay::stp {

// There may be 100,000 streams, so a stream must be small. If only few streams need a member, or
// only while bytes are in flight, the member is allocated separately.
static_assert(sizeof(Stream) <= 248);

Stream* StreamTable::look_up(std::uint64_t id) const {
  const std::uint64_t hash = hash_of(id);
  const Part& part = parts_[part_of(hash)];
  if (part.used == 0) return nullptr;
  const std::uint32_t tag = tag_of(hash);
  for (std::size_t i = part.home(tag);; i = (i + 1) & part.mask) {
    const Entry& entry = part.entries[i];
    if (entry.index == kEmpty) return nullptr;
    if (entry.tag == tag && slots_[entry.index].id == id) return &slots_[entry.index];
  }
}

void StreamTable::add_held(BlocksHeld& held) const {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Stream& stream = slots_[i];
    held.to_peer += stream.send.blocks_held();
    held.from_peer += stream.receive.bytes().blocks_held();
    held.reserves += stream.reserves_held();
  }
}

Stream* StreamTable::insert(std::uint64_t id) {
  if (full()) return nullptr;
  if (free_.empty()) {
    Stream& made = slots_.emplace_back(*arena_);
    made.index = static_cast<std::uint32_t>(slots_.size() - 1);
    free_.push_back(made.index);
  }
  const std::uint64_t hash = hash_of(id);
  Part& part = parts_[part_of(hash)];
  make_room(part);
  Stream& stream = slots_[free_.back()];
  free_.pop_back();
  ++used_;
  ++part.used;
  stream.id = id;
  part.place({tag_of(hash), stream.index});
  return &stream;
}

void StreamTable::Part::place(Entry entry) {
  std::size_t i = home(entry.tag);
  while (entries[i].index != kEmpty) i = (i + 1) & mask;
  entries[i] = entry;
}

// Grows the table if needed, so that one more entry fits.
void StreamTable::make_room(Part& part) {
  constexpr std::size_t kInitialEntries = 8;
  if ((part.used + 1) * 2 <= part.entries.size()) return;
  std::vector<Entry> old(std::max(2 * part.entries.size(), kInitialEntries), Entry{0, kEmpty});
  old.swap(part.entries);
  part.mask = part.entries.size() - 1;
  for (const Entry& entry : old) {
    if (entry.index != kEmpty) part.place(entry);
  }
}

void StreamTable::erase(Stream& stream) {
  latest_ = nullptr;
  const std::uint64_t hash = hash_of(stream.id);
  Part& part = parts_[part_of(hash)];
  std::vector<Entry>& entries = part.entries;
  std::size_t hole = part.home(tag_of(hash));
  while (entries[hole].index != stream.index) hole = (hole + 1) & part.mask;
  // Backward shift deletion leaves no tombstones. So lookups stay short, even after very many
  // streams were added and removed.
  for (std::size_t i = (hole + 1) & part.mask; entries[i].index != kEmpty;
       i = (i + 1) & part.mask) {
    const std::size_t distance = (i - part.home(entries[i].tag)) & part.mask;
    if (((i - hole) & part.mask) <= distance) {
      entries[hole] = entries[i];
      hole = i;
    }
  }
  entries[hole].index = kEmpty;
  free_.push_back(stream.index);
  --used_;
  --part.used;
}

bool PeerIds::mark_used(std::uint64_t index) {
  if (index < next_) {
    const std::size_t run = unopened_.first_ending_after(index);
    if (run == unopened_.range_count()) return true;
    const Range ids = unopened_.ranges()[run];
    const bool splits = ids.begin < index && index + 1 < ids.end;
    if (splits && unopened_.range_count() >= kMaxRuns) return false;
    unopened_.erase(index, index + 1);
    return true;
  }
  if (index > next_) {
    if (unopened_.range_count() >= kMaxRuns) return false;
    unopened_.insert(next_, index);
  }
  next_ = index + 1;
  return true;
}

}  // namespace satrelay::stp
